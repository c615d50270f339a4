"""Make stacks of a zebrafish lateral line primordium whose cell membranes glow.

Each stack holds one whole primordium in dark surroundings: tall cells drawn together in rosettes in
the rear, flat ones at the front, and a layer of skin above. Difficulty moves light, depth decay and
haze of the same tissue and the same stain, and beyond the published data the distance of planes:
the reference stays as it is, but for planes that the focus leaves out. The sibling "2d" has single
planes from the middle of the same tissue.

The reference holds every cell of the primordium and nothing of the skin. No cell is cut by the
stack, and even at difficulty 1 an ordinary upright wall at the deepest place outshines the
background, so there is none that cannot be seen. A single plane cuts some cells close to their tip,
where no dark room shows between the walls: a section below `SMALLEST_UM2` is not labelled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evals.simulation.cells3d import place_cells
from evals.simulation.files import write_tiff
from evals.simulation.membranes import Imaging, image_slabs, stain
from evals.simulation.movie import PackedFrames, write_hyperstack
from evals.simulation.primordium import grow_tissue
from evals.simulation.progress import tracked
from evals.simulation.quantise import stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    Planes = Iterator[tuple[NDArray[np.uint8], NDArray[np.uint16]]]

VOXEL_UM = (0.225, 0.099, 0.099)
STACKS = 3
# Depths of the planes of "2d" as shares of a stack: the middle of the tissue, where walls stand.
DEPTHS = (0.5, 0.54, 0.58, 0.62, 0.66, 0.7)
SMALLEST_UM2 = 1.5
# At difficulty 1 the focus stops at every so many planes.
COARSEST = 3


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
    """Write `input/<sample>_8bit_lynEGFP.tif` and `evaluation/<sample>_8bit_lynEGFP_seg.tif`.

    Parameters
    ----------
    out
        Capsule folder.
    seed
        Same seed, same bytes.
    difficulty
        0 to 1: less light, faster decay with depth, more haze; above 0.5 also fewer planes.
    dims
        None or "3d": whole stacks. "2d": single planes `<sample>_8bit_lynEGFP_zNN.tif` of them.
    scale
        Size of a stack and of a cell; "paper" as published.
    """
    if dims not in (None, "3d", "2d"):
        raise ValueError(f"cells fill a volume: dims must be None, '3d' or '2d', got {dims!r}")
    size, imaging = SIZES[scale], microscope(difficulty)
    for number in tracked(range(STACKS)):
        name = f"{sample_id(seed, number)}_8bit_lynEGFP"
        if dims == "2d":
            planes = primordium(size, replace(imaging, step=1), seed, number)
            write_planes(out, name, planes, size)
        else:
            write_volume(out, name, primordium(size, imaging, seed, number), size, imaging.step)


def microscope(difficulty: float) -> Imaging:
    """Return the imaging: bright and clear at 0; dim, hazy, coarse and fading fast at 1."""
    photons = 60 * 0.2**difficulty
    return Imaging(
        photons=photons,
        decay_um=14 * 0.4**difficulty,
        haze=0.02 + 0.1 * difficulty,
        counts=150 / photons,
        step=round(COARSEST ** max(0.0, 2 * difficulty - 1)),
    )


def primordium(size: Size, imaging: Imaging, seed: int, number: int) -> Planes:
    """Grow one tissue, stain its membranes and record it plane by plane."""
    tissue = grow_tissue(stream(seed, number, 0), size.shape, VOXEL_UM)
    cells = place_cells(tissue, stream(seed, number, 1), volume_um3=size.cell_um3)
    dye = stain(cells, stream(seed, number, 2))
    noise = stream(seed, number, 3)
    slab = min(8, 2_000_000 // (size.shape[1] * size.shape[2]))
    for images, labels in image_slabs(cells, dye, imaging, noise, slab):
        yield from zip(images, labels, strict=True)


def sample_id(seed: int, number: int) -> str:
    """Return ten hexadecimal digits, as microscopes' databases give them."""
    return f"{int(stream(seed, number, 4).integers(16**10)):010X}"


def write_volume(out: Path, name: str, planes: Planes, size: Size, step: int) -> None:
    """Write a stack and its labels; memory follows a slab."""
    layout: dict[str, Any] = {
        "shape": (len(range(0, size.shape[0], step)), *size.shape[1:]),
        "axes": "ZYX",
        "pixel_um": VOXEL_UM[2],
        "spacing_um": step * VOXEL_UM[0],
    }
    packed = PackedFrames()

    def images() -> Iterator[NDArray[np.uint8]]:
        for image, labels in planes:
            packed.append(labels)
            yield image

    write_hyperstack(out / "input" / f"{name}.tif", images(), dtype="uint8", **layout)
    write_hyperstack(out / "evaluation" / f"{name}_seg.tif", packed, dtype="uint16", **layout)


def write_planes(out: Path, name: str, planes: Planes, size: Size) -> None:
    """Write some planes of a stack and their labels, each as a file of its own."""
    wanted = {round(depth * size.shape[0]) for depth in DEPTHS}
    for plane, (image, labels) in enumerate(planes):
        if plane in wanted:
            stem = f"{name}_z{plane:02d}"
            write_tiff(out / "input" / f"{stem}.tif", image, pixel_um=VOXEL_UM[2])
            sections = cut_sections(labels)
            write_tiff(out / "evaluation" / f"{stem}_seg.tif", sections, pixel_um=VOXEL_UM[2])


def cut_sections(labels: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Number the sections of one plane: the parts of a bent cell that it cuts twice are two."""
    from skimage.measure import label

    parts = np.asarray(label(labels, connectivity=1))
    area_px = np.bincount(parts.ravel())
    kept = area_px * VOXEL_UM[1] * VOXEL_UM[2] >= SMALLEST_UM2
    kept[0] = False
    return (np.cumsum(kept) * kept)[parts].astype(np.uint16)
