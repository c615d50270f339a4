"""Shape of a migrating primordium, and the warp that shapes its cells.

Only sums, products, quotients and square roots act on arrays here. IEEE arithmetic rounds those
alike on every processor, so what follows from them does not depend on the machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.quantise import quantise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Grid = NDArray[np.float32]

_FINE = 2.0**-12


@dataclass(frozen=True)
class Tissue:
    """Shape of a primordium in a stack; lengths in µm, order z, y, x, the front at large x.

    Attributes
    ----------
    shape
        Planes, rows, columns of the stack.
    voxel_um
        Size of a voxel (z, y, x).
    centre
        Middle of the tissue.
    half_um
        Half-axes (z, y, x) of the envelope at its middle.
    bend_um
        How far the two ends are bent sideways.
    rosettes
        (N, 2) centres (y, x) where apices converge.
    waves
        (3, 3, 3): the undulations of warped z, y, x; of each its amplitude (µm, thrice), angular
        frequencies (1/µm) and phases along real z, y, x.
    """

    shape: tuple[int, int, int]
    voxel_um: tuple[float, float, float]
    centre: NDArray[np.float64]
    half_um: NDArray[np.float64]
    bend_um: float
    rosettes: NDArray[np.float64]
    waves: NDArray[np.float64]


def grow_tissue(
    rng: np.random.Generator,
    shape: tuple[int, int, int],
    voxel_um: tuple[float, float, float],
    *,
    rosette_spacing_um: float = 12.0,
) -> Tissue:
    """Draw a primordium with a dark margin all round and room for skin above it.

    Parameters
    ----------
    rng
        Random stream of the geometry.
    shape
        Planes, rows, columns.
    voxel_um
        Size of a voxel (z, y, x).
    rosette_spacing_um
        Distance between rosettes along the tissue; they fill the rear two thirds.
    """
    size = np.array(shape) * np.array(voxel_um)
    half = np.array([0.355, 0.39, 0.455]) * size
    centre = size * np.array([0.605, 0.5, 0.5]) + quantise(
        rng.uniform(-0.01, 0.01, 3) * size, _FINE
    )
    rear = centre[2] - 0.75 * half[2]
    count = max(1, round(1.35 * half[2] / rosette_spacing_um))
    along = rear + (np.arange(count) + 0.5) * (1.35 * half[2] / count) + rng.uniform(-1, 1, count)
    across = centre[1] + rng.uniform(-0.2, 0.2, count) * half[1]
    waves = np.stack([draw_wave(rng, (0.3, 0.6), (7, 13)) for _ in range(3)])
    return Tissue(
        shape,
        voxel_um,
        centre,
        quantise(half, _FINE),
        float(quantise(rng.uniform(-0.15, 0.15) * half[1], _FINE)),
        quantise(np.stack([across, along], axis=1), _FINE),
        waves,
    )


def draw_wave(
    rng: np.random.Generator, amplitude: tuple[float, float], length_um: tuple[float, float]
) -> NDArray[np.float64]:
    """Draw an undulation: rows are its amplitude (thrice), angular frequencies and phases."""
    rows = [
        np.full(3, rng.uniform(*amplitude)),
        2 * np.pi / rng.uniform(*length_um, 3),
        rng.uniform(0, 2 * np.pi, 3),
    ]
    return quantise(np.stack(rows), _FINE)


def envelope(tissue: Tissue, z: Grid, y: Grid, x: Grid) -> tuple[Grid, Grid]:
    """Return the signed distance to the tissue's surface and the z share of its direction.

    Parameters
    ----------
    tissue
        The tissue.
    z, y, x
        Positions in µm, broadcastable against each other.

    Returns
    -------
    tuple
        Distance to first order in µm, positive inside, and the squared z component of its
        unit gradient.
    """
    u = (x - np.float32(tissue.centre[2])) / np.float32(tissue.half_um[2])
    taper = 1 - np.float32(0.22) * np.maximum(u, 0) * np.abs(u)
    middle = np.float32(tissue.centre[1]) + np.float32(tissue.bend_um) * u * u
    width = np.float32(tissue.half_um[1]) * taper
    height = np.float32(tissue.half_um[0]) * taper
    v, w = (y - middle) / width, (z - np.float32(tissue.centre[0])) / height
    level = 1 - (u * u * u * u + v * v + w * w)
    gz, gy, gx = 2 * w / height, 2 * v / width, 4 * u * u * u / np.float32(tissue.half_um[2])
    squared = np.maximum(gz * gz + gy * gy + gx * gx, np.float32(1e-3))
    return level / np.sqrt(squared), gz * gz / squared


def warp(tissue: Tissue, z: Grid, y: Grid, x: Grid) -> tuple[Grid, Grid, Grid]:
    """Map real positions into the space in which cells are plain Voronoi regions.

    A factor below 1 along z makes cells tall (rear), above 1 flat (front). Near the apical side,
    which faces the objective (small z), the plane is magnified round each rosette: cells of one
    size there are narrow in reality, and meet at its centre.
    """
    along = (x - np.float32(tissue.centre[2] - tissue.half_um[2])) / np.float32(
        2 * tissue.half_um[2]
    )
    front = _smooth_step((along - np.float32(0.6)) * np.float32(2.8))
    height = (z - np.float32(tissue.centre[0])) * (np.float32(0.55) + np.float32(0.65) * front)
    apical = _smooth_step((np.float32(tissue.centre[0]) - z) / np.float32(tissue.half_um[0]))
    py, px = y + 0 * apical, x + 0 * apical
    for row, column in tissue.rosettes.astype(np.float32):
        dy, dx = y - row, x - column
        near = 1 / (1 + (dy * dy + dx * dx) * np.float32(1 / 14.0))
        pull = np.float32(2.0) * apical * near * near
        py, px = py + pull * dy, px + pull * dx
    bends = [undulation(wave, z, y, x) for wave in tissue.waves]
    return height + bends[0], py + bends[1], px + bends[2]


def _smooth_step(t: Grid) -> Grid:
    t = np.clip(t, 0, 1)
    return t * t * (3 - 2 * t)


def undulation(wave: NDArray[np.float64], z: Grid, y: Grid, x: Grid) -> Grid:
    """Return a product of three sines; each is taken on its axis alone and quantised."""
    amplitude, frequency, phase = wave
    parts = [
        quantise(np.sin(quantise(axis * frequency[k] + phase[k], _FINE)), _FINE).astype(np.float32)
        for k, axis in enumerate((z, y, x))
    ]
    return np.float32(amplitude[0]) * parts[0] * parts[1] * parts[2]
