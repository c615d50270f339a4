"""Make a phase contrast movie of a growing monolayer of Corynebacterium glutamicum.

The colony grows unseen from two founders until it has the wanted number of cells; then the camera
starts, one frame a minute. Difficulty moves contrast, light and focus of the same colony; beyond
the published data the camera also starts later, in a more crowded chamber, and takes only every
k-th frame. The sibling "2d" has stills of the same colony, focused by hand.

What cannot be seen is not in the reference: a cell enters it when at least half of it lies in the
field, and leaves it when fewer than 60 of its pixels do. The worst focus blurs by less than a third
of a cell's width, so that neighbours can still be told apart, if only by the frames before and
after.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from evals.simulation.bacteria import Colony, Growth, found_colony, live
from evals.simulation.files import write_table, write_tiff
from evals.simulation.lineage import TrackBook
from evals.simulation.movie import PackedFrames, write_ome_movie
from evals.simulation.phase_contrast import PhaseContrast, uneven_illumination
from evals.simulation.progress import tracked
from evals.simulation.quantise import quantise, stream
from evals.simulation.rods import draw_rods

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

PIXEL_UM = 0.072
# Light from beyond the field reaches into it; cells live on for a while out there.
MARGIN_PX = 32
CHAMBER_PX = 90
# Blur by which the autofocus misses at difficulty 1 and at most; it settles anew every frame.
WOBBLE_PX, WORST_PX = 4.0, 4.0


@dataclass(frozen=True)
class Movie:
    """Field in pixels (rows, columns), minutes, cells in the first frame, stills of "2d"."""

    field: tuple[int, int]
    minutes: int
    cells: int
    stills: int


MOVIES = {
    "quick": Movie((208, 240), 88, 48, 12),
    "standard": Movie((448, 512), 240, 30, 24),
    "paper": Movie((1094, 938), 800, 2, 80),
}


@dataclass(frozen=True)
class View:
    """How the colony is recorded.

    Attributes
    ----------
    optics
        The microscope in focus.
    wobble_px
        Blur by which the focus misses, standard deviation over frames.
    interval_min
        Minutes between frames.
    crowding
        Factor on the number of cells at which the camera starts.
    """

    optics: PhaseContrast
    wobble_px: float
    interval_min: int
    crowding: float


def simulate(
    out: Path,
    *,
    seed: int,
    difficulty: float = 0.5,
    dims: str | None = None,
    scale: Literal["quick", "standard", "paper"] = "quick",
) -> None:
    """Write `input/00.ome.tif`, `evaluation/00_GT.ome.tif` and `evaluation/man_track.txt`.

    Parameters
    ----------
    out
        Capsule folder.
    seed
        Same seed, same bytes.
    difficulty
        0 to 1: less contrast and light, a worse and less steady focus; above 0.5 also fewer
        frames of a denser colony.
    dims
        None or "2dt": the movie. "2d": stills `input/00_tNNN.tif` of the same colony with their
        labels `evaluation/00_tNNN_seg.tif`.
    scale
        Size and length of the movie; "paper" as published.
    """
    if dims not in (None, "2dt", "2d"):
        raise ValueError(f"a monolayer is flat: dims must be None, '2dt' or '2d', got {dims!r}")
    view = watch(difficulty)
    movie = MOVIES[scale]
    movie = replace(movie, cells=round(movie.cells * view.crowding))
    if dims == "2d":
        write_stills(out, movie, replace(view, wobble_px=0.0), seed)
    else:
        write_movie(out, movie, view, seed)


def watch(difficulty: float) -> View:
    """Return the view: sharp, bright and steady at 0, out of focus, flat and dim at 1."""
    optics = PhaseContrast(
        pixel_um=PIXEL_UM,
        index_step=0.05 - 0.03 * difficulty,
        photons=6000 * 0.04**difficulty,
        psf_px=1.2 + 1.2 * difficulty,
    )
    beyond = max(0.0, 2 * difficulty - 1)
    return View(
        optics,
        wobble_px=WOBBLE_PX * difficulty**0.5,
        interval_min=round(5**beyond),
        crowding=1.5**beyond,
    )


def write_movie(out: Path, movie: Movie, view: View, seed: int) -> None:
    """Write the movie, its labels and its lineage."""
    minutes, book, labels = range(0, movie.minutes, view.interval_min), TrackBook(), PackedFrames()

    def images() -> Iterator[NDArray[np.uint8]]:
        for image, label in record(movie, view, minutes, book, seed):
            labels.append(label)
            yield image

    shape = (len(minutes), *movie.field)
    save(out / "input" / "00.ome.tif", images(), shape, "uint8", view)
    save(out / "evaluation" / "00_GT.ome.tif", labels, shape, "uint16", view)
    write_table(out / "evaluation" / "man_track.txt", [], book.tracks.tolist(), delimiter=" ")


def write_stills(out: Path, movie: Movie, view: View, seed: int) -> None:
    """Write stills spread evenly over the same time, cells numbered within each."""
    minutes = np.linspace(0, movie.minutes - 1, movie.stills).astype(int).tolist()
    frames = record(movie, view, minutes, TrackBook(), seed)
    for minute, (image, label) in zip(minutes, frames, strict=True):
        _, numbers = np.unique(label, return_inverse=True)
        name = f"00_t{minute:03d}"
        write_tiff(out / "input" / f"{name}.tif", image, pixel_um=PIXEL_UM)
        labels = numbers.reshape(label.shape).astype(np.uint16)
        write_tiff(out / "evaluation" / f"{name}_seg.tif", labels, pixel_um=PIXEL_UM)


def record(
    movie: Movie, view: View, minutes: Sequence[int], book: TrackBook, seed: int
) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.uint16]]]:
    """Let the colony grow and take a picture with its labels at the given minutes."""
    rows, columns = movie.field
    stage, noise, focus = stream(seed, 2), stream(seed, 3), stream(seed, 5)
    light = uneven_illumination(stream(seed, 4), movie.field)
    drift = quantise(stage.uniform(-0.15, 0.15, 2), 2.0**-12)
    wide = (rows + 2 * MARGIN_PX, columns + 2 * MARGIN_PX)
    core = (slice(MARGIN_PX, -MARGIN_PX),) * 2
    now, colonies = -1, grown(movie, seed)
    for minute in tracked(minutes):
        while now < minute:
            colony, now = next(colonies), now + 1
            shake = quantise(stage.normal(0, 0.25, 2), 2.0**-12)
            miss_px = min(abs(view.wobble_px * focus.standard_normal()), WORST_PX)
        row, column = drift * minute + shake - MARGIN_PX
        drawing = draw_rods(colony, wide, (float(row), float(column)))
        optics = view.optics.defocused(miss_px)
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


def save(
    path: Path,
    frames: Iterable[NDArray[np.integer]],
    shape: tuple[int, int, int],
    dtype: str,
    view: View,
) -> None:
    """Write the frames as they come, with their size in µm and their interval."""
    metadata = {
        "PhysicalSizeX": PIXEL_UM,
        "PhysicalSizeXUnit": "µm",
        "PhysicalSizeY": PIXEL_UM,
        "PhysicalSizeYUnit": "µm",
        "TimeIncrement": 60.0 * view.interval_min,
        "TimeIncrementUnit": "s",
    }
    write_ome_movie(path, frames, shape=shape, dtype=dtype, metadata=metadata)
