"""Masks of vessels: winding tubes of several widths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.inputs.shapes import paint, write

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

# Of a volume for each vessel: 1 to 2 % of it then is vessel, as in the brain.
_VOXELS = 500**3 // 95
_STEP = 1.5


def make(evaluation: Path, submission: Path, seed: int, shape: tuple[int, ...]) -> int:
    """Make volumes of shape (volumes, planes, rows, columns); return the voxels of both sides.

    A volume is the upper part of a cube, so that one of fewer planes is no less full of vessels.
    """
    rng = np.random.default_rng(seed)
    cube = (max(shape[1:]),) * 3
    for index in range(shape[0]):
        real, there = np.zeros((2, *shape[1:]), np.uint8)
        for _ in range(max(3, int(np.prod(cube)) // _VOXELS)):
            path = _winding(cube, rng)
            radius = rng.uniform(1.5, 5.0)
            _tube(real, path, radius)
            if rng.random() > 0.1:
                _tube(there, path + rng.normal(0, 0.5, 3), radius * rng.uniform(0.8, 1.2))
        write(evaluation / f"Binary_volume{index}.tif", real)
        write(submission / f"volume{index}_mask.tif", there)
    return 2 * int(np.prod(shape))


def _winding(shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the places of a walk that keeps its direction for a while, shape (n, 3).

    What leaves the volume comes in again on the other side, so that its rim is as full as its
    middle.
    """
    count = int(max(shape) / _STEP)
    start, heading = rng.uniform(0, shape), rng.normal(size=3)
    turns = np.cumsum(rng.normal(0, 0.08, (count, 3)), axis=0) + heading / np.linalg.norm(heading)
    steps = turns / np.linalg.norm(turns, axis=1, keepdims=True) * _STEP
    places: NDArray[np.float64] = (start + np.cumsum(steps, axis=0)) % shape
    return places


def _tube(image: NDArray[np.uint8], path: NDArray[np.float64], radius: float) -> None:
    count = len(path)
    paint(image, path, np.full(count, radius), np.ones(count, np.uint8))
