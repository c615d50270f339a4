"""Make RGB fields of HeLa cells and, of each cell, its nucleus and its whole body.

Cells grow in patches from sparse to confluent; bodies spread until they meet. Actin (red) is a thin
sheet with a bright edge and fibres, unevenly stained; DNA (blue) tells the cell cycle: sisters just
divided, large nuclei before division, bright plates of dividing cells in round bodies. Green is
empty. Light out of focus lies over everything. Debris glows in both stains.

What cannot be seen is not in the reference. A cell is labelled in both masks, with one number, if

* at least `VISIBLE_PIXELS` pixels and `VISIBLE_SHARE` of its nucleus lie in the field and under no
  other nucleus, and
* its nucleus and its body stand out from what lies around them by at least `VISIBLE_CONTRAST`
  times the noise of one pixel there.

A cell whose nucleus lies outside the field is in neither mask, though its edge may glow at the
border: bodies are known by their nuclei. A pixel belongs to the cell that holds its centre.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from evals.simulation import camera, quantise, stream, write_tiff
from evals.simulation.cell_stain import actin, chromatin, litter, of_cells, wide_field
from evals.simulation.monolayer import Form, Monolayer, Territories, grow_monolayer, hold_ground
from evals.simulation.progress import tracked
from evals.simulation.texture import illumination, smooth_noise

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Plane = NDArray[np.float32]

# Number of images, rows, columns.
SIZES = {"quick": (12, 260, 348), "standard": (24, 520, 696), "paper": (265, 520, 696)}
FIRST_ID, LAST_ID = 2408, 2676  # names of the published images lie in this range
MARGIN_PX = 30.0
FINE = 3  # samples per pixel along each axis; the middle one is the pixel's centre
READ_NOISE_E = 2.0
VISIBLE_PIXELS, VISIBLE_SHARE, VISIBLE_CONTRAST = 60, 0.15, 1.5

# HeLa at 0.645 µm a pixel: nuclei 23 to 31 px (15 to 20 µm) wide. Bodies about twice as wide are an
# estimate from the looks of spread HeLa (600 to 1,000 µm²), as are actin's texture and the rest.
HELA = Form(
    nucleus_px=13.6,
    nucleus_cv=0.09,
    nucleus_elongation=(1.0, 1.45),
    body_reach=(1.6, 2.5),
    body_elongation=(1.0, 2.3),
    roughness=0.12,
    room=1.32,
    sisters=0.14,
)
DIVIDING = 0.03  # share of cells in mitosis, some percent in an unsynchronised culture


class Optics(NamedTuple):
    """What the difficulty sets; light in photo-electrons of a mean cell."""

    actin_e: float
    dna_e: float
    ambient: float  # even background as a share of a mean cell's light
    haze: float  # light out of focus as a share of that in focus
    sigma_px: float
    cortex: float  # how much brighter a cell's edge is
    uneven: float  # patchiness of actin
    spread: float  # cells' brightness: standard deviation of its logarithm
    debris: float  # share of 60 specks on 520 x 696 pixels


class Cells(NamedTuple):
    """Cells of a field and its margin, with their stain relative to the mean."""

    layer: Monolayer
    actin: NDArray[np.float64]  # exponent: cells differ more the harder the task
    dna: NDArray[np.float64]


def simulate(
    out: Path,
    *,
    seed: int,
    difficulty: float = 0.5,
    dims: str | None = None,
    scale: Literal["quick", "standard", "paper"] = "quick",
) -> None:
    """Write `input/<id>.tif` and `evaluation/{nuclei,cytoplasm}_masks/<id>.tif` into `out`.

    Parameters
    ----------
    out
        Capsule folder.
    seed
        Same seed, same bytes.
    difficulty
        0 to 1: fewer photons, more haze and background, less sharp, actin patchier and its edges
        fainter, cells more unlike, more debris. The cells stay where they are.
    dims
        None or "2D", the only one there is.
    scale
        12 images of 260 x 348 px (quick), 24 (standard) or 265 (paper) of 520 x 696 px.
    """
    if dims not in (None, "2D"):
        raise ValueError(f"these fields are 2D, got dims={dims!r}")
    count, *field = SIZES[scale]
    names = FIRST_ID + stream(seed, 0).permutation(LAST_ID - FIRST_ID + 1)[:count]
    for name in tracked(sorted(names.tolist())):
        picture, nuclei, bodies = make_field(seed, name, (field[0], field[1]), difficulty)
        write_tiff(out / "input" / f"{name}.tif", picture)
        write_tiff(out / "evaluation" / "nuclei_masks" / f"{name}.tif", nuclei)
        write_tiff(out / "evaluation" / "cytoplasm_masks" / f"{name}.tif", bodies)


def optics_of(difficulty: float) -> Optics:
    """Translate the difficulty."""
    d = float(quantise(difficulty))
    return Optics(
        actin_e=700.0 * 2.0 ** (-4.5 * d),
        dna_e=900.0 * 2.0 ** (-4.5 * d),
        ambient=0.05 + 0.45 * d,
        haze=0.15 + 1.05 * d,
        sigma_px=0.9 + 1.5 * d,
        cortex=1.2 - 1.0 * d,
        uneven=0.1 + 0.3 * d,
        spread=0.3 + 0.15 * d,
        debris=0.1 + 0.8 * d,
    )


def make_field(
    seed: int, name: int, shape: tuple[int, int], difficulty: float
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]:
    """Return one field: RGB picture (Y, X, 3), labels of nuclei and of bodies (Y, X)."""
    optics = optics_of(difficulty)
    cells = grow(stream(seed, 1, name), shape)
    ground = hold_ground(cells.layer, shape, FINE)
    red = glow_actin(stream(seed, 2, name), cells, ground, optics)
    blue = glow_dna(stream(seed, 3, name), cells, ground, optics)
    dirt = soil(stream(seed, 4, name), shape, optics)
    lamp = illumination(stream(seed, 5, name), shape, 0.35)
    strength = np.float32(optics.actin_e), np.float32(optics.dna_e)
    light = strength[0] * (red + dirt) * lamp, strength[1] * (blue + np.float32(0.7) * dirt) * lamp
    planes = [expose(stream(seed, 6, name, k), plane) for k, plane in enumerate(light)]
    picture = np.stack([planes[0], np.zeros_like(planes[0]), planes[1]], axis=-1)
    return picture, *reference(cells.layer, ground, light)


def grow(rng: np.random.Generator, shape: tuple[int, int]) -> Cells:
    """Seed cells and give each its stain, some of them rounded up to divide."""
    cover = float(quantise(rng.uniform(0.4, 0.95)))
    layer = grow_monolayer(rng, shape, HELA, cover=cover, margin=MARGIN_PX)
    count = len(layer)
    dividing = rng.random(count) < DIVIDING
    radius = np.where(dividing, 0.72, 1.0) * layer.nuclei.radius
    plate = rng.uniform(1.6, 2.6, count)
    nuclei = replace(
        layer.nuclei,
        radius=quantise(radius),
        elongation=quantise(np.where(dividing, plate, layer.nuclei.elongation)),
    )
    bodies = replace(
        layer.bodies,
        y=np.where(dividing, nuclei.y, layer.bodies.y),
        x=np.where(dividing, nuclei.x, layer.bodies.x),
        radius=quantise(np.where(dividing, 1.35 * HELA.nucleus_px, layer.bodies.radius)),
        elongation=np.where(dividing, 1.0, layer.bodies.elongation),
        wobble=np.where(dividing[:, None, None], 0.2, 1.0) * layer.bodies.wobble,
    )
    normal = np.clip(rng.standard_normal((2, count)), -2.2, 2.2)
    return Cells(
        layer=Monolayer(nuclei, bodies),
        actin=normal[0] + 2.0 * dividing,
        dna=np.where(dividing, 2.2, 1 + 0.17 * normal[1]),
    )


def glow_actin(
    rng: np.random.Generator, cells: Cells, ground: Territories, optics: Optics
) -> Plane:
    """Return the light of actin at each pixel, 1 about in the middle of a mean cell."""
    bright = quantise(np.exp(optics.spread * cells.actin))
    stain = actin(rng, ground, FINE, cortex=optics.cortex, uneven=optics.uneven)
    # Over the nucleus the sheet lies higher, a little out of focus.
    stain *= of_cells(bright, ground.cell) * np.where(ground.nucleus >= 0, np.float32(0.85), 1)
    return seen(rng, stain, optics)


def glow_dna(rng: np.random.Generator, cells: Cells, ground: Territories, optics: Optics) -> Plane:
    """Return the light of DNA at each pixel; cytoplasm takes up a trace of the dye."""
    spread = 0.6 * optics.spread * np.clip(rng.standard_normal(len(cells.dna)), -2.2, 2.2)
    bright = quantise(cells.dna * np.exp(spread))
    stain = chromatin(rng, ground, FINE) * of_cells(bright, ground.nucleus)
    stain += np.where(ground.cell >= 0, np.float32(0.03), np.float32(0))
    return seen(rng, stain, optics)


def seen(rng: np.random.Generator, stain: Plane, optics: Optics) -> Plane:
    """Image a stain and add what glows everywhere."""
    pixels = wide_field(stain, FINE, sigma_px=optics.sigma_px, haze=optics.haze, haze_px=14.0)
    clouds = smooth_noise(rng, pixels.shape, 70.0)
    ambient = np.float32(optics.ambient) * (1 + np.float32(0.3) * clouds).clip(0.2, None)
    return np.asarray(pixels + ambient, dtype=np.float32)


def soil(rng: np.random.Generator, shape: tuple[int, int], optics: Optics) -> Plane:
    """Return the light of debris; what lies there at a low difficulty stays at a higher one."""
    most = round(60 * shape[0] * shape[1] / (520 * 696))
    count = round(optics.debris * most)
    sizes, bright = (0.8, 3.8), (0.4, 2.0)
    light = litter(rng, shape, FINE, count=count, most=most, radius_px=sizes, bright=bright)
    return wide_field(light, FINE, sigma_px=optics.sigma_px, haze=0.1, haze_px=6.0)


def expose(rng: np.random.Generator, light: Plane) -> NDArray[np.uint8]:
    """Record in 8 bits, exposed so that the brightest few pixels saturate."""
    brightest = float(quantise(np.quantile(quantise(light), 0.998)))
    counts = camera(
        light,
        rng,
        offset_adu=4.0,
        read_noise_e=READ_NOISE_E,
        gain=float(quantise(240.0 / brightest, 2.0**-20)),
        bits=8,
    )
    return counts.astype(np.uint8)


def reference(
    cells: Monolayer, ground: Territories, light: tuple[Plane, Plane]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Label visible cells at pixel centres: nuclei and bodies with the same numbers."""
    centre = slice(FINE // 2, None, FINE)
    nucleus, cell = ground.nucleus[centre, centre], ground.cell[centre, centre]
    shown = np.bincount(nucleus.ravel() + 1, minlength=len(cells) + 1)[1:]
    whole = np.pi * cells.nuclei.radius**2
    kept = (shown >= VISIBLE_PIXELS) & (shown >= VISIBLE_SHARE * whole)
    for plane, owner in zip(light, (cell, nucleus), strict=True):
        kept &= stands_out(plane, owner, len(cells))
    kept &= np.cumsum(kept) <= np.iinfo(np.uint8).max
    number = np.append(np.where(kept, np.cumsum(kept), 0), 0).astype(np.uint8)
    return number[nucleus], number[cell]


def stands_out(plane: Plane, owner: NDArray[np.int32], count: int) -> NDArray[np.bool_]:
    """Tell which objects are brighter than bare ground by enough noise."""
    light = quantise(plane)
    area = np.bincount(owner.ravel() + 1, minlength=count + 1)[1:]
    total = np.bincount(owner.ravel() + 1, light.ravel(), minlength=count + 1)[1:]
    mean = quantise(total / np.maximum(area, 1))
    ground = float(quantise(np.quantile(light, 0.02)))
    noise = np.sqrt(mean + READ_NOISE_E**2)
    return np.asarray(mean - ground >= VISIBLE_CONTRAST * noise)
