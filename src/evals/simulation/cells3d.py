"""Geometry of an anisotropic epithelium: a migrating primordium of polarised cells in 3D.

Cells are the Voronoi regions of relaxed centres in a warped copy of space. The warp makes them tall
in the rear and flat at the front, draws their apices together into rosettes and bends their walls.
Everything is a closed formula of the position, so any slab of planes can be had alone.

Only sums, products, quotients and square roots act on arrays here. IEEE arithmetic rounds those
alike on every processor, so labels do not depend on the machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.primordium import envelope, warp
from evals.simulation.quantise import quantise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evals.simulation.primordium import Tissue

    Grid = NDArray[np.float32]

_FINE = 2.0**-12
_SAMPLES = 40_000
_FAR = np.float32(1e6)
# Margin in µm round the sampled extent of a cell within which its distance is evaluated.
_REACH_UM = 1.0


@dataclass(frozen=True)
class Cells:
    """Cells of a tissue: label k is row k - 1 of each table.

    Attributes
    ----------
    tissue
        Where they live.
    seeds
        (N, 3) centres (z, y, x) in warped space, µm.
    boxes
        (N, 2, 3) lowest and highest corner in real space, µm, of where a cell is first or second.
    """

    tissue: Tissue
    seeds: NDArray[np.float64]
    boxes: NDArray[np.float64]


@dataclass(frozen=True)
class Slab:
    """What lies at each voxel of some planes; all arrays (Z, Y, X).

    Attributes
    ----------
    first
        Label of the nearest cell, inside the tissue or not.
    second
        Label of the next nearest cell.
    gap
        Difference of the two squared distances, 0 on the wall between them, µm².
    warped
        Warped position (z, y, x), µm, each array with one voxel more at every side.
    depth
        Signed distance to the tissue's surface, positive inside, µm.
    slope_z
        Share of z in the squared direction of `depth`.
    """

    first: NDArray[np.int16]
    second: NDArray[np.int16]
    gap: Grid
    warped: tuple[Grid, Grid, Grid]
    depth: Grid
    slope_z: Grid


def place_cells(
    tissue: Tissue, rng: np.random.Generator, *, volume_um3: float, relaxations: int = 5
) -> Cells:
    """Fill a tissue with cells of about a given volume.

    Parameters
    ----------
    tissue
        Where they live.
    rng
        Random stream of the geometry.
    volume_um3
        Mean volume of a cell.
    relaxations
        Steps of Lloyd's relaxation; few leave the variety of sizes of a living tissue.
    """
    from scipy.spatial import cKDTree

    size = np.array(tissue.shape) * np.array(tissue.voxel_um)
    real = quantise(rng.random((_SAMPLES, 3)) * size, _FINE)
    axes = [column[:, None].astype(np.float32) for column in real.T]
    flat = [np.asarray(p)[:, 0] for p in warp(tissue, *axes)]
    points = quantise(np.stack(flat, axis=1), _FINE)
    depth = envelope(tissue, *axes)[0][:, 0]
    inside = points[depth > 0]
    count = max(2, round(len(inside) / _SAMPLES * float(size.prod()) / volume_um3))
    seeds = inside[rng.choice(len(inside), count, replace=False)]
    for _ in range(relaxations):
        nearest = cKDTree(seeds).query(inside)[1]
        share = np.bincount(nearest, minlength=len(seeds))
        sums = [np.bincount(nearest, column, minlength=len(seeds)) for column in inside.T]
        kept = share > 0.4 * len(inside) / count
        seeds = quantise(np.stack(sums, axis=1)[kept] / share[kept, None], _FINE)
    near = depth > -_REACH_UM
    nearest = cKDTree(seeds).query(points[near], k=2)[1]
    boxes = np.empty((len(seeds), 2, 3))
    boxes[:, 0], boxes[:, 1] = np.inf, -np.inf
    for rank in range(2):
        np.minimum.at(boxes[:, 0], nearest[:, rank], real[near])
        np.maximum.at(boxes[:, 1], nearest[:, rank], real[near])
    boxes += np.array([[-_REACH_UM], [_REACH_UM]])
    return Cells(tissue, seeds, boxes)


def cut_slab(cells: Cells, start: int, stop: int) -> Slab:
    """Evaluate the geometry on the planes from `start` up to, not including, `stop`."""
    tissue = cells.tissue
    ranges = [(start, stop), (0, tissue.shape[1]), (0, tissue.shape[2])]
    z, y, x = (
        ((np.arange(low - 1, high + 1) + 0.5) * voxel)
        .astype(np.float32)
        .reshape([-1 if axis == k else 1 for k in range(3)])
        for axis, ((low, high), voxel) in enumerate(zip(ranges, tissue.voxel_um, strict=True))
    )
    warped = warp(tissue, z, y, x)
    core = (slice(1, -1),) * 3
    shape = tuple(high - low for low, high in ranges)
    first, second = np.zeros(shape, np.int16), np.zeros(shape, np.int16)
    best, next_best = np.full(shape, _FAR), np.full(shape, _FAR)
    inner = [grid[core] for grid in warped]
    for label, (seed, box) in enumerate(
        zip(cells.seeds.astype(np.float32), cells.boxes, strict=True), start=1
    ):
        window = _window(box, ranges, tissue.voxel_um)
        if window is None:
            continue
        parts = [grid[window] - at for grid, at in zip(inner, seed, strict=True)]
        _insert(
            parts[0] * parts[0] + parts[1] * parts[1] + parts[2] * parts[2],
            label,
            (best[window], next_best[window], first[window], second[window]),
        )
    depth, slope_z = envelope(tissue, z[1:-1], y[:, 1:-1], x[:, :, 1:-1])
    return Slab(first, second, next_best - best, warped, depth, slope_z)


def _window(
    box: NDArray[np.float64],
    ranges: list[tuple[int, int]],
    voxel_um: tuple[float, float, float],
) -> tuple[slice, ...] | None:
    """Turn a box in µm into slices of a slab, or None if it does not reach the slab."""
    slices = []
    for axis, (low, high) in enumerate(ranges):
        begin = max(low, int(box[0, axis] / voxel_um[axis]))
        end = min(high, int(box[1, axis] / voxel_um[axis]) + 1)
        if begin >= end:
            return None
        slices.append(slice(begin - low, end - low))
    return tuple(slices)


def _insert(
    squared: Grid,
    label: int,
    table: tuple[Grid, Grid, NDArray[np.int16], NDArray[np.int16]],
) -> None:
    """Enter one cell's squared distances into the running first and second place."""
    best, next_best, first, second = table
    wins = squared < best
    places = ~wins & (squared < next_best)
    np.copyto(next_best, squared, where=places)
    np.copyto(second, np.int16(label), where=places)
    np.copyto(next_best, best, where=wins)
    np.copyto(second, first, where=wins)
    np.copyto(best, squared, where=wins)
    np.copyto(first, np.int16(label), where=wins)
