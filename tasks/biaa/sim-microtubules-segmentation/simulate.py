"""Make 16 fluorescence images of microtubules and the masks of their filaments.

Microtubules are worm-like chains, scattered in one half of the images and fanned out from a
centrosome in the other; they cross, run out of the field, carry their dye unevenly and lie a
little above or below the focus. Free tubulin, filaments far out of focus and an uneven lamp make
the background.

The reference is the full width at half maximum of each filament, as the optics show it: the pixels
whose centres lie within half of it from the centre line. What cannot be seen is not in it. A
filament is listed, over its whole length in the field, if

* it is one of those near the focus (the others are haze),
* at least `SHORTEST_PX` of it lie in the field, and
* along it the light of its crest exceeds the noise of one pixel there `VISIBLE_CONTRAST` times on
  average: an eye, or a ridge filter, that follows a line needs less than for a point.

Dim stretches of a listed filament belong to it: it is one line from end to end.

Numbers: full width at half maximum 220 nm (25 nm of tubule under a lens of aperture 1.4);
persistence 30 µm, which is what buckling leaves of some millimetres in a cell (Brangwynne et al.
2007); foreground below 5 % and lines 1 to 3 px wide, as the task says. Images have 8 bits, and
those of scale `paper` 672 x 672 pixels: the released 16 and their masks, which have 8 bits
each, are equally large, 0.45 MB apiece.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from evals.simulation import camera, gaussian_psf_blur, quantise, stream, write_tiff
from evals.simulation.emitters import shine
from evals.simulation.filaments import STEP_PX, covered, speckles, worm_like_chains
from evals.simulation.optics import SIGMA_PER_FWHM
from evals.simulation.progress import tracked
from evals.simulation.texture import illumination, smooth_noise

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

IMAGES = 16
FIELD_PX = {"quick": 256, "standard": 448, "paper": 672}
PIXEL_UM = (0.09, 0.14)  # differs between images, so that lines are 1.5 to 3 px wide
FWHM_UM = 0.22
PERSISTENCE_UM = (30.0, 30.0, 30.0, 200.0)  # one image in four shows stiffer filaments
LENGTH_UM = (8.0, 40.0)
COVERED = (0.02, 0.048)  # share of the field
SPECKLE_PX = 3.0
SHORTEST_PX = 20.0
VISIBLE_CONTRAST = 0.7
HAZE_SIGMA_PX = 5.0
BACKGROUND = 14.0  # photo-electrons of a pixel without any tubulin
OFFSET_ADU = 8.0
READ_NOISE_E = 1.6
BRIGHTEST_ADU = 150.0  # where the camera's gain puts the crest of an ordinary filament


class Scene(NamedTuple):
    """Filaments of one field, each with `points` points along its centre line."""

    course: NDArray[np.float64]  # (y, x), shape (n, points, 2)
    exists: NDArray[np.bool_]  # where a filament has not ended yet and lies in the field or near
    bright: NDArray[np.float64]  # relative, shape (n,)
    sigma_px: NDArray[np.float64]  # of the optics at its height, shape (n,)
    sharp: NDArray[np.bool_]  # near the focus, shape (n,)


class Imaging(NamedTuple):
    """How a difficulty is imaged."""

    crest: float  # photo-electrons of a pixel on an ordinary filament
    haze: float  # light out of focus, relative to the crest
    unevenness: float  # of the dye along a filament, standard deviation over mean

    @classmethod
    def of(cls, difficulty: float) -> Imaging:
        """From 48 photo-electrons on a clear ground to 7.5 on a hazy one."""
        crest = float(quantise(48.0 * 2.0 ** (-2.68 * difficulty)))
        return cls(crest, 0.2 + 0.5 * difficulty, 0.2 + 0.4 * difficulty)


def simulate(
    out: Path,
    *,
    seed: int,
    difficulty: float = 0.5,
    dims: str | None = None,
    scale: Literal["quick", "standard", "paper"] = "quick",
) -> None:
    """Write `input/report_0001.noisy.tiff` to `_0016` and `evaluation/report_0001.binary.tiff` ...

    Parameters
    ----------
    out
        Capsule folder.
    seed
        Same seed, same bytes.
    difficulty
        0 to 1: fewer photons, more haze, more uneven dye; the filaments stay where they are.
    dims
        None or "2D", the only one there is.
    scale
        Side of a field: 256, 448 or 672 px, at the same density.
    """
    if dims not in (None, "2D"):
        raise ValueError(f"these fields are 2D, got dims={dims!r}")
    size, imaging = FIELD_PX[scale], Imaging.of(difficulty)
    for index in tracked(range(IMAGES)):
        scene = grow(stream(seed, index, 0), size, index)
        dye = label(stream(seed, index, 1), scene, imaging)
        ground = background(stream(seed, index, 2), scene, size, imaging)
        lines = near_focus(scene, dye, size, imaging)
        light = (lines + ground) * illumination(stream(seed, index, 3), (size, size), 0.5)
        image = record(stream(seed, index, 4), light, imaging)
        name = f"report_{index + 1:04d}"
        write_tiff(out / "input" / f"{name}.noisy.tiff", image, compressed=scale != "paper")
        mask = reference(scene, dye, ground, size, imaging)
        target = out / "evaluation" / f"{name}.binary.tiff"
        write_tiff(target, mask.astype(np.uint8))


def grow(rng: np.random.Generator, size: int, index: int) -> Scene:
    """Let filaments grow until they cover their share of the field, and as many out of focus."""
    pixel_um = float(rng.uniform(*PIXEL_UM))
    sigma = FWHM_UM * SIGMA_PER_FWHM / pixel_um
    wanted_px = float(rng.uniform(*COVERED)) * size**2 / (2.5 * sigma)
    count = 12 + round(wanted_px / 25)
    start, heading = fan(rng, count, size) if index % 2 else scatter(rng, count, size)
    course = worm_like_chains(
        rng,
        start,
        heading,
        length_px=LENGTH_UM[1] / pixel_um,
        persistence_px=PERSISTENCE_UM[index % len(PERSISTENCE_UM)] / pixel_um,
    )
    length = rng.uniform(*LENGTH_UM, count) / pixel_um
    exists = np.arange(course.shape[1]) * STEP_PX < length[:, None]
    inside = exists & ((course > -0.5) & (course < size - 0.5)).all(axis=2)
    reach = np.cumsum(inside.sum(axis=1) * STEP_PX)
    sharp = reach - inside.sum(axis=1) * STEP_PX < wanted_px
    exists[reach > 2 * wanted_px] = False
    # A little off the focus a line is wider and, with the same light, paler.
    wider = 1 + 0.3 * rng.random(count) ** 2
    bright = np.exp(0.3 * np.clip(rng.standard_normal(count), -2, 2))
    return Scene(course, exists, quantise(bright), quantise(sigma * wider, 2.0**-10), sharp)


def scatter(
    rng: np.random.Generator, count: int, size: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return random places, in a margin too, and random directions."""
    return rng.uniform(-0.2 * size, 1.2 * size, (count, 2)), rng.uniform(-np.pi, np.pi, count)


def fan(
    rng: np.random.Generator, count: int, size: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return places round a centrosome, from near to far, and directions away from it."""
    centre = rng.uniform(-0.1 * size, 1.1 * size, 2)
    turn = rng.uniform(-np.pi, np.pi, count)
    away = 25.0 + 0.5 * size * rng.random(count)
    start = centre + away[:, None] * np.stack([np.sin(turn), np.cos(turn)], axis=1)
    return start, turn + 0.25 * rng.standard_normal(count)


def label(rng: np.random.Generator, scene: Scene, imaging: Imaging) -> NDArray[np.float64]:
    """Return the light of each point of each filament relative to an ordinary one, 0 beyond it."""
    count, points = scene.exists.shape
    dye = speckles(rng, count, points, spacing_px=SPECKLE_PX, variation=imaging.unevenness)
    return dye * scene.bright[:, None] * scene.exists


def near_focus(
    scene: Scene, dye: NDArray[np.float64], size: int, imaging: Imaging
) -> NDArray[np.float64]:
    """Return the photons of the filaments near the focus."""
    lit = (dye > 0) & scene.sharp[:, None]
    sharpest = float(scene.sigma_px.min())
    # Of light L per length of line, L / (sigma sqrt(2 pi)) falls on its crest.
    along = imaging.crest * STEP_PX * sharpest * np.sqrt(2 * np.pi)
    sigma = np.broadcast_to(scene.sigma_px[:, None], lit.shape)[lit]
    return shine((size, size), scene.course[lit], quantise(along * dye[lit]), sigma)


def background(
    rng: np.random.Generator, scene: Scene, size: int, imaging: Imaging
) -> NDArray[np.float64]:
    """Return the photons of everything else: dark ground, free tubulin, filaments out of focus."""
    field = (size, size)
    lit = scene.exists & ~scene.sharp[:, None]
    far = shine(field, scene.course[lit][::2], 2 * STEP_PX, 1.0)
    blurred = gaussian_psf_blur(far, HAZE_SIGMA_PX) * HAZE_SIGMA_PX
    tubulin = np.clip(1.0 + 0.5 * smooth_noise(rng, field, 45.0), 0.2, 2.5)
    grain = 1 + 0.1 * smooth_noise(rng, field, 6.0)
    uneven = BACKGROUND * np.clip(1 + 0.25 * smooth_noise(rng, field, 70.0), 0.4, None)
    total = uneven + imaging.haze * imaging.crest * (tubulin * grain + blurred)
    return np.asarray(total, dtype=np.float64)


def record(
    rng: np.random.Generator, light: NDArray[np.float64], imaging: Imaging
) -> NDArray[np.uint8]:
    """Take the picture with a gain that fills the 8 bits."""
    gain = quantise(BRIGHTEST_ADU / (BACKGROUND + (1.5 + 2 * imaging.haze) * imaging.crest))
    counts = camera(
        light,
        rng,
        offset_adu=OFFSET_ADU,
        read_noise_e=READ_NOISE_E,
        gain=float(gain),
        bits=8,
    )
    return counts.astype(np.uint8)


def reference(
    scene: Scene,
    dye: NDArray[np.float64],
    ground: NDArray[np.float64],
    size: int,
    imaging: Imaging,
) -> NDArray[np.bool_]:
    """Mark the visible filaments, as wide as they appear."""
    y, x = np.rint(scene.course).astype(np.int64).transpose(2, 0, 1)
    inside = scene.exists & (y >= 0) & (y < size) & (x >= 0) & (x < size)
    under = ground[y.clip(0, size - 1), x.clip(0, size - 1)]
    crest = imaging.crest * dye * (scene.sigma_px.min() / scene.sigma_px)[:, None]
    contrast = crest / np.sqrt(crest + under + READ_NOISE_E**2)
    points = inside.sum(axis=1)
    mean = quantise((contrast * inside).sum(axis=1) / np.maximum(points, 1), 2.0**-10)
    long = points * STEP_PX >= SHORTEST_PX
    listed = inside & (scene.sharp & long & (mean >= VISIBLE_CONTRAST))[:, None]
    half = scene.sigma_px / (2 * SIGMA_PER_FWHM)
    radius = np.broadcast_to(half[:, None], listed.shape)[listed]
    return covered((size, size), scene.course[listed], radius)
