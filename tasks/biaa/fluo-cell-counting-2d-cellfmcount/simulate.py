"""Make 21 immunofluorescence fields of progenitor cells and the centres of their cells.

Cells grow in colonies (Thomas clusters) with a least distance; round cells are bright, spread ones
dim with neurites. Two staining batches differ in signal, background and camera. Seven fields hold
debris only, three hold one or two cells.

What cannot be seen is not in the reference. A cell is listed if

* its centre lies in the field, and
* the light at its brightest exceeds the noise there at least `VISIBLE_CONTRAST` times, the noise
  being that of the cell's own light, the background and the camera in one pixel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from evals.simulation import (
    bin_mean,
    camera,
    gaussian_psf_blur,
    quantise,
    stream,
    write_table,
    write_tiff,
)
from evals.simulation.optics import upsampled
from evals.simulation.progress import tracked
from evals.simulation.scatter import keep_apart, thomas_points
from evals.simulation.shapes import Blobs, deposit, draw_blobs, rasterise
from evals.simulation.texture import bent_lines, debris, illumination, smooth_noise

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

FIELD_PX = {"quick": 384, "standard": 768, "paper": 1024}
# Cells of a field of 1024 x 1024 pixels; the last three numbers hold in fields of any size.
DENSITIES = (12, 40, 90, 160, 250, 370, 520, 760, 1050, 1500, 2100)
FEW = (1, 1, 2)
BLANK = 7
MARGIN_PX = 12.0  # cells centred this far outside still show a sliver
FINE = 2  # grid on which light is computed, samples per pixel; outlines are sampled at twice that
READ_NOISE_E = 1.6
VISIBLE_CONTRAST = 1.5


class Batch(NamedTuple):
    """One staining batch and the camera it was recorded with."""

    signal: float  # photo-electrons of a cell of mean brightness, at difficulty 0
    background: float
    bits: int
    offset_adu: float
    gain: float  # counts per electron
    dtype: type[np.unsignedinteger]


BATCHES = (
    Batch(700.0, 60.0, 12, 100.0, 1.6, np.uint16),
    Batch(420.0, 110.0, 8, 8.0, 0.13, np.uint8),
)


class Cells(NamedTuple):
    """Cells of a field, in its margin too."""

    outlines: Blobs
    bright: NDArray[np.float64]  # relative to the batch's mean
    spread: NDArray[np.bool_]  # flat, with neurites
    defocused: NDArray[np.bool_]


def simulate(
    out: Path,
    *,
    seed: int,
    difficulty: float = 0.5,
    dims: str | None = None,
    scale: Literal["quick", "standard", "paper"] = "quick",
) -> None:
    """Write `input/0.tiff` to `20.tiff` and `evaluation/0.csv` to `20.csv` (X,Y) into `out`.

    Parameters
    ----------
    out
        Capsule folder.
    seed
        Same seed, same bytes.
    difficulty
        0 to 1: fewer photons, cells closer together, more of them out of focus, more debris.
    dims
        None or "2d", the only one there is.
    scale
        Side of a field: 384, 768 or 1024 px, at the same densities.
    """
    if dims not in (None, "2d"):
        raise ValueError(f"these fields are 2D, got dims={dims!r}")
    size = FIELD_PX[scale]
    share = (size / 1024) ** 2
    wanted = [0] * BLANK + [*FEW] + [max(3, round(density * share)) for density in DENSITIES]
    order = stream(seed, 0).permutation(len(wanted))
    for index, kind in enumerate(tracked(order.tolist())):
        batch = BATCHES[int(stream(seed, 1, index).integers(0, 2))]
        cells = grow(stream(seed, 2, index), wanted[kind], size, difficulty)
        light = glow(stream(seed, 3, index), cells, size, difficulty, batch)
        image = record(stream(seed, 4, index), light, batch)
        write_tiff(out / "input" / f"{index}.tiff", image)
        rows = reference(cells, size, difficulty, batch)
        write_table(out / "evaluation" / f"{index}.csv", ["X", "Y"], rows)


def photons_of(batch: Batch, difficulty: float) -> float:
    """Light of a cell of mean brightness."""
    return float(quantise(batch.signal * 2.0 ** (-3.5 * difficulty)))


def grow(rng: np.random.Generator, wanted: int, size: int, difficulty: float) -> Cells:
    """Place about `wanted` cells in the field (exactly, where they are one or two)."""
    few = wanted <= max(FEW)
    if few:
        points = quantise(rng.uniform(0.1 * size, 0.9 * size, (400, 2)))
        points = points[keep_apart(points, 60.0)][:wanted]
    else:
        points = colonies(rng, wanted, size, difficulty)
    count = len(points)
    spread = rng.random(count) < 0.3
    # Brightness varies as the logarithm of a normal variable; a rare cell has hardly any stain.
    bright = np.exp(0.45 * rng.standard_normal(count)) * np.where(spread, 0.65, 1.0)
    bright *= np.where(rng.random(count) < 0.06, 0.25, 1.0)
    radius = np.where(spread, 7.6, 6.2) * (1 + 0.1 * np.clip(rng.standard_normal(count), -2, 2))
    stretch = np.where(spread, rng.uniform(1.2, 1.9, count), rng.uniform(1.0, 1.25, count))
    defocused = rng.random(count) < 0.1 + 0.2 * difficulty
    y, x = points.T
    return Cells(
        outlines=draw_blobs(rng, y, x, radius=radius, elongation=stretch, roughness=0.05),
        bright=quantise(np.maximum(bright, 0.8) if few else bright),
        spread=spread,
        defocused=defocused & (not few),
    )


def colonies(
    rng: np.random.Generator, wanted: int, size: int, difficulty: float
) -> NDArray[np.float64]:
    """Half of the cells in colonies, half scattered; nearest neighbours overlap a little."""
    window = size + 2 * MARGIN_PX
    total = round(wanted * (window / size) ** 2)
    parents = max(2, wanted // 20)
    clustered = thomas_points(
        rng, (size, size), parents=parents, children=40.0, spread=24.0, margin=MARGIN_PX
    )
    scattered = quantise(rng.uniform(-MARGIN_PX, size + MARGIN_PX, (4 * total, 2)))
    turns = rng.random(len(clustered) + len(scattered))
    turns[: len(clustered)] *= len(clustered) / max(1, len(scattered))
    points = np.concatenate([clustered, scattered])[np.argsort(turns, kind="stable")]
    inside = ((points > -MARGIN_PX) & (points < size + MARGIN_PX)).all(axis=1)
    points = points[inside]
    return points[keep_apart(points, 11.5 - 7.0 * difficulty)][:total]


def glow(
    rng: np.random.Generator, cells: Cells, size: int, difficulty: float, batch: Batch
) -> NDArray[np.float32]:
    """Return the photo-electrons that reach each pixel on average."""
    field, fine = (size, size), (size * FINE, size * FINE)
    samples = rasterise(cells.outlines, field, 2 * FINE)
    # A cell is a flattened ball: its light follows the thickness.
    light = cells.bright[samples.owner] * np.sqrt(1.02 - samples.rho * samples.rho)
    blurred = cells.defocused[samples.owner]
    sharp = deposit(samples, np.where(blurred, 0, light), fine, 2)
    sharp *= upsampled(1 + 0.16 * smooth_noise(rng, field, 1.2), FINE)
    starts = np.stack([cells.outlines.y, cells.outlines.x], axis=1)[cells.spread]
    sharp += np.float32(0.35) * bent_lines(rng, field, starts, 26.0, FINE)
    specks = round((3 + 18 * difficulty) * (size / 384) ** 2)
    fibres = round((0.3 + 1.4 * difficulty) * int(rng.integers(0, 3)))
    sharp += debris(rng, field, specks=specks, fibres=fibres, oversample=FINE)
    near = bin_mean(gaussian_psf_blur(sharp, 1.1 * FINE), FINE)
    far = bin_mean(deposit(samples, np.where(blurred, light, 0), fine, 2), FINE)
    near += gaussian_psf_blur(far, 2.4)
    photons = photons_of(batch, difficulty)
    haze = 0.12 * photons * upsampled(gaussian_psf_blur(near[::4, ::4], 6.0), 4)
    uneven = batch.background * (1 + 0.18 * smooth_noise(rng, field, size / 5))
    ambient = uneven.clip(0.3 * batch.background, None) + haze
    lit = (photons * near + ambient) * illumination(rng, field, 0.5)
    return np.asarray(lit, dtype=np.float32)


def record(
    rng: np.random.Generator, light: NDArray[np.float32], batch: Batch
) -> NDArray[np.unsignedinteger]:
    """Take the picture in the batch's bit depth."""
    counts = camera(
        light,
        rng,
        offset_adu=batch.offset_adu,
        read_noise_e=READ_NOISE_E,
        gain=batch.gain,
        bits=batch.bits,
    )
    return counts.astype(batch.dtype)


def reference(
    cells: Cells, size: int, difficulty: float, batch: Batch
) -> list[tuple[float, float]]:
    """List the centres (X, Y) of the visible cells from top to bottom."""
    y, x = cells.outlines.y, cells.outlines.x
    in_field = (y > -0.5) & (y < size - 0.5) & (x > -0.5) & (x < size - 0.5)
    # The blur of an out-of-focus cell takes about half of its peak.
    peak = photons_of(batch, difficulty) * cells.bright * np.where(cells.defocused, 0.5, 0.9)
    noise = np.sqrt(peak + batch.background + READ_NOISE_E**2)
    seen = in_field & (peak >= VISIBLE_CONTRAST * noise)
    centres = np.round(np.stack([x, y], axis=1)[seen], 2)
    order = np.lexsort((centres[:, 0], centres[:, 1]))
    return [(column, row) for column, row in centres[order].tolist()]
