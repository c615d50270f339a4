"""Make a DNA-PAINT movie of origami nanorulers and the list of its blinks, frame by frame.

Rulers lie at random on the glass, each with three marks 80 nm apart and some docking strands at
each mark. Imager strands bind to them for 0.6 s on average; others stick to the glass for a
moment. A blink begins and ends at any time, so that its first and last frames hold a part of its
light. Imagers that diffuse beyond the evanescent field pass as wide clouds, a few specks shine
all the time, the lamp lights the middle best, and stage and focus drift.

What cannot be seen is not in the reference. A blink is listed in a frame if

* its light there, the partial frame's as any other, exceeds `VISIBLE_CONTRAST` times the noise of
  the background under the best linear filter, a spot of its own shape, and
* it is a blink: the specks that shine throughout are not.

Molecules of one frame closer than twice the spot's standard deviation cannot be told apart
(Sparrow's limit of two equal Gaussians); they are listed once, at their centroid, with the sum of
their light. Positions are where a molecule appears, with drift; x is the column, y the row, and
(0, 0) the centre of the first pixel. Rulers and strays keep `MARGIN_PX` from the edge of the
picture, so that a spot's window always lies inside. Intensity is the mean number of detected
photons (electrons of the sensor before multiplication).

Numbers: k_off 1.6/s for nine bases of overlap (Jungmann et al. 2010); marks 80 nm apart as the
ruler's name says; exposure 0.1 s and pixels of 100 nm, both usual for such movies; spots of
0.21 wavelength / NA, that is 96 nm at 680 nm and 1.49 (Zhang et al. 2007), and a little more
off the focus. The released movie's shape is not known here: with 16 bits its 12.5 MB hold
128 x 128 pixels in 381 frames, which is what scale `paper` makes, and its list has 1,723 rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from evals.simulation import camera, quantise, stream, write_table
from evals.simulation.blinking import Events, bind, drift, expose, unite
from evals.simulation.emitters import shine
from evals.simulation.files import write_planes
from evals.simulation.progress import tracked
from evals.simulation.scatter import keep_apart
from evals.simulation.texture import illumination, smooth_noise

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

SIZES = {"quick": (256, 96), "standard": (256, 128), "paper": (381, 128)}  # frames, side in px
PIXEL_NM = 100.0
EXPOSURE_S = 0.1
RULERS = 27
RULER_PX = 7.0  # least distance of rulers, and of specks
MARK_NM = 80.0
STRANDS = 4  # docking strands of a mark
INCORPORATED = 0.9  # share of strands that an origami really has
STRAND_NM = 3.0  # standard deviation of a strand round its mark
MARGIN_PX = 5.0
K_OFF_PER_S = 1.6
UNBOUND_S = 33.0  # of a single strand: about five blinks are on at any time
STRAYS_PER_S = 1.6
STRAY_S = 0.25
SPECKS = 3
SIGMA_PX = (1.0, 1.2)
DEFOCUS = 0.08  # by which the spot widens until the end
CLOUDS = 4.0  # a frame
BRIGHTNESS_CV = 0.25  # of blinks
FICKLE_CV = 0.06  # of one blink's frames
VISIBLE_CONTRAST = 5.0
EXCESS_NOISE = 2**0.5  # of an electron multiplying camera
READ_NOISE_E = 0.3
GAIN = 3.0


class Movie(NamedTuple):
    """What there is to see: molecules frame by frame, in units of an ordinary one's light."""

    frame: NDArray[np.int64]
    place: NDArray[np.float64]  # (y, x) in px, shape (n, 2)
    light: NDArray[np.float64]
    specks: NDArray[np.float64]  # (y, x) in the first frame
    shift: NDArray[np.float64]  # drift (y, x) of each frame
    sigma_px: NDArray[np.float64]  # of a spot in each frame
    lamp: NDArray[np.float32]  # relative, shape (Y, X)


class Imaging(NamedTuple):
    """Photons of a difficulty."""

    blink: float  # of an ordinary molecule in a whole frame
    background: float  # of a pixel where the lamp is brightest

    @classmethod
    def of(cls, difficulty: float) -> Imaging:
        """From 1,600 photons on 15 to 340 on 45."""
        blink = quantise(1600.0 * 2.0 ** (-2.25 * difficulty))
        return cls(float(blink), float(quantise(15.0 * 3.0**difficulty)))


def simulate(
    out: Path,
    *,
    seed: int,
    difficulty: float = 0.5,
    dims: str | None = None,
    scale: Literal["quick", "standard", "paper"] = "quick",
) -> None:
    """Write `input/DNAPAINT_substack.tiff` and `evaluation/DNAPAINT_LocalizationList.txt`.

    Parameters
    ----------
    out
        Capsule folder.
    seed
        Same seed, same bytes.
    difficulty
        0 to 1: dimmer molecules on a brighter background; the molecules stay the same.
    dims
        None or "2D", the only one there is.
    scale
        256 frames of 96 or 128 px, or 381 of 128; always as many rulers.
    """
    if dims not in (None, "2D"):
        raise ValueError(f"this movie is 2D, got dims={dims!r}")
    frames, size = SIZES[scale]
    imaging = Imaging.of(difficulty)
    movie = happen(seed, frames, size)
    ground = background(stream(seed, 5), movie, imaging)
    pictures = (
        record(
            stream(seed, 7, frame),
            frame_light(stream(seed, 6, frame), movie, ground, imaging, frame),
        )
        for frame in tracked(range(frames))
    )
    path = out / "input" / "DNAPAINT_substack.tiff"
    write_planes(path, pictures, shape=(frames, size, size), dtype="uint16")
    write_table(
        out / "evaluation" / "DNAPAINT_LocalizationList.txt",
        ["frame", "x", "y", "intensity"],
        reference(movie, ground, imaging),
        delimiter="\t",
    )


def happen(seed: int, frames: int, size: int) -> Movie:
    """Let everything happen that does not depend on how well it is seen."""
    docks, specks = lay_rulers(stream(seed, 0), size)
    ordinary = bind(
        stream(seed, 1),
        len(docks),
        frames=frames,
        bound=1 / (K_OFF_PER_S * EXPOSURE_S),
        unbound=UNBOUND_S / EXPOSURE_S,
    )
    stuck, strays = stick(stream(seed, 2), frames, size)
    events = Events(
        np.concatenate([ordinary.site, stuck.site + len(docks)]),
        np.concatenate([ordinary.start, stuck.start]),
        np.concatenate([ordinary.end, stuck.end]),
    )
    glimpses = expose(events)
    rng = stream(seed, 3)
    shift = drift(rng, frames, speed=1.2 * EXPOSURE_S / PIXEL_NM, jitter=0.006)
    lamp = illumination(rng, (size, size), 0.5)
    # How a dye is turned and how deep it lies makes blinks differ, its dark states the frames.
    rng_light = stream(seed, 4)
    spread = BRIGHTNESS_CV * np.clip(rng_light.standard_normal(len(events.site)), -2.5, 2.5)
    fickle = FICKLE_CV * np.clip(rng_light.standard_normal(len(glimpses.event)), -2.5, 2.5)
    place = np.concatenate([docks, strays])[events.site[glimpses.event]] + shift[glimpses.frame]
    y, x = np.rint(place).astype(np.int64).T
    light = np.exp(spread[glimpses.event] + fickle) * glimpses.share * lamp[y, x]
    widening = 1 + DEFOCUS * np.arange(frames) / frames
    sigma = quantise(rng.uniform(*SIGMA_PX) * widening, 2.0**-10)
    return Movie(glimpses.frame, place, quantise(light, 2.0**-16), specks, shift, sigma, lamp)


def lay_rulers(
    rng: np.random.Generator, size: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the docking strands of all rulers, and the specks, as (y, x)."""
    points = quantise(rng.uniform(MARGIN_PX + 1.5, size - 2.5 - MARGIN_PX, (40 * RULERS, 2)))
    points = points[keep_apart(points, RULER_PX)]
    centres, specks = points[SPECKS : SPECKS + RULERS], points[:SPECKS]
    angle = rng.uniform(-np.pi, np.pi, len(centres))
    along = np.stack([np.sin(angle), np.cos(angle)], axis=1)
    marks = centres[:, None] + along[:, None] * (np.array([-1, 0, 1]) * MARK_NM / PIXEL_NM)[:, None]
    docks = np.repeat(marks.reshape(-1, 2), STRANDS, axis=0)
    docks = docks + STRAND_NM / PIXEL_NM * rng.standard_normal(docks.shape)
    return quantise(docks[rng.random(len(docks)) < INCORPORATED], 2.0**-16), specks


def stick(rng: np.random.Generator, frames: int, size: int) -> tuple[Events, NDArray[np.float64]]:
    """Let imagers stick to the glass, each once and anywhere, and return where."""
    count = int(rng.poisson(STRAYS_PER_S * EXPOSURE_S * frames))
    places = quantise(rng.uniform(MARGIN_PX, size - 1 - MARGIN_PX, (count, 2)), 2.0**-16)
    start = quantise(rng.uniform(0, frames, count), 2.0**-16)
    stay = quantise(STRAY_S / EXPOSURE_S * rng.standard_exponential(count), 2.0**-16)
    return Events(np.arange(count), start, np.minimum(start + stay, frames)), places


def background(rng: np.random.Generator, movie: Movie, imaging: Imaging) -> NDArray[np.float64]:
    """Return the photons of a pixel's lasting background in the first frame."""
    uneven = 1 + 0.15 * smooth_noise(rng, movie.lamp.shape, 14.0)
    return np.asarray(imaging.background * np.maximum(uneven, 0.4) * movie.lamp, dtype=np.float64)


def frame_light(
    rng: np.random.Generator,
    movie: Movie,
    ground: NDArray[np.float64],
    imaging: Imaging,
    frame: int,
) -> NDArray[np.float64]:
    """Return the photons that each pixel of one frame detects on average."""
    size, sigma = ground.shape, float(movie.sigma_px[frame])
    here = movie.frame == frame
    spots = shine(size, movie.place[here], imaging.blink * movie.light[here], sigma)
    bleached = 0.8 + 0.2 * 2.0 ** (-frame / 120)
    lasting = shine(size, movie.specks + movie.shift[frame], 25 * imaging.background, 1.5 * sigma)
    count = int(rng.poisson(CLOUDS * (size[0] / 96) ** 2))
    where = rng.uniform(0, size[0], (count, 2))
    wide = rng.uniform(3.0, 6.0, count)
    clouds = shine(size, where, quantise(imaging.background * wide**2), quantise(wide))
    flicker = 1 + 0.015 * float(rng.standard_normal())
    total = spots + flicker * (bleached * (ground + lasting) + clouds * movie.lamp)
    return np.asarray(total, dtype=np.float64)


def record(rng: np.random.Generator, light: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Take a frame with an electron multiplying camera."""
    return camera(light, rng, read_noise_e=READ_NOISE_E, gain=GAIN, excess_noise=EXCESS_NOISE)


def reference(
    movie: Movie, ground: NDArray[np.float64], imaging: Imaging
) -> list[tuple[int, float, float, float]]:
    """List frame, x, y and photons of the visible blinks, frame by frame from top to bottom."""
    frame, place, light = unite(
        movie.frame, movie.place, movie.light, 2 * float(movie.sigma_px.max())
    )
    photons = imaging.blink * light
    y, x = np.rint(place).astype(np.int64).T
    noise = np.sqrt(EXCESS_NOISE**2 * ground[y, x] + READ_NOISE_E**2)
    # The sum of the squares of a Gaussian spot is 1 / (4 pi sigma²).
    contrast = photons / (2 * np.sqrt(np.pi) * movie.sigma_px[frame] * noise)
    seen = quantise(contrast, 2.0**-10) >= VISIBLE_CONTRAST
    rows = np.column_stack([frame, np.round(place[:, ::-1], 4), np.round(photons, 1)])[seen]
    rows = rows[np.lexsort((rows[:, 1], rows[:, 2], rows[:, 0]))]
    return [(int(row[0]), row[1], row[2], row[3]) for row in rows.tolist()]
