"""The blocks of a reference mosaic, looked for in a submitted one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.errors import CapsuleFault, SubmissionFault
from scorers.graders.settings import setting, whole_setting
from scorers.metrics.placement import (
    block_starts,
    common_shift,
    has_structure,
    place,
    windows,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.contract import Job
    from scorers.files.mosaics import Mosaic

IN_PLACE, DISPLACED, NOT_FOUND = "in place", "displaced", "not found"
_MOST_BLOCKS = 32
_LEAST_LIKENESS = 0.5
# Fewer blocks that happen to share a shift say nothing about a mosaic's origin.
_LEAST_SHARED = 0.1
# A pixel, and what the measurement itself is uncertain by.
_NEAR = 1.0 + 0.1


@dataclass(frozen=True)
class Grid:
    """Where blocks are looked at: their first rows and columns, their side, and the range."""

    tops: NDArray[np.int64]
    lefts: NDArray[np.int64]
    block: int
    reach: int


@dataclass
class Plane:
    """One channel of one slice, block by block.

    Attributes
    ----------
    top, left
        First row and column of each block that is judged, shape (n,).
    shift
        Rows and columns in pixels by which it lies elsewhere, shape (n, 2).
    found
        Whether it was found within the range that was searched, shape (n,).
    likeness
        Normalised cross-correlation there, shape (n,).
    """

    channel: int
    z: int
    top: NDArray[np.int64]
    left: NDArray[np.int64]
    shift: NDArray[np.float64]
    found: NDArray[np.bool_]
    likeness: NDArray[np.float64]

    @property
    def distance(self) -> NDArray[np.float64]:
        """Length of the shift in pixels."""
        length: NDArray[np.float64] = np.hypot(self.shift[:, 0], self.shift[:, 1])
        return length

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether each block is in place."""
        near: NDArray[np.bool_] = self.found & (self.distance <= _NEAR)
        return near

    @property
    def share(self) -> float | None:
        """Share of blocks in place, None without any."""
        return float(self.right.mean()) if len(self.top) else None

    @property
    def kinds(self) -> NDArray[np.str_]:
        """What became of each block."""
        return np.where(self.right, IN_PLACE, np.where(self.found, DISPLACED, NOT_FOUND))


def grid_of(job: Job, height: int, width: int) -> Grid:
    """Return where to look for blocks in a mosaic of a size.

    They are a twelfth of its shorter side, from 32 to 128 pixels (`strict_block_px` in the rubric
    sets it), and at most 32 along each axis; the range is the rubric's tolerance, at most half a
    block.
    """
    side = min(height, width)
    usual = min(max(side // 12, min(32, side)), 128)
    block = min(whole_setting(job, "strict_block_px", usual, least=3), side)
    if block < 3:
        raise CapsuleFault(f"reference mosaic: expected at least 3 × 3 pixels, got {side} a side")
    reach = max(2, min(int(setting(job, "xy_tolerance_px", 20)), block // 2))
    return Grid(
        block_starts(height, block, _MOST_BLOCKS),
        block_starts(width, block, _MOST_BLOCKS),
        block,
        reach,
    )


def look_for(submitted: Mosaic | None, reference: Mosaic, grid: Grid) -> list[Plane]:
    """Look for the blocks of every channel and slice; without a submission none is found."""
    planes = []
    for z in range(reference.geometry.n_slices):
        for channel in range(reference.geometry.n_channels):
            try:
                known = reference.image(channel, z)
            except SubmissionFault as fault:
                raise CapsuleFault(f"evaluation/{fault}") from fault
            own = None if submitted is None else _image(submitted, channel, z)
            rows = [_row(own, known, int(top), grid) for top in grid.tops]
            # Blocks without structure are judged only where there are no others.
            judged = np.concatenate([row[0] for row in rows])
            varied = np.concatenate([row[1] for row in rows])
            chosen = judged if judged.any() else varied
            shift, found, likeness = (
                np.concatenate([row[index] for row in rows])[chosen] for index in (2, 3, 4)
            )
            top = np.repeat(grid.tops, len(grid.lefts))[chosen]
            left = np.tile(grid.lefts, len(grid.tops))[chosen]
            planes.append(Plane(channel, z, top, left, shift, found, likeness))
    return planes


def _image(submitted: Mosaic, channel: int, z: int) -> NDArray[Any] | None:
    """Return a submitted image, None where a page cannot be read."""
    try:
        return submitted.image(channel, z)
    except SubmissionFault:
        return None


def _row(
    own: NDArray[Any] | None, known: NDArray[Any], top: int, grid: Grid
) -> tuple[NDArray[Any], ...]:
    """Look for one row of blocks: which have structure, which vary, shift, found, likeness."""
    blocks = windows(known, top, grid.lefts, grid.block)
    structure = has_structure(blocks)
    varied = blocks.max(axis=(1, 2)) > blocks.min(axis=(1, 2))
    count = len(blocks)
    shift, found, likeness = np.zeros((count, 2)), np.zeros(count, bool), np.zeros(count)
    looked = varied if own is not None else np.zeros(count, bool)
    if looked.any():
        size = grid.block + 2 * grid.reach
        around = windows(own, top - grid.reach, grid.lefts[looked] - grid.reach, size)
        placed = place(blocks[looked], around)
        shift[looked] = placed.shift
        likeness[looked] = placed.likeness
        found[looked] = placed.inside & (placed.likeness >= _LEAST_LIKENESS)
    return structure, varied, shift, found, likeness


def take_off_origin(planes: list[Plane], grid: Grid) -> NDArray[np.float64]:
    """Subtract from all shifts the one that most blocks share, and return it."""
    least = max(1, round(_LEAST_SHARED * sum(len(plane.top) for plane in planes)))
    shifts = np.concatenate([plane.shift[plane.found] for plane in planes])
    origin = common_shift(shifts, grid.reach, least)
    for plane in planes:
        plane.shift = plane.shift - origin
    return origin
