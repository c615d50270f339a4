"""Make light-sheet stacks of the blood vessels in the striatum of six mice.

Each stack holds a mesh of capillaries and the trees that feed and drain it. Their walls are
stained; where the light sheet is thick, walls and lumen blur into one. Difficulty takes away light,
thickens the sheet towards the sides, deepens its shadows and strews grains of dye; the vessels and
their stain stay as they are.

The reference holds all of a vessel, wall and lumen, up to the faces of the stack. No vessel is
stained by less than 0.6 of the average; even at difficulty 1, 19 of 20 places in the middle of
vessels outshine what is round them by three standard deviations of the noise, once smoothed over
the width of a capillary. Grains are no vessels.

As images (`dims="2d"`) the same stacks are cut in slabs 40 µm thick, each projected at its
brightest after the noise.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Literal

import numpy as np

from evals.simulation.files import write_planes, write_tiff
from evals.simulation.light_sheet import Sheet, Volume, record
from evals.simulation.progress import tracked
from evals.simulation.quantise import stream
from evals.simulation.tubes import Tubes
from evals.simulation.vasculature import bend, grow_network

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from numpy.typing import NDArray

    Planes = Iterator[NDArray[Any]]

VOXEL_UM = (2.0, 0.975, 0.975)
ANIMALS = (204, 218, 608, 640, 641, 642)
SHAPES = {"quick": (40, 132, 132), "standard": (96, 320, 320), "paper": (256, 700, 700)}
SLAB = 20


def simulate(
    out: Path,
    *,
    seed: int,
    difficulty: float = 0.5,
    dims: str | None = None,
    scale: Literal["quick", "standard", "paper"] = "quick",
) -> None:
    """Write `input/control<id>_r_RA.tiff` and `evaluation/Binary_control<id>_r_RA.tiff`."""
    if dims not in (None, "3d", "2d"):
        raise ValueError(f"these vessels fill a volume: dims must be None or '2d', got {dims!r}")
    save = save_slabs if dims == "2d" else save_stack
    for number, animal in enumerate(tracked(ANIMALS)):
        volume = Volume(SHAPES[scale], VOXEL_UM)
        tubes = vessels(volume, seed, number)
        sheet = microscope(difficulty)
        name = f"control{animal}_r_RA"
        save(out / "input", name, record(tubes, volume, sheet, seed, number, 2), volume, "uint16")
        save(out / "evaluation", f"Binary_{name}", masks(tubes, volume), volume, "uint8")


def microscope(difficulty: float) -> Sheet:
    """Return the light and the optics: bright and clear at 0; dim, hazy and striped at 1."""
    return Sheet(
        photons=240 * 0.3**difficulty,
        background=0.1 + 0.12 * difficulty,
        lateral_um=0.7,
        waist_um=5 + 3.5 * difficulty,
        flare=1.3 + 0.4 * difficulty,
        depth_loss=0.15 + 0.25 * difficulty,
        sheet_loss=0.1 + 0.3 * difficulty,
        stripes=0.05 + 0.11 * difficulty,
        haze=0.1 + 0.3 * difficulty,
        specks=2_000 + 28_000 * difficulty,
    )


def vessels(volume: Volume, seed: int, number: int) -> Tubes:
    """Grow the vessels of one animal."""
    network = grow_network(stream(seed, number, 0), volume.size_um)
    return Tubes(bend(stream(seed, number, 1), network, volume.size_um))


def masks(tubes: Tubes, volume: Volume) -> Planes:
    """Yield the reference plane by plane; 1 is vessel."""
    for plane in range(volume.shape[0]):
        yield tubes.mask(volume.depth_um(plane), volume.grid).astype(np.uint8)


def save_stack(folder: Path, name: str, planes: Planes, volume: Volume, dtype: str) -> None:
    """Write a stack (Z, Y, X) without any metadata, as the published ones are."""
    write_planes(folder / f"{name}.tiff", planes, shape=volume.shape, dtype=dtype)


def save_slabs(folder: Path, name: str, planes: Planes, volume: Volume, dtype: str) -> None:
    """Write the maximum projection of each slab as an image (Y, X)."""
    for slab in range(volume.shape[0] // SLAB):
        brightest = np.max(list(islice(planes, SLAB)), axis=0).astype(dtype)
        write_tiff(folder / f"{name}_slab{slab:02d}.tiff", brightest)
