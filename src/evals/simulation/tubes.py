"""Vessels as hollow tubes, cut by one plane after another.

A tube is the union of balls whose centres lie close together on its centre line. A plane cuts each
ball in a disc; only squares and comparisons decide what lies in it, so a cut is the same on every
processor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from evals.simulation.vasculature import Vessels

    Values = NDArray[np.float64]
    Indices = NDArray[np.int64]

# Marker on the inner side of a wall and dye that went through it.
LUMEN_STAIN = 0.25
WALL_UM = 0.9
_NARROWEST_UM = 0.5


@dataclass(frozen=True)
class Grid:
    """Rows and columns of a plane, and the width of a pixel; pixel 0 begins at 0 µm."""

    shape: tuple[int, int]
    pixel_um: float


class Tubes:
    """Vessels, sorted by depth, so that a plane finds those that it cuts."""

    def __init__(self, vessels: Vessels) -> None:
        order = np.argsort(vessels.place_um[:, 0], kind="stable")
        self._depth = vessels.place_um[order, 0]
        # The rank by stain: the brighter of two walls is the one that is drawn.
        self._rank = order
        self._place = vessels.place_um[:, 1:]
        self._outer = vessels.radius_um
        self._stain = vessels.stain.astype(np.float32)
        self._reach = float(vessels.radius_um.max(initial=0.0))

    def mask(self, z_um: float, grid: Grid) -> NDArray[np.bool_]:
        """Return which pixels' centres lie within a vessel, wall or lumen, at a depth."""
        _, place = self._cut(z_um, grid, self._outer)
        inside = np.zeros(grid.shape[0] * grid.shape[1], dtype=bool)
        inside[place] = True
        return inside.reshape(grid.shape)

    def light(self, z_um: float, grid: Grid) -> NDArray[np.float32]:
        """Return the stain at the pixels' centres at a depth: bright walls, dimmer lumens."""
        stain = np.zeros(grid.shape[0] * grid.shape[1], dtype=np.float32)
        owner, place = self._cut(z_um, grid, self._outer)
        stain[place] = self._stain[owner]
        inner = np.maximum(self._outer - WALL_UM, _NARROWEST_UM)
        owner, place = self._cut(z_um, grid, inner)
        stain[place] = np.float32(LUMEN_STAIN) * self._stain[owner]
        return stain.reshape(grid.shape)

    def _cut(self, z_um: float, grid: Grid, radius_um: Values) -> tuple[Indices, Indices]:
        """Return pairs of a point and a pixel (flat index) in its ball, points in their order."""
        low, high = np.searchsorted(self._depth, (z_um - self._reach, z_um + self._reach))
        near = np.sort(self._rank[low:high])
        off = self._near_depth(near, low, high) - z_um
        squared = radius_um[near] ** 2 - off**2
        near, squared = near[squared > 0], squared[squared > 0]
        parts = list(_discs(self._place[near], squared, grid))
        if not parts:
            nothing = np.zeros(0, np.int64)
            return nothing, nothing
        owner, place = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(owner, kind="stable")
        return near[owner[order]], place[order]

    def _near_depth(self, near: Indices, low: int, high: int) -> Values:
        """Return the depths of the points between two places of the sorted ones."""
        order = np.argsort(self._rank[low:high], kind="stable")
        assert len(order) == len(near)
        depths: Values = self._depth[low:high][order]
        return depths


def _discs(centre_um: Values, squared_um2: Values, grid: Grid) -> Iterator[tuple[Indices, Indices]]:
    """Yield the pixels whose centres lie in discs, those of like size together."""
    half = np.ceil(np.sqrt(squared_um2) / grid.pixel_um).astype(np.int64)
    corner = np.floor(centre_um / grid.pixel_um).astype(np.int64)
    for size in np.unique(half):
        members = np.flatnonzero(half == size)
        window = np.arange(-size, size + 1)
        axes = corner[members][..., None] + window
        off = (axes + 0.5) * grid.pixel_um - centre_um[members][..., None]
        square = off**2
        inside = square[:, 0, :, None] + square[:, 1, None, :] < squared_um2[members, None, None]
        there = (axes >= 0) & (axes < np.array(grid.shape)[None, :, None])
        inside &= there[:, 0, :, None] & there[:, 1, None, :]
        owner, row, column = np.nonzero(inside)
        yield members[owner], axes[owner, 0, row] * grid.shape[1] + axes[owner, 1, column]
