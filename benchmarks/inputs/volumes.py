"""Label volumes of tissue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.inputs.shapes import paint, spread, write

if TYPE_CHECKING:
    from pathlib import Path

# Voxels of a volume for one cell; a cell is three times as wide as it is deep in planes.
_VOXELS = 120 * 1024 * 1590 // 700
_FLAT = 1 / 3


def make(evaluation: Path, submission: Path, seed: int, shape: tuple[int, ...]) -> int:
    """Make volumes of shape (volumes, planes, rows, columns); return the voxels of both sides."""
    rng = np.random.default_rng(seed)
    count = max(4, int(np.prod(shape[1:])) // _VOXELS)
    # On a grid of cubes: planes count for three.
    cubes = (shape[1] / _FLAT, *shape[2:])
    for index in range(shape[0]):
        centres = spread(count, tuple(map(int, cubes)), rng) * [_FLAT, 1, 1]
        radii = rng.uniform(0.4, 0.5, count) * (np.prod(cubes) / count) ** (1 / 3)
        labels = rng.permutation(count) + 1
        real, there = np.zeros((2, *shape[1:]), np.uint16)
        paint(real, centres, radii, labels, (_FLAT, 1, 1))
        seen = rng.random(count) > 0.05
        smaller = radii[seen] * rng.uniform(0.85, 1.0, int(seen.sum()))
        paint(there, centres[seen] + [0, 1, 1], smaller, labels[seen], (_FLAT, 1, 1))
        write(evaluation / f"{index}_seg.tif", real)
        write(submission / f"{index}_seg.tif", there)
    return 2 * int(np.prod(shape))
