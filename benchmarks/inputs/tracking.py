"""A movie of cells that divide together until they fill the frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.inputs.shapes import paint, spread, write_planes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

# Pixels of a frame for each cell of the last generation, and how many generations there are.
_PIXELS = 938 * 1094 // 1430
_GENERATIONS = 8


@dataclass(frozen=True)
class _Colony:
    """Tracks, generation after generation: `first[k]` is the first id of generation k."""

    founders: int
    frames: int
    shape: tuple[int, ...]
    places: NDArray[np.float64]

    @property
    def first(self) -> NDArray[np.int64]:
        size = self.founders << np.arange(_GENERATIONS)
        return 1 + np.concatenate([[0], np.cumsum(size)])

    def generation(self, frame: int) -> int:
        return frame * _GENERATIONS // self.frames

    def lineage(self) -> NDArray[np.int64]:
        """Return track, start, end, parent, shape (n, 4)."""
        generation = np.array([self.generation(frame) for frame in range(self.frames)])
        rows = []
        for age in range(_GENERATIONS):
            frames = np.flatnonzero(generation == age)
            index = np.arange(self.founders << age)
            parent = self.first[age - 1] + index // 2 if age else np.zeros_like(index)
            ends = np.broadcast_to(frames[[0, -1]], (len(index), 2))
            rows.append(np.column_stack([self.first[age] + index, ends, parent]))
        return np.concatenate(rows)

    def at(self, frame: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return ids and places of the cells of a frame."""
        age = self.generation(frame)
        index = np.arange(self.founders << age)
        # A cell stays where the first of its last descendants will be.
        return self.first[age] + index, self.places[index << (_GENERATIONS - 1 - age)]

    def planes(self, rng: np.random.Generator | None) -> Iterator[NDArray[np.uint16]]:
        """Yield the frames; with a generator of chance as a tracker with errors sees them."""
        radius = 0.42 * np.sqrt(_PIXELS)
        for frame in range(self.frames):
            plane = np.zeros(self.shape, np.uint16)
            labels, centres = self.at(frame)
            radii = np.full(len(labels), radius)
            if rng is not None:
                seen = rng.random(len(labels)) > 0.03
                labels, centres = labels[seen], centres[seen] + rng.normal(0, 0.7, (seen.sum(), 2))
                radii = radii[seen] * rng.uniform(0.85, 1.0, len(labels))
                swapped = (labels % 17 == 0) & (frame % 50 > 25)
                labels = np.where(swapped, labels + 5000, labels)
            paint(plane, centres, radii, labels)
            yield plane


def make(evaluation: Path, submission: Path, seed: int, shape: tuple[int, ...]) -> int:
    """Make a movie of shape (frames, rows, columns); return the voxels of both sides."""
    rng = np.random.default_rng(seed)
    most = int(np.prod(shape[1:])) // _PIXELS
    founders = max(1, most >> (_GENERATIONS - 1))
    places = spread(founders << (_GENERATIONS - 1), shape[1:], rng)
    colony = _Colony(founders, shape[0], shape[1:], places)
    dtype = np.dtype(np.uint16)
    write_planes(evaluation / "00_GT.ome.tif", shape, dtype, colony.planes(None))
    write_planes(submission / "00_RES.ome.tif", shape, dtype, colony.planes(rng))
    lineage = colony.lineage()
    _write_lineage(evaluation / "man_track.txt", lineage)
    lineage[rng.random(len(lineage)) < 0.1, 3] = 0
    _write_lineage(submission / "res_track.txt", lineage)
    return 2 * int(np.prod(shape))


def _write_lineage(path: Path, rows: NDArray[Any]) -> None:
    path.write_text("".join(f"{a} {b} {c} {d}\n" for a, b, c, d in rows.tolist()), "utf-8")
