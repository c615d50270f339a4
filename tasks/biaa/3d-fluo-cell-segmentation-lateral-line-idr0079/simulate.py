"""Make stacks of a zebrafish lateral line primordium whose cell membranes glow.

Each stack holds one whole primordium in dark surroundings: tall cells drawn together in rosettes in
the rear, flat ones at the front, and a layer of skin above. Difficulty moves light, depth decay and
haze of the same tissue and the same stain: the reference stays as it is.

The reference holds every cell of the primordium and nothing of the skin. No cell is cut by the
stack, and even at difficulty 1 an ordinary upright wall at the deepest place outshines the
background, so there is none that cannot be seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from evals.simulation.cells3d import place_cells
from evals.simulation.files import write_tiff
from evals.simulation.membranes import Imaging, image_slabs, stain
from evals.simulation.primordium import grow_tissue
from evals.simulation.quantise import stream

if TYPE_CHECKING:
    from pathlib import Path

VOXEL_UM = (0.225, 0.099, 0.099)
STACKS = 3


@dataclass(frozen=True)
class Size:
    """Planes, rows and columns of a stack, and the mean volume of a cell in µm³."""

    shape: tuple[int, int, int]
    cell_um3: float


SIZES = {
    "quick": Size((60, 184, 440), 105.0),
    "standard": Size((72, 288, 720), 180.0),
    "paper": Size((100, 500, 1300), 400.0),
}


def simulate(
    out: Path,
    *,
    seed: int,
    difficulty: float = 0.5,
    dims: str | None = None,
    scale: Literal["quick", "standard", "paper"] = "quick",
) -> None:
    """Write `input/<sample>_8bit_lynEGFP.tif` and `evaluation/<sample>_8bit_lynEGFP_seg.tif`."""
    if dims not in (None, "3D"):
        raise ValueError(f"these cells fill a volume: dims must be None or '3D', got {dims!r}")
    for number in range(STACKS):
        name = f"{sample_id(seed, number)}_8bit_lynEGFP"
        image, labels = primordium(SIZES[scale], microscope(difficulty), seed, number)
        save(out / "input" / f"{name}.tif", image)
        save(out / "evaluation" / f"{name}_seg.tif", labels)


def microscope(difficulty: float) -> Imaging:
    """Return the imaging: bright and clear at 0; dim, hazy and fading fast with depth at 1."""
    photons = 60 * 0.2**difficulty
    return Imaging(
        photons=photons,
        decay_um=14 * 0.4**difficulty,
        haze=0.02 + 0.1 * difficulty,
        counts=150 / photons,
    )


def primordium(
    size: Size, imaging: Imaging, seed: int, number: int
) -> tuple[np.ndarray, np.ndarray]:
    """Grow one tissue, stain its membranes and record it plane by plane."""
    tissue = grow_tissue(stream(seed, number, 0), size.shape, VOXEL_UM)
    cells = place_cells(tissue, stream(seed, number, 1), volume_um3=size.cell_um3)
    dye = stain(cells, stream(seed, number, 2))
    slabs = list(image_slabs(cells, dye, imaging, stream(seed, number, 3)))
    return np.concatenate([image for image, _ in slabs]), np.concatenate([seg for _, seg in slabs])


def sample_id(seed: int, number: int) -> str:
    """Return ten hexadecimal digits, as microscopes' databases give them."""
    return f"{int(stream(seed, number, 4).integers(16**10)):010X}"


def save(path: Path, stack: np.ndarray) -> None:
    """Write a stack (Z, Y, X) that Fiji opens with its voxel size."""
    write_tiff(path, stack, axes="ZYX", pixel_um=VOXEL_UM[2], spacing_um=VOXEL_UM[0])
