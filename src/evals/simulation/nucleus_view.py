"""Nuclei and their foci as one frame of a movie shows them, plane by plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.replication import NUCLEOLUS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evals.simulation.replication import Nucleus, Spots


@dataclass(frozen=True)
class View:
    """Even light and foci of one nucleus in a window of the field, in units of nucleoplasm.

    Attributes
    ----------
    place
        Slices of rows and columns.
    body
        Share of each voxel that is nucleoplasm, shape (Z, Y, X).
    """

    place: tuple[slice, slice]
    body: NDArray[np.float64]
    rows: NDArray[np.float64]
    columns: NDArray[np.float64]
    planes: NDArray[np.float64]

    def foci(
        self, nucleus: Nucleus, spots: Spots, frame: int, sigma_px: float, sigma_planes: float
    ) -> NDArray[np.float64]:
        """Return the light of foci as the microscope blurs it."""
        shining = spots.shining(frame)
        on = shining > 0
        if not on.any():
            return np.zeros_like(self.body)
        at = positions(nucleus, spots.place[on], frame)
        variance = spots.spread_px[on] ** 2 + sigma_px**2 + 1 / 12
        along = [
            np.exp(-((grid[None] - at[:, [k]]) ** 2) / (2 * width))
            for k, (grid, width) in enumerate(
                (
                    (self.planes, np.full((on.sum(), 1), sigma_planes**2)),
                    (self.rows, variance[:, None]),
                    (self.columns, variance[:, None]),
                )
            )
        ]
        # A focus keeps its light when the lens spreads it.
        peak = shining[on] * (spots.spread_px[on] ** 2 + 1.2) / variance
        weighted = (peak[:, None] * along[0]).T[:, :, None] * along[1][None]
        return np.asarray(np.swapaxes(weighted, 1, 2) @ along[2])


def positions(nucleus: Nucleus, place: NDArray[np.float64], frame: int) -> NDArray[np.float64]:
    """Return where points of the unit ball lie (z from the middle plane, y, x), shape (n, 3)."""
    cosine, sine = nucleus.turn[frame]
    root = np.sqrt(nucleus.elongation)
    along = place[:, 2] * nucleus.radius_px * root
    across = place[:, 1] * nucleus.radius_px / root
    y = nucleus.path[frame, 0] + along * sine + across * cosine
    x = nucleus.path[frame, 1] + along * cosine - across * sine
    return np.stack([place[:, 0] * nucleus.half_planes, y, x], axis=1)


def look(nucleus: Nucleus, frame: int, planes: int, field: tuple[int, int]) -> View | None:
    """Draw a nucleus' even light in the part of the field that it may fill.

    Parameters
    ----------
    nucleus
        The nucleus.
    frame
        The frame.
    planes
        Their number; the nucleus lies about the middle one.
    field
        Rows and columns.
    """
    reach = nucleus.radius_px * np.sqrt(nucleus.elongation) + 4
    low = np.maximum(np.floor(nucleus.path[frame] - reach).astype(int), 0)
    high = np.minimum(np.ceil(nucleus.path[frame] + reach).astype(int) + 1, field)
    if (high - low < 2).any():
        return None
    rows, columns = (np.arange(a, b, dtype=float) for a, b in zip(low, high, strict=True))
    dy, dx = (rows - nucleus.path[frame, 0])[:, None], (columns - nucleus.path[frame, 1])[None]
    cosine, sine = nucleus.turn[frame]
    root = np.sqrt(nucleus.elongation)
    along = (dx * cosine + dy * sine) / root / nucleus.radius_px
    across = (dy * cosine - dx * sine) * root / nucleus.radius_px
    height = np.arange(planes, dtype=np.float64) - np.float64((planes - 1) / 2)
    # A section halfway up an ellipsoid is smaller; light from its other half fills it up partly.
    level = np.sqrt(1 - np.minimum((height / (1.25 * nucleus.half_planes)) ** 2, 0.9))
    away = np.sqrt(along**2 + across**2)
    body = np.clip((level[:, None, None] - away) * nucleus.radius_px / 3 + 0.5, 0, 1)
    for v, u in nucleus.nucleoli.tolist():
        hole = np.sqrt((across - v) ** 2 + (along - u) ** 2)
        body *= 1 - 0.6 * np.clip((NUCLEOLUS - hole) * nucleus.radius_px / 3 + 0.5, 0, 1)
    place = (slice(int(low[0]), int(high[0])), slice(int(low[1]), int(high[1])))
    return View(place, body, rows, columns, height)
