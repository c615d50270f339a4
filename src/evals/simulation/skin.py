"""The skin that covers a tissue: one layer of wide, flat cells with membranes of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.primordium import draw_wave, undulation
from evals.simulation.quantise import quantise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evals.simulation.primordium import Tissue

    Grid = NDArray[np.float32]

_FINE = 2.0**-12
_THICKNESS_UM = 2.2
_CELL_UM2 = 60.0
_PAIRS = 4_000_000  # places times cells that are compared at once


@dataclass(frozen=True)
class Skin:
    """A layer of flat cells between two sheets; arrays (Y, X), lengths in µm.

    Attributes
    ----------
    low
        Depth of the sheet that lies on the tissue.
    high
        Depth of the sheet that faces the water, smaller than `low`.
    border
        Squared distance to the nearest wall between two of its cells.
    """

    low: Grid
    high: Grid
    border: Grid


def grow_skin(tissue: Tissue, rng: np.random.Generator) -> Skin:
    """Drape a skin over a tissue, without touching it."""
    _, rows, columns = tissue.shape
    y = ((np.arange(rows) + 0.5) * tissue.voxel_um[1]).astype(np.float32)[None, :, None]
    x = ((np.arange(columns) + 0.5) * tissue.voxel_um[2]).astype(np.float32)[None, None, :]
    u = (x - np.float32(tissue.centre[2])) / np.float32(1.2 * tissue.half_um[2])
    v = (y - np.float32(tissue.centre[1])) / np.float32(1.3 * tissue.half_um[1])
    away = np.minimum(u * u * u * u + v * v, 1)
    top = tissue.centre[0] - tissue.half_um[0]
    low = np.float32(top - 0.45) + np.float32(0.25 * tissue.half_um[0]) * away
    level = np.zeros((1, 1, 1), np.float32)
    for wave in (draw_wave(rng, (0.1, 0.2), (8, 20)), draw_wave(rng, (0.1, 0.2), (8, 20))):
        low = low + undulation(wave, level, y, x)
    low = low[0].astype(np.float32)
    return Skin(low, low - np.float32(_THICKNESS_UM), _borders(tissue, rng, y[0], x[0]))


def _borders(tissue: Tissue, rng: np.random.Generator, y: Grid, x: Grid) -> Grid:
    """Squared distance to the walls of a Voronoi pattern of wide cells."""
    size = np.array(tissue.shape[1:]) * np.array(tissue.voxel_um[1:])
    count = max(3, round(float(size.prod()) / _CELL_UM2))
    seeds = quantise(rng.random((count, 2)) * (size + 6) - 3, _FINE).astype(np.float32)
    # In strips of rows, as every place is compared with every cell.
    strip = max(1, _PAIRS // (count * x.shape[1]))
    parts = [_gaps(seeds, y[at : at + strip], x) for at in range(0, len(y), strip)]
    return np.concatenate(parts)


def _gaps(seeds: Grid, y: Grid, x: Grid) -> Grid:
    """Squared distance from each place to the wall between the two nearest of some seeds."""
    squared = np.stack([(y - row) ** 2 + (x - column) ** 2 for row, column in seeds])
    first, second = np.argpartition(squared, (0, 1), axis=0)[:2]
    near, next_near = (
        np.take_along_axis(squared, which[None], axis=0)[0] for which in (first, second)
    )
    apart = seeds[first] - seeds[second]
    spread = apart[..., 0] * apart[..., 0] + apart[..., 1] * apart[..., 1]
    gap = next_near - near
    return np.asarray(gap * gap / (4 * spread), dtype=np.float32)
