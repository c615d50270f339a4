"""Make a confocal mosaic of blood and cancer cells in four colours, tile by tile.

One slide with leukocytes and MCF7 cells, half and half, is scanned in a serpentine of overlapping
tiles. Each tile is seen through the same uneven illumination and the same chromatic shifts, from
where the stage really stood; the file tells where it was meant to stand. Cells come in clumps, so
some overlaps are almost empty. Difficulty moves light, vignetting, haze and the errors of the
stage: cells and stains stay as they are.

The reference mosaic is fused from the very tiles at their true places, even illumination restored.
So it shows what can be seen in the tiles and nothing else: where light does not stand out from its
noise, there is no structure to be put in place. All channels of a tile share one translation; the
chromatic shift, below a pixel, remains, as in a mosaic made by the microscope's own software. The
table holds means over nuclei that lie wholly in the mosaic, measured with their true outlines on
the maximum projection of the reference mosaic.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from evals.simulation.cytometry import FEATURES, moments, whole_regions
from evals.simulation.files import write_table
from evals.simulation.lsm import Recording, write_lsm
from evals.simulation.mosaic import Fusion, Grid, Stage, blend_weights, true_places
from evals.simulation.optics import bin_mean, camera, gaussian_psf_blur
from evals.simulation.progress import tracked
from evals.simulation.quantise import quantise, stream
from evals.simulation.smear import CHANNELS, MCF7, WBC, Biology, Lens, draw_channel, spread_cells
from evals.simulation.texture import illumination

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from evals.simulation.lsm import StoredPlanes
    from evals.simulation.smear import Smear

    Plane = NDArray[np.uint16]
    Field = NDArray[np.float64]

NAME = "day15_1_6_wbc_wbca1_mcf7_dapi_bodipy_panck_cd45_zstack_8x8"
VOXEL_UM = (5.0, 0.415, 0.415)
SLICES_UM = (-5.0, 0.0, 5.0)
MARGIN_PX = 48
# Name, colour and pass band in nm of each channel.
STAINS = (
    ("Bodipy FL", (0, 255, 0), (490.0, 553.0)),
    ("Alexa Fluor 568", (255, 255, 0), (562.0, 633.0)),
    ("DAPI", (0, 0, 255), (408.0, 487.0)),
    ("Alexa Fluor 647", (255, 0, 0), (651.0, 700.0)),
)


class Size(NamedTuple):
    """Grid of tiles, and about how many cells it shows."""

    grid: Grid
    cells: int


SIZES = {
    "quick": Size(Grid(5, 108, 10), 120),
    "standard": Size(Grid(6, 320, 34), 700),
    "paper": Size(Grid(8, 1024, 102), 4000),
}


class Microscope(NamedTuple):
    """Imaging: photons of a bright structure, light lost in corners, haze, and the stage."""

    photons: float
    vignetting: float
    haze: float
    stage: Stage


def simulate(
    out: Path,
    *,
    seed: int,
    difficulty: float = 0.5,
    dims: str | None = None,
    scale: Literal["quick", "standard", "paper"] = "quick",
    biology: Literal["canonical", "randomised"] = "canonical",
) -> None:
    """Write `input/<name>.lsm`, `evaluation/<name>_Stitched.lsm` and `reference_table_1.csv`."""
    if dims not in (None, "3D"):
        raise ValueError(f"a mosaic has three slices: dims must be None or '3D', got {dims!r}")
    size, microscope = SIZES[scale], microscope_of(difficulty)
    grid, compressed = size.grid, scale == "quick"
    slide = spread_cells(
        seed, grid.extent_px, MARGIN_PX, size.cells, VOXEL_UM[1], biology_of(seed, biology)
    )
    places = true_places(stream(seed, 3), grid, microscope.stage)
    light = illumination_of(seed, grid, microscope)
    tiles = write_lsm(
        out / "input" / f"{NAME}.lsm",
        scan(slide, places, light, grid, microscope, seed),
        Recording(
            (grid.side**2, len(SLICES_UM), len(CHANNELS), grid.tile_px, grid.tile_px),
            VOXEL_UM,
            NAME,
            STAINS,
            (grid.serpentine() * grid.step_px + grid.tile_px / 2) * VOXEL_UM[1],
        ),
        compressed=compressed,
    )
    origin = np.floor(places.min(axis=0))
    shape = tuple(int(n) for n in np.ceil((places - origin).max(axis=0)) + grid.tile_px)
    weights = blend_weights(grid.tile_px, grid.overlap_px)
    fusion = Fusion(places - origin, (shape[0], shape[1]), weights)
    mosaic = write_lsm(
        out / "evaluation" / f"{NAME}_Stitched.lsm",
        fuse(tiles, fusion, light),
        Recording((1, len(SLICES_UM), len(CHANNELS), *fusion.shape), VOXEL_UM, NAME, STAINS),
        compressed=compressed,
    )
    save_table(out / "evaluation" / "reference_table_1.csv", slide, mosaic, fusion, origin)


def microscope_of(difficulty: float) -> Microscope:
    """Return the imaging: bright and even at 0; dim, hazy, vignetted and badly driven at 1."""
    return Microscope(
        photons=50 * 0.06**difficulty,
        vignetting=0.2 + 0.4 * difficulty,
        haze=0.01 + 0.05 * difficulty,
        stage=Stage(error_px=2.0 + 2.5 * difficulty, backlash_px=2.0 + 3.0 * difficulty),
    )


def biology_of(seed: int, biology: str) -> Biology:
    """Return how MCF7 cells differ from leukocytes: as known, or drawn from the seed."""
    known, none = Biology(), Biology(size=1.0, lipid=1.0, droplets=1.0, dna=1.0)
    if biology == "canonical":
        return known
    reversed_ = Biology(size=1 / 1.4, lipid=0.45, droplets=0.25, dna=1.2)
    only_lipid = replace(none, lipid=known.lipid, droplets=known.droplets)
    only_size = replace(none, size=known.size)
    choices = (known, none, reversed_, only_lipid, only_size)
    return choices[int(stream(seed, 4).integers(len(choices)))]


def illumination_of(seed: int, grid: Grid, microscope: Microscope) -> list[Field]:
    """Return the light within a tile for each channel, 1 at its brightest."""
    shape = (grid.tile_px, grid.tile_px)
    fields = (
        illumination(stream(seed, 5, channel), shape, microscope.vignetting).astype(np.float64)
        for channel in range(len(CHANNELS))
    )
    return [quantise(field / field.max(), 2.0**-20) for field in fields]


def scan(
    slide: Smear,
    places: Field,
    light: list[Field],
    grid: Grid,
    microscope: Microscope,
    seed: int,
) -> Iterator[Plane]:
    """Record the tiles in their order: by slice, then channel."""
    rng = stream(seed, 6)
    # Lateral colour of a corrected objective: some tenths of a micrometre. DAPI is the reference.
    shift = quantise(rng.uniform(-0.45, 0.45, (len(CHANNELS), 2)))
    enlarged = quantise(rng.uniform(-0.6, 0.6, len(CHANNELS)) / grid.tile_px, 2.0**-20)
    power = quantise(1 + 0.03 * rng.uniform(-1, 1, grid.side**2), 2.0**-12)
    shift[2], enlarged[2] = 0, 0
    for index in tracked(range(grid.side**2)):
        lens = Lens(places[index], grid.tile_px, 2, shift, enlarged, SLICES_UM)
        drawn = [draw_channel(slide, lens, channel) for channel in range(len(CHANNELS))]
        noise = stream(seed, 7, index)
        for z in range(len(SLICES_UM)):
            for channel, glow in enumerate(drawn):
                seen = blur(glow[z], glow.mean(axis=0), microscope)
                photons = microscope.photons * float(power[index]) * light[channel] * seen
                # Detectors that count photons have neither an offset nor read noise.
                yield camera(photons, noise, offset_adu=0, read_noise_e=0)


def blur(
    glow: NDArray[np.float32], all_slices: NDArray[np.float32], microscope: Microscope
) -> Field:
    """Blur a slice as a 20x / 0.8 objective does, and add haze from all depths."""
    sharp = bin_mean(gaussian_psf_blur(glow, 1.4), 2).astype(np.float64)
    coarse = gaussian_psf_blur(bin_mean(all_slices, 2), 10.0)
    return np.asarray(0.015 + sharp + microscope.haze * (0.3 + 3 * coarse), dtype=np.float64)


def fuse(tiles: StoredPlanes, fusion: Fusion, light: list[Field]) -> Iterator[Plane]:
    """Fuse plane by plane."""
    per_tile = len(SLICES_UM) * len(CHANNELS)
    for number in range(per_tile):
        channel = number % len(CHANNELS)
        yield fusion.plane(partial(plane_of, tiles, number, per_tile), light[channel])


def plane_of(tiles: StoredPlanes, number: int, per_tile: int, tile: int) -> Plane:
    """Read one slice of one channel of a tile again."""
    return tiles.plane(tile * per_tile + number)


def save_table(
    path: Path, slide: Smear, mosaic: StoredPlanes, fusion: Fusion, origin: Field
) -> None:
    """Measure both populations on the projection and write their means."""
    outlines = replace(slide.nuclei, y=slide.nuclei.y - origin[0], x=slide.nuclei.x - origin[1])
    labels, chosen = whole_regions(outlines, fusion.shape, fusion.covered())
    kind, rows = slide.kind[chosen], []
    for channel, name in enumerate(CHANNELS):
        projection = mosaic.plane(channel)
        for z in range(1, len(SLICES_UM)):
            projection = np.maximum(projection, mosaic.plane(z * len(CHANNELS) + channel))
        values = moments(projection, labels, outlines, chosen, VOXEL_UM[1])
        for column, feature in enumerate(FEATURES):
            rows.append([label_of(name, feature), *contrast(values[:, column], kind)])
    header = ("Feature", "WBC_Mean", "WBC_SD", "MCF7_Mean", "MCF7_SD", "D")
    write_table(path, header, rows)


def label_of(channel: str, feature: str) -> str:
    """Return the name of a feature as the published table writes it."""
    return f"{channel} Sigma (dBct)" if feature == "Sigma" else f"{channel} <{feature}>"


def contrast(values: Field, kind: NDArray[np.int64]) -> list[Any]:
    """Return mean and SD of both populations, and their distance in pooled SDs."""
    mean, sd = ([f(values[kind == k]) for k in (WBC, MCF7)] for f in (np.mean, spread))
    apart = abs(mean[1] - mean[0]) / np.sqrt((sd[0] ** 2 + sd[1] ** 2) / 2)
    numbers = (mean[0], sd[0], mean[1], sd[1], apart)
    return [round(float(quantise(number, 2.0**-20)), 4) for number in numbers]


def spread(values: Field) -> float:
    """Return the standard deviation of a sample."""
    return float(np.std(values, ddof=1))
