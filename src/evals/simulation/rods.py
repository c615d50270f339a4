"""Rod-shaped cells drawn into pixels: optical thickness and labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.quantise import quantise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evals.simulation.bacteria import Colony

_SAMPLES = 4
_FINE = 2.0**-12


@dataclass(frozen=True)
class Drawing:
    """Rods in pixels.

    Attributes
    ----------
    thickness
        (Y, X) mean thickness of cells over each pixel, in pixels.
    idents
        (Y, X) number of the cell that covers at least half of a pixel, 0 where none does.
    """

    thickness: NDArray[np.float64]
    idents: NDArray[np.int64]

    def crop(self, margin: int) -> Drawing:
        """Return the drawing without a margin on all four sides."""
        core = (slice(margin, -margin), slice(margin, -margin))
        return Drawing(self.thickness[core], self.idents[core])


def draw_rods(
    colony: Colony, shape: tuple[int, int], origin: tuple[float, float] = (0.0, 0.0)
) -> Drawing:
    """Draw a colony of spherocylinders, 4 x 4 samples a pixel.

    Parameters
    ----------
    colony
        The cells; positions in pixels, integers at pixel centres.
    shape
        Rows and columns of the field.
    origin
        Position (row, column) of the field's first pixel.

    Returns
    -------
    Drawing
        Where two cells overlap, the pixel belongs to the thicker one; thickness adds up.
    """
    pixels = _candidates(colony, shape, origin)
    thickness, covered = _sample(colony, pixels)
    total = np.bincount(pixels.flat, thickness, minlength=shape[0] * shape[1])
    idents = np.zeros(shape[0] * shape[1], np.int64)
    body = np.flatnonzero(2 * covered >= 1)
    body = body[np.argsort(thickness[body], kind="stable")]
    idents[pixels.flat[body]] = colony.ident[pixels.cell[body]]
    return Drawing(quantise(total, _FINE).reshape(shape), idents.reshape(shape))


@dataclass(frozen=True)
class _Pixels:
    """Pairs of a pixel and a cell that may cover it; places along and across that cell."""

    cell: NDArray[np.int64]
    flat: NDArray[np.int64]
    along: NDArray[np.float64]
    across: NDArray[np.float64]


def _sample(colony: Colony, pixels: _Pixels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean thickness of a cell over each pixel, and the share that it covers.

    Well inside a cell the thickness is smooth, and the value at the pixel's centre is its mean to
    within a hundredth; samples are spent on the rim.
    """
    half, radius = 0.5 * colony.length[pixels.cell], colony.radius[pixels.cell]
    beyond = np.maximum(np.abs(pixels.along) - half, 0)
    squared = radius * radius - pixels.across * pixels.across - beyond * beyond
    thickness = 2 * np.sqrt(np.maximum(squared, 0))
    covered = np.ones(len(squared))
    rim = np.flatnonzero(squared < 4 * radius)
    row_axis, column_axis = colony.heading[pixels.cell[rim]].T
    half, radius = half[rim], radius[rim]
    total, hits = np.zeros(len(rim)), np.zeros(len(rim))
    steps = (np.arange(_SAMPLES) + 0.5) / _SAMPLES - 0.5
    for down in steps:
        for right in steps:
            along = pixels.along[rim] + (down * row_axis + right * column_axis)
            across = pixels.across[rim] + (down * column_axis - right * row_axis)
            beyond = np.maximum(np.abs(along) - half, 0)
            squared = radius * radius - across * across - beyond * beyond
            hits += squared > 0
            total += np.sqrt(np.maximum(squared, 0))
    thickness[rim] = total * (2 / _SAMPLES**2)
    covered[rim] = hits / _SAMPLES**2
    return thickness, covered


def _candidates(colony: Colony, shape: tuple[int, int], origin: tuple[float, float]) -> _Pixels:
    """List the pixels near each cell as one flat table instead of one window a cell."""
    centre = colony.position - np.array(origin)
    reach = np.abs(colony.heading) * (colony.length * 0.5)[:, None] + colony.radius[:, None] + 1
    low = np.clip(np.floor(centre - reach), 0, shape).astype(np.int64)
    high = np.clip(np.ceil(centre + reach) + 1, 0, shape).astype(np.int64)
    size = np.maximum(high - low, 0)
    count = size[:, 0] * size[:, 1]
    cell = np.repeat(np.arange(len(colony)), count)
    order = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    rows, columns = np.divmod(order, np.maximum(size[:, 1], 1)[cell])
    rows, columns = rows + low[cell, 0], columns + low[cell, 1]
    down, right = rows - centre[cell, 0], columns - centre[cell, 1]
    row_axis, column_axis = colony.heading[cell].T
    along = down * row_axis + right * column_axis
    across = down * column_axis - right * row_axis
    # Half a pixel's diagonal beyond the wall, nothing of a pixel can be covered.
    reach_out = colony.radius[cell] + 0.75
    near = np.abs(across) < reach_out
    near &= np.abs(along) < 0.5 * colony.length[cell] + reach_out
    return _Pixels(cell[near], (rows * shape[1] + columns)[near], along[near], across[near])
