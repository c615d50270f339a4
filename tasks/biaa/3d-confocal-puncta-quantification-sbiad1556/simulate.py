"""Make confocal stacks of nuclei in which a green protein gathers in puncta.

Each stack is a field of transfected cells. How much protein a cell holds varies widely; only where
it exceeds the condition's saturation concentration does the surplus gather in droplets, so most
nuclei have none. The mutants saturate at higher concentrations. Difficulty takes away light and
adds haze, background and bleaching; cells and droplets stay as they are.

The reference holds every nucleus whose centre lies in the field. It counts the tops of light,
seen through the optics and without noise, that droplets give rise to and that are at least twice as
bright as what is dissolved in the nucleus; droplets that the optics cannot part make one top.
Neither depends on the difficulty.

The smaller scales show the same kind of cells, somewhat smaller, through a weaker objective with
larger voxels of the same proportions; the files say how large. As images (`dims="2d"`)
the middle planes of each field are projected at their brightest after the noise; `z` is 0, and
tops of the projection count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evals.simulation.condensates import Droplets, condense, droplet_mask, express
from evals.simulation.files import write_table, write_tiff
from evals.simulation.nuclei3d import Nuclei, place_nuclei
from evals.simulation.progress import tracked
from evals.simulation.quantise import stream
from evals.simulation.spinning_disk import Exposure, Optics, expose, focus, stain, tops

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from evals.simulation.spinning_disk import Uptake

# The published folders, their numbers of files, and where the protein saturates.
CONDITIONS = {
    "08172023_ZR_WT": 10,
    "08172023_ZR_3DBDmut": 8,
    "08172023_ZRC129A_H144A_fix": 9,
}
LOW, MIDDLE, HIGH = 0.9, 1.6, 2.5
CANONICAL = (LOW, MIDDLE, HIGH)
WORLDS = {
    "canonical": CANONICAL,
    "null": (MIDDLE, MIDDLE, MIDDLE),
    "reversed": (HIGH, MIDDLE, LOW),
    "one line": (HIGH, LOW, HIGH),
    "other order": (MIDDLE, HIGH, LOW),
}
# As the published analysis has it: what is below twice the nucleus's median is no punctum.
LEAST_CONTRAST = 2.0
# How far a projection reaches below and above the middle plane.
IN_FOCUS_UM = 0.8


@dataclass(frozen=True)
class Size:
    """How the cells are seen, and the mean radius of a nucleus."""

    optics: Optics
    radius_um: float


SIZES = {
    "quick": Size(Optics((11, 96, 96), (0.8, 0.26, 0.26), 2, (1.3, 0.35)), 3.2),
    "standard": Size(Optics((24, 300, 300), (0.4, 0.13, 0.13), 2, (0.8, 0.26)), 4.0),
    "paper": Size(Optics((61, 872, 872), (0.2, 0.065, 0.065), 1, (0.6, 0.21)), 5.0),
}
HEADER = (
    "condition",
    "Image name",
    "label",
    "z",
    "y",
    "x",
    "ROI volume pix",
    "ROI volume um",
    "GFP mean intensity per ROI",
    "number of GFP puncta",
    "total GFP puncta volume um per ROI",
)
PUNCTA_HEADER = ("condition", "Image name", "label", "z", "y", "x", "volume um")


@dataclass(frozen=True)
class Field:
    """What lies in one field of view."""

    nuclei: Nuclei
    dissolved: NDArray[np.float64]
    droplets: Droplets


def simulate(
    out: Path,
    *,
    seed: int,
    difficulty: float = 0.5,
    dims: str | None = None,
    scale: Literal["quick", "standard", "paper"] = "quick",
    biology: Literal["canonical", "randomised"] = "canonical",
) -> None:
    """Write `input/<condition>/<image>.tif` and `evaluation/cell_quants.csv` with its parts."""
    if dims not in (None, "3d", "2d"):
        raise ValueError(f"these nuclei fill a volume: dims must be None or '2d', got {dims!r}")
    saturation = world(seed, biology)
    jobs = [
        (condition, saturation[at], number)
        for at, (condition, files) in enumerate(CONDITIONS.items())
        for number in range(files)
    ]
    table = []
    for at, (condition, saturates, number) in enumerate(tracked(jobs)):
        name = f"{condition}_{number + 1:02d}.tif"
        rows = picture(
            out,
            condition,
            name,
            field(SIZES[scale], saturates, seed, at),
            SIZES[scale].optics,
            exposures(difficulty),
            flat=dims == "2d",
            key=(seed, at),
        )
        table += rows
    write_table(out / "evaluation" / "cell_quants.csv", HEADER, table)


def world(seed: int, biology: str) -> tuple[float, float, float]:
    """Return where the protein of each condition saturates."""
    if biology == "canonical":
        return CANONICAL
    names = sorted(WORLDS)
    return WORLDS[names[int(stream(seed, 1_000).integers(len(names)))]]


def exposures(difficulty: float) -> tuple[Exposure, Exposure]:
    """Return the light of both channels: bright and clear at 0; dim, hazy, bleaching at 1."""
    background = 0.04 + 0.16 * difficulty
    haze = 0.1 + 0.5 * difficulty
    bleaching = 0.1 + 0.65 * difficulty
    return (
        Exposure(120 * 0.045**difficulty, background, haze, bleaching),
        Exposure(50 * 0.04**difficulty, background, haze, bleaching),
    )


def field(size: Size, saturates: float, seed: int, number: int) -> Field:
    """Lay out one field: its nuclei, how much protein they hold, and the droplets."""
    nuclei = place_nuclei(stream(seed, number, 0), size.optics.size_um, size.radius_um)
    level = express(stream(seed, number, 1), len(nuclei))
    lateral, axial = size.optics.parted_um
    droplets = condense(
        stream(seed, number, 2), nuclei, level, saturates, (1.5 * lateral, 1.0 * axial)
    )
    return Field(nuclei, np.minimum(level, saturates), droplets)


def picture(
    out: Path,
    condition: str,
    name: str,
    scene: Field,
    optics: Optics,
    light: tuple[Exposure, Exposure],
    *,
    flat: bool,
    key: tuple[int, int],
) -> list[list[object]]:
    """Record one field, write its files, and return its rows of the table of nuclei."""
    stains, uptake = stain(scene.nuclei, scene.dissolved, scene.droplets, optics, *key, 3)
    stack = np.zeros((optics.shape[0], 2, *optics.shape[1:]), np.uint16)
    place = scene.droplets.place_um
    inside = np.all((place >= 0) & (place < optics.size_um), axis=1)
    drops = scene.droplets.take(inside)
    for channel in range(2):
        focused = focus(stains.pop(0), optics)
        planes = expose(focused, light[channel], optics, stream(*key, 4, channel))
        for z, plane in enumerate(planes):
            stack[z, channel] = plane
    if flat:
        stack, focused = projected(stack, optics), projected(focused, optics)
    top, height = tops(focused, drops, optics)
    clear = (top >= 0) & (height >= LEAST_CONTRAST * scene.dissolved[drops.owner])
    visible = drops.take(clear)
    path, spacing = out / "input" / condition / name, optics.voxel_um[0]
    if flat:
        write_tiff(path, stack[0], axes="CYX", pixel_um=optics.voxel_um[2])
    else:
        write_tiff(path, stack, axes="ZCYX", pixel_um=optics.voxel_um[2], spacing_um=spacing)
        mask = droplet_mask(optics.shape, visible, optics.voxel_um)
        segmented = out / "evaluation" / "puncta_segm" / condition / name
        write_tiff(segmented, mask, axes="ZYX", pixel_um=optics.voxel_um[2], spacing_um=spacing)
    rows = nucleus_rows(condition, name, scene, uptake, visible, top[clear], optics, flat=flat)
    trimmed = f"{name.removesuffix('.tif')}_trimmed.csv"
    write_table(out / "evaluation" / "cell_quants" / condition / trimmed, HEADER, rows)
    puncta = punctum_rows(condition, name, visible, optics, flat=flat)
    write_table(out / "evaluation" / "puncta_quants" / condition / trimmed, PUNCTA_HEADER, puncta)
    return rows


def projected(stack: NDArray[Any], optics: Optics) -> NDArray[Any]:
    """Return the brightest of the planes in focus, the middle ones, as a stack of one plane."""
    middle, reach = len(stack) // 2, round(IN_FOCUS_UM / optics.voxel_um[0])
    return np.asarray(stack[middle - reach : middle + reach + 1].max(axis=0, keepdims=True))


def nucleus_rows(
    condition: str,
    name: str,
    scene: Field,
    uptake: Uptake,
    visible: Droplets,
    top: NDArray[np.int64],
    optics: Optics,
    *,
    flat: bool,
) -> list[list[object]]:
    """Return one row a nucleus."""
    count = len(scene.nuclei)
    _, first = np.unique(top, return_index=True)
    puncta = np.bincount(visible.owner[first], minlength=count)
    condensed = np.bincount(visible.owner, visible.volume_um3, minlength=count)
    voxels = uptake.samples / optics.oversample**3
    um3 = voxels * float(np.prod(optics.voxel_um))
    mean = uptake.protein / uptake.samples.clip(1)
    place = uptake.place * (0, 1, 1) if flat else uptake.place
    return [
        [
            condition,
            name,
            at + 1,
            *(round(float(v), 2) for v in place[at]),
            round(float(voxels[at]), 1),
            round(float(um3[at]), 3),
            round(float(mean[at]), 3),
            int(puncta[at]),
            round(float(condensed[at]), 3),
        ]
        for at in range(count)
        if uptake.samples[at]
    ]


def punctum_rows(
    condition: str, name: str, visible: Droplets, optics: Optics, *, flat: bool
) -> list[list[object]]:
    """Return one row a droplet."""
    place = visible.place_um / optics.voxel_um - 0.5
    place = place * (0, 1, 1) if flat else place
    return [
        [condition, name, int(owner) + 1, *(round(float(v), 2) for v in at), round(float(um3), 4)]
        for owner, at, um3 in zip(visible.owner, place, visible.volume_um3, strict=True)
    ]
