"""Image pairs of nuclei and the cells round them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.inputs.shapes import paint, spread, write

if TYPE_CHECKING:
    from pathlib import Path

CELLS = 60


def make(evaluation: Path, submission: Path, seed: int, shape: tuple[int, ...]) -> int:
    """Make masks of shape (images, rows, columns); return the number of voxels of both sides."""
    rng = np.random.default_rng(seed)
    count = max(3, CELLS * shape[1] * shape[2] // (520 * 696))
    for index in range(shape[0]):
        centres = spread(count, shape[1:], rng)
        radii = rng.uniform(0.3, 0.45, count) * np.sqrt(shape[1] * shape[2] / count)
        labels = np.arange(1, count + 1)
        seen = rng.random(count) > 0.05
        shift = rng.normal(0, 0.8, centres.shape)
        for name, part in (("cytoplasm", 1.0), ("nuclei", 0.5)):
            real, there = np.zeros((2, *shape[1:]), np.uint8)
            paint(real, centres, radii * part, labels)
            smaller = radii[seen] * part * rng.uniform(0.9, 1.0, int(seen.sum()))
            paint(there, (centres + shift)[seen], smaller, labels[seen])
            path = f"{name}_masks/{index:04d}.tif"
            write(evaluation / path, real)
            write(submission / path, there)
    return 4 * int(np.prod(shape))
