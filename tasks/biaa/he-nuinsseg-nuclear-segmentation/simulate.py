"""Make ten H&E fields of kidney and pancreas and the instance labels of their nuclei.

Tissue is laid out as tubules or acini with stroma between them; each dye's amount follows from the
kind of tissue; light follows Beer and Lambert; then come optics and camera.

What cannot be seen is not in the reference. A nucleus is labelled if

* it took at least `VISIBLE_STAIN` of hematoxylin (pale ones lie out of the section's plane), and
* at least `VISIBLE_PIXELS` pixels and `VISIBLE_SHARE` of its own area lie in the field and under no
  other nucleus.

A pixel bears the label of the topmost nucleus that covers its centre.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evals.simulation import bin_mean, camera, gaussian_psf_blur, stream, write_png, write_tiff
from evals.simulation.nuclei import Kind, Nuclei, populate
from evals.simulation.optics import upsampled
from evals.simulation.progress import tracked
from evals.simulation.scatter import candidates, keep_apart
from evals.simulation.shapes import deposit, draw_blobs, paint_labels, rasterise
from evals.simulation.stain import EOSIN, ERYTHROCYTE, HEMATOXYLIN, transmit, vary_vector
from evals.simulation.texture import illumination, smooth_noise
from evals.simulation.tissue import PAD, Organ, Tissue, lay_out

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

FIELD_PX = {"quick": 288, "standard": 512, "paper": 512}
PIXEL_UM = 0.275
FINE = 2  # grid on which light is computed, samples per pixel; outlines are sampled at twice that
VISIBLE_STAIN, VISIBLE_PIXELS, VISIBLE_SHARE = 0.42, 70, 0.35

ORGANS = {
    "kidney": Organ(
        unit_radius=84.0, gap=9.0, cell_height=(36.0, 52.0), nest_radius=150.0, nest_space=16.0
    ),
    "pancreas": Organ(
        unit_radius=62.0, gap=5.0, cell_height=(44.0, 56.0), nest_radius=105.0, nest_space=0.0
    ),
}
KINDS = {
    "kidney": {
        "epithelium": Kind(14.0, (1.0, 1.25), 1.22, 0.92, 0.95),
        "stroma": Kind(11.5, (1.8, 2.8), 1.5, 0.55, 1.1),
        "nest": Kind(12.5, (1.1, 1.8), 1.12, 0.9, 1.05),
        "lymphoid": Kind(11.3, (1.0, 1.15), 0.98, 1.0, 1.35),
    },
    "pancreas": {
        "epithelium": Kind(12.6, (1.0, 1.2), 1.2, 0.9, 1.05),
        "stroma": Kind(11.2, (1.8, 2.6), 1.6, 0.45, 1.1),
        "nest": Kind(12.0, (1.0, 1.3), 1.1, 0.92, 0.95),
        "lymphoid": Kind(11.3, (1.0, 1.15), 0.98, 1.0, 1.35),
    },
}


def simulate(
    out: Path,
    *,
    seed: int,
    difficulty: float = 0.5,
    dims: str | None = None,
    scale: Literal["quick", "standard", "paper"] = "quick",
) -> None:
    """Write `input/human_<organ>_NN.png` and `evaluation/human_<organ>_NN.tif` into `out`.

    Parameters
    ----------
    out
        Capsule folder.
    seed
        Same seed, same bytes.
    difficulty
        0 to 1: nuclei closer and overlapping, paler, in bluer cytoplasm, less sharp, noisier.
    dims
        None or "2d", the only one there is.
    scale
        Side of a field: 288 px (quick), 512 px as published (standard, paper).
    """
    if dims not in (None, "2d"):
        raise ValueError(f"H&E sections are 2D, got dims={dims!r}")
    for index in tracked(range(10)):
        organ, number = ("kidney", index + 1) if index < 5 else ("pancreas", index - 4)
        stem = f"human_{organ}_{number:02d}"
        picture, labels = make_field(seed, index, organ, FIELD_PX[scale], difficulty)
        write_png(out / "input" / f"{stem}.png", picture)
        write_tiff(out / "evaluation" / f"{stem}.tif", labels)


def make_field(
    seed: int, index: int, organ: str, size: int, difficulty: float
) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
    """Return one field: RGB picture (Y, X, 3) and instance labels (Y, X)."""
    tissue = lay_out(
        stream(seed, index, 0),
        ORGANS[organ],
        size,
        nest=index % 5 in (1, 3),
        lymphoid=index % 5 in (2, 4),
        vessel=index % 5 in (0, 4),
    )
    crowding = 1.06 - 0.26 * difficulty
    nuclei = populate(stream(seed, index, 1), tissue, KINDS[organ], crowding)
    nuclei = replace(nuclei.shifted(-PAD), stain=nuclei.stain * (1.15 - 0.3 * difficulty))
    tissue = tissue.cropped()
    dyes = stain_section(stream(seed, index, 2), tissue, nuclei, organ, difficulty)
    light = transmit(dyes, white=(0.97, 0.95, 0.97))
    picture = photograph(stream(seed, index, 3), light, difficulty)
    return picture, reference(nuclei, size)


def stain_section(
    rng: np.random.Generator, tissue: Tissue, nuclei: Nuclei, organ: str, difficulty: float
) -> dict[Any, NDArray[Any]]:
    """Return the amount of each dye on the fine grid."""
    blue, pink = cytoplasm(rng, tissue, nuclei, organ, difficulty)
    shape = (blue.shape[0], blue.shape[1])
    cover, amount = nuclear_stain(rng, nuclei, shape)
    red = red_cells(rng, tissue, shape) * (1 - cover)
    return {
        vary_vector(rng, HEMATOXYLIN, 0.025): blue * (1 - cover) + amount,
        vary_vector(rng, EOSIN, 0.025): pink * (1 - 0.55 * cover) * (1 - red.clip(0, 1)),
        ERYTHROCYTE: 1.25 * red,
    }


def cytoplasm(
    rng: np.random.Generator, tissue: Tissue, nuclei: Nuclei, organ: str, difficulty: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return hematoxylin and eosin outside nuclei on the fine grid."""
    side = tissue.unit.shape[0]
    unit_tone = rng.uniform(0.8, 1.2, int(tissue.unit.max()) + 1).astype(np.float32)[tissue.unit]
    cell_tone, border = cells_of(rng, nuclei, side)
    grain, cloud = (smooth_noise(rng, (side, side), sigma) for sigma in (1.3, 9.0))
    fibres = 1 - np.abs(smooth_noise(rng, (side, side), 3.0)).clip(0, 1.5)
    pores = smooth_noise(rng, (side, side), 5.0) > 1.1
    basal = 1 - tissue.depth.clip(0, 1)
    if organ == "pancreas":  # basal ergastoplasm is blue, apical zymogen pink and granular
        pink, blue = 0.42 + 0.3 * (1 - basal), 0.1 + 0.3 * basal
    else:
        pink, blue = np.float32(0.62) + 0.0 * basal, np.float32(0.1) + 0.08 * basal
    pink = pink * unit_tone * cell_tone * (1 + 0.2 * grain + 0.1 * cloud) - 0.12 * border
    pink = np.where(tissue.epithelium & (tissue.depth < 0.06), pink + 0.15, pink)
    pink = np.where(tissue.stroma, 0.24 + 0.3 * fibres, pink)
    pink = np.where(tissue.nest | tissue.lymphoid, 0.3 + 0.1 * cloud + 0.06 * grain, pink)
    blue = np.where(tissue.stroma, 0.06, np.where(tissue.nest | tissue.lymphoid, 0.12, blue))
    blue = blue * (0.7 + difficulty) * (1 + 0.25 * grain + 0.3 * cloud).clip(0.2, None)
    empty = tissue.lumen | tissue.vessel | (pores & (tissue.nest | tissue.stroma))
    open_space = gaussian_psf_blur(empty.astype(np.float32), 1.0)
    blue, pink = blue * (1 - open_space), pink * (1 - open_space) + 0.03
    light, rose = (upsampled(dye.clip(0, None), FINE).astype(np.float32) for dye in (blue, pink))
    return light, rose


def cells_of(
    rng: np.random.Generator, nuclei: Nuclei, side: int
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Give each pixel the eosin tone of the cell whose nucleus is nearest, and cell borders."""
    from scipy import ndimage

    seeds = np.zeros((side, side), dtype=np.int32)
    row, column = (
        np.clip(np.rint(axis).astype(np.int64), 0, side - 1)
        for axis in (nuclei.outlines.y, nuclei.outlines.x)
    )
    seeds[row, column] = np.arange(1, row.size + 1)
    nearest = ndimage.distance_transform_edt(
        seeds == 0, return_distances=False, return_indices=True
    )
    owner = seeds[tuple(nearest)]
    tone = rng.uniform(0.85, 1.15, row.size + 1).astype(np.float32)[owner]
    border = ndimage.maximum_filter(owner, 2) != ndimage.minimum_filter(owner, 2)
    return tone, border


def nuclear_stain(
    rng: np.random.Generator, nuclei: Nuclei, shape: tuple[int, int]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the share of each fine sample that nuclei cover, and their hematoxylin."""
    field = (shape[0] // FINE, shape[1] // FINE)
    samples = rasterise(nuclei.outlines, field, 2 * FINE)
    row, column = np.divmod(samples.place, 2 * shape[1])
    clumps = smooth_noise(rng, shape, 2.2)[row // 2, column // 2]
    open_chromatin = nuclei.vesicular[samples.owner]
    rim = samples.rho**6
    contrast = np.where(open_chromatin, 0.34, 0.2)
    inner = np.where(open_chromatin, 0.58 + 0.6 * rim, 0.92 + 0.15 * rim)
    amount = nuclei.stain[samples.owner] * (inner + contrast * clumps).clip(0.1, None)
    # Nuclei out of the plane fade out at their edge; sharp ones are cut at both faces.
    pale = nuclei.stain[samples.owner] < VISIBLE_STAIN
    amount *= np.where(pale, (1 - samples.rho) * 1.6, 1.0)
    covered = np.where(pale, 0.3, 1.0)
    cover = deposit(samples, covered, shape, 2).clip(0, 1)
    return cover, deposit(samples, amount, shape, 2) + nucleoli(rng, nuclei, shape)


def nucleoli(
    rng: np.random.Generator, nuclei: Nuclei, shape: tuple[int, int]
) -> NDArray[np.float32]:
    """One dark nucleolus in most epithelial nuclei."""
    whole = nuclei.outlines
    away = rng.uniform(-0.4, 0.4, (2, len(whole))) * whole.radius
    shows = (rng.random(len(whole)) < 0.7) & nuclei.vesicular & (nuclei.stain > VISIBLE_STAIN)
    dots = draw_blobs(rng, whole.y + away[0], whole.x + away[1], radius=2.4).take(shows)
    samples = rasterise(dots, (shape[0] // FINE, shape[1] // FINE), 2 * FINE)
    return deposit(samples, 0.6 * nuclei.stain[shows][samples.owner], shape, 2)


def red_cells(
    rng: np.random.Generator, tissue: Tissue, shape: tuple[int, int]
) -> NDArray[np.float32]:
    """Red cells: packed in the vein, a few in capillaries; dished, hence paler in the middle."""
    dense = candidates(rng, tissue.vessel, 400)
    sparse = candidates(rng, tissue.stroma | tissue.nest, 20)
    points = np.concatenate([dense, sparse])
    points = points[keep_apart(points, 19.0)]
    cells = draw_blobs(rng, points[:, 0], points[:, 1], radius=11.5, elongation=1.15)
    samples = rasterise(cells, (shape[0] // FINE, shape[1] // FINE), 2 * FINE)
    tone = rng.uniform(0.55, 0.85, len(cells))[samples.owner]
    return deposit(samples, tone * (0.8 + 0.3 * samples.rho**2), shape, 2).clip(0, 1.2)


def photograph(
    rng: np.random.Generator, light: NDArray[np.float32], difficulty: float
) -> NDArray[np.uint8]:
    """Blur, integrate to pixels and record with an 8-bit colour camera; (Y, X, 3)."""
    sharp = (0.7 + 0.7 * difficulty) * FINE
    photons = 4000.0 * 2.0 ** (-2 * difficulty)
    pixels = bin_mean(gaussian_psf_blur(light, (0, sharp, sharp)), (1, FINE, FINE))
    pixels *= illumination(rng, pixels.shape[1:], 0.12)
    planes = [
        camera(photons * plane, rng, offset_adu=0, read_noise_e=2.0, gain=252 / photons, bits=8)
        for plane in pixels
    ]
    return np.stack(planes, axis=-1).astype(np.uint8)


def reference(nuclei: Nuclei, size: int) -> NDArray[np.uint16]:
    """Label the visible nuclei at pixel centres of the field, numbered 1, 2, ..."""
    stained = nuclei.stain >= VISIBLE_STAIN
    outlines = nuclei.outlines.take(stained)
    samples = rasterise(outlines, (size, size))
    number = np.arange(1, len(outlines) + 1)
    labels = paint_labels(samples, number, (size, size))
    seen = np.bincount(labels.ravel(), minlength=len(outlines) + 1)[1:]
    own_area = np.pi * outlines.radius**2
    kept = (seen >= VISIBLE_PIXELS) & (seen >= VISIBLE_SHARE * own_area)
    renumbered = np.where(kept, np.cumsum(kept), 0)
    new = np.concatenate([[0], renumbered])
    return np.asarray(new[labels], dtype=np.uint16)
