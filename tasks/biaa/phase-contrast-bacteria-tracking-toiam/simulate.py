"""Make a phase contrast movie of a growing monolayer of Corynebacterium glutamicum.

The colony grows unseen from two founders until it has the wanted number of cells; then the camera
starts, one frame a minute. Difficulty moves focus, contrast and light of the same colony: the
reference stays as it is.

What cannot be seen is not in the reference: a cell enters it when at least half of it lies in the
field, and leaves it when fewer than 60 of its pixels do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from evals.simulation.bacteria import Colony, Growth, found_colony, live
from evals.simulation.files import write_table
from evals.simulation.lineage import TrackBook
from evals.simulation.movie import PackedFrames, write_ome_movie
from evals.simulation.phase_contrast import PhaseContrast, uneven_illumination
from evals.simulation.quantise import quantise, stream
from evals.simulation.rods import draw_rods

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

PIXEL_UM = 0.072
# Light from beyond the field reaches into it; cells live on for a while out there.
MARGIN_PX = 32
CHAMBER_PX = 90


@dataclass(frozen=True)
class Movie:
    """Field in pixels (rows, columns), frames, and cells in the first frame."""

    field: tuple[int, int]
    frames: int
    cells: int


MOVIES = {
    "quick": Movie((208, 240), 88, 48),
    "standard": Movie((448, 512), 240, 30),
    "paper": Movie((1094, 938), 800, 2),
}


def simulate(
    out: Path,
    *,
    seed: int,
    difficulty: float = 0.5,
    dims: str | None = None,
    scale: Literal["quick", "standard", "paper"] = "quick",
) -> None:
    """Write `input/00.ome.tif`, `evaluation/00_GT.ome.tif` and `evaluation/man_track.txt`."""
    if dims not in (None, "2D"):
        raise ValueError(f"a monolayer is flat: dims must be None or '2D', got {dims!r}")
    movie, book, labels = MOVIES[scale], TrackBook(), PackedFrames()

    def images() -> Iterator[NDArray[np.uint8]]:
        for image, label in record(movie, microscope(difficulty), book, seed):
            labels.append(label)
            yield image

    save(out / "input" / "00.ome.tif", images(), movie, "uint8")
    save(out / "evaluation" / "00_GT.ome.tif", labels, movie, "uint16")
    write_table(out / "evaluation" / "man_track.txt", [], book.tracks.tolist(), delimiter=" ")


def microscope(difficulty: float) -> PhaseContrast:
    """Return the optics: sharp and bright at 0, out of focus, flat and dim at 1."""
    return PhaseContrast(
        pixel_um=PIXEL_UM,
        index_step=0.05 - 0.03 * difficulty,
        photons=6000 * 0.04**difficulty,
        psf_px=1.2 + 1.2 * difficulty,
    )


def record(
    movie: Movie, optics: PhaseContrast, book: TrackBook, seed: int
) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.uint16]]]:
    """Let the colony grow and take a picture with its labels every minute."""
    rows, columns = movie.field
    stage, noise = stream(seed, 2), stream(seed, 3)
    light = uneven_illumination(stream(seed, 4), movie.field)
    drift = quantise(stage.uniform(-0.15, 0.15, 2), 2.0**-12)
    wide = (rows + 2 * MARGIN_PX, columns + 2 * MARGIN_PX)
    core = (slice(MARGIN_PX, -MARGIN_PX),) * 2
    for frame, colony in enumerate(grown(movie, seed)):
        if frame == movie.frames:
            return
        shake = quantise(stage.normal(0, 0.25, 2), 2.0**-12)
        row, column = drift * frame + shake - MARGIN_PX
        drawing = draw_rods(colony, wide, (float(row), float(column)))
        image = optics.record(optics.intensity(drawing.thickness)[core], light, noise)
        yield image, book.label(colony, drawing.crop(MARGIN_PX))


def grown(movie: Movie, seed: int) -> Iterator[Colony]:
    """Yield the colony minute by minute from the moment it is large enough."""
    growth, life = Growth(), stream(seed, 0)
    field = np.array(movie.field, dtype=np.float64)
    place = field * (0.5 + quantise(stream(seed, 1).uniform(-0.06, 0.06, 2), 2.0**-12))
    founders = found_colony(life, growth, (float(place[0]), float(place[1])))
    bounds = (np.full(2, -float(CHAMBER_PX)), field + CHAMBER_PX)
    started = False
    for colony in live(founders, life, growth, bounds):
        started = started or len(colony) >= movie.cells
        if started:
            yield colony


def save(path: Path, frames: Iterable[NDArray[np.integer]], movie: Movie, dtype: str) -> None:
    """Write the frames as they come, with their size in µm and their interval."""
    metadata = {
        "PhysicalSizeX": PIXEL_UM,
        "PhysicalSizeXUnit": "µm",
        "PhysicalSizeY": PIXEL_UM,
        "PhysicalSizeYUnit": "µm",
        "TimeIncrement": 60.0,
        "TimeIncrementUnit": "s",
    }
    shape = (movie.frames, *movie.field)
    write_ome_movie(path, frames, shape=shape, dtype=dtype, metadata=metadata)
