"""Segment membrane-labelled cells in 3D stacks and measure their shapes, the classical way.

Usage: python solve.py INPUT_DIR OUTPUT_DIR
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import tifffile
from scipy import ndimage as ndi
from skimage.filters import threshold_otsu
from skimage.measure import label as components
from skimage.measure import marching_cubes, mesh_surface_area
from skimage.morphology import h_maxima
from skimage.segmentation import find_boundaries, watershed

mpl.use("Agg")
import matplotlib.pyplot as plt

# Used where a file carries no voxel size.
VOXEL_UM = (0.225, 0.099, 0.099)
SEED_HEIGHT_UM = 0.25
SMALLEST_UM3, SMALLEST_UM2 = 8.0, 1.5


@dataclass(frozen=True)
class Stack:
    """An image as recorded (a single plane has one of them), and on nearly cubic voxels.

    `even` is binned twofold in the plane; where planes lie far apart, more are put between them.
    """

    name: str
    image: np.ndarray
    even: np.ndarray
    voxel_um: np.ndarray
    between: int

    @property
    def even_um(self) -> np.ndarray:
        """Size of a nearly cubic voxel."""
        return self.voxel_um / (self.between, 0.5, 0.5)

    @property
    def flat(self) -> bool:
        """Whether there is but one plane."""
        return len(self.image) == 1


def load(path: Path) -> Stack:
    """Read a stack (Z, Y, X) or a plane (Y, X) and its voxel size."""
    with tifffile.TiffFile(path) as tif:
        image = tif.asarray()
        spacing = (tif.imagej_metadata or {}).get("spacing", VOXEL_UM[0])
        tags = tif.pages[0].tags
        pixel = VOXEL_UM[2]
        if "XResolution" in tags and tags["XResolution"].value[0] > 1:
            count, length = tags["XResolution"].value
            # ImageJ counts pixels per µm and names no TIFF unit; else it is the centimetre.
            pixel = (1e4 if tags["ResolutionUnit"].value == 3 else 1) * length / count
    image = image if image.ndim == 3 else image[None]
    even = image[:, : image.shape[1] // 2 * 2, : image.shape[2] // 2 * 2].astype(np.float32)
    even = (even[:, ::2] + even[:, 1::2]) / 2
    even = (even[..., ::2] + even[..., 1::2]) / 2
    between = max(1, round(spacing / VOXEL_UM[0]))
    if between > 1:
        shares = np.arange(between, dtype=np.float32)[:, None, None] / between
        steps = [low + shares * (high - low) for low, high in pairwise(even)]
        even = np.concatenate([*steps, even[-1:]])
    return Stack(path.stem, image, even, np.array([spacing, pixel, pixel]), between)


def flatten_depth(stack: Stack) -> tuple[np.ndarray, float]:
    """Undo the fading with depth by an exponential fitted to the bright voxels of each plane."""
    image = ndi.median_filter(stack.even, 3)
    if stack.flat:
        return image, np.inf
    bright = np.percentile(image, 99, axis=(1, 2))
    depth = np.arange(len(image)) * stack.even_um[0]
    used = bright > 0.25 * bright.max()
    slope = min(np.polyfit(depth[used], np.log(bright[used]), 1)[0], 0.0)
    return image * np.exp(-slope * depth).astype(np.float32)[:, None, None], -1 / (slope or -1e-3)


def segment(stack: Stack) -> tuple[np.ndarray, float]:
    """Label the cells; returns labels on the original grid and the decay length in µm."""
    flat, decay_um = flatten_depth(stack)
    ridge = ndi.gaussian_filter(flat, 0.8)
    walls = ridge > threshold_otsu(ridge[ridge > np.median(ridge)])
    walls |= ridge > 1.25 * ndi.gaussian_filter(ridge, 1.5 / stack.even_um) + 4
    depth = ndi.distance_transform_edt(~walls, sampling=stack.even_um)
    depth = ndi.gaussian_filter(depth, 0.3 / stack.even_um).astype(np.float32)
    seeds = components(h_maxima(np.pad(depth, 1), SEED_HEIGHT_UM)[1:-1, 1:-1, 1:-1])
    # Everything far outside is one region: the one that the walls' cage shuts out.
    regions = watershed(ridge - 2 * depth, seeds)
    labels = drop_background(regions, stack)[:: stack.between]
    full = np.zeros(stack.image.shape, np.uint16)
    wide = labels.repeat(2, axis=1).repeat(2, axis=2)
    full[:, : wide.shape[1], : wide.shape[2]] = wide
    return full, decay_um


def drop_background(labels: np.ndarray, stack: Stack) -> np.ndarray:
    """Remove regions at the image's faces and fragments, and number the rest from 1."""
    size = np.bincount(labels.ravel())
    if stack.flat:
        keep = size * stack.even_um[1:].prod() >= SMALLEST_UM2
    else:
        keep = size * stack.even_um.prod() >= SMALLEST_UM3
    for axis in (1, 2) if stack.flat else (0, 1, 2):
        for face in (0, -1):
            keep[np.unique(np.take(labels, face, axis=axis))] = False
    keep[0] = False
    numbers = np.cumsum(keep) * keep
    return numbers[labels].astype(np.uint16)


def measure(labels: np.ndarray, stack: Stack) -> pd.DataFrame:
    """Measure every cell; lengths in µm, centroids in pixels of the original stack."""
    rows = []
    for cell, box in enumerate(ndi.find_objects(labels), start=1):
        if box is not None:
            rows.append(measure_cell(labels[box] == cell, box, cell, stack))
    return pd.DataFrame(rows)


def measure_cell(
    mask: np.ndarray, box: tuple[slice, ...], cell: int, stack: Stack
) -> dict[str, float]:
    """Measure one cell from its mask within its bounding box."""
    voxels = np.argwhere(mask)
    volume = len(voxels) * float(stack.voxel_um.prod())
    centre = voxels.mean(axis=0)
    apart = (voxels - centre) * stack.voxel_um
    axes = np.sqrt(5 * np.maximum(np.linalg.eigvalsh(np.cov(apart.T)), 1e-9))[::-1]
    far = apart[np.argmax((apart**2).sum(axis=1))]
    reach = float(np.sqrt((far**2).sum()))
    coarse = np.pad(ndi.gaussian_filter(mask[:, ::2, ::2].astype(np.float32), 0.7), 2)
    corners, faces, _, _ = marching_cubes(coarse, 0.5, spacing=tuple(stack.even_um))
    area = float(mesh_surface_area(corners, faces))
    z, y, x = centre + [part.start for part in box]
    return {
        "sample_id": stack.name.split("_")[0],
        "cell_id": cell,
        "centroid_x": x,
        "centroid_y": y,
        "centroid_z": z,
        "volume_voxels": len(voxels),
        "volume_um3": volume,
        "surface_area_um2": area,
        "sphericity": np.pi ** (1 / 3) * (6 * volume) ** (2 / 3) / area,
        "aspect_ratio": axes[0] / axes[2],
        "elongation": axes[0] / axes[1],
        "a_axis_length_um": axes[0],
        "b_axis_length_um": axes[1],
        "c_axis_length_um": axes[2],
        "orientation_x": far[2] / reach,
        "orientation_y": far[1] / reach,
        "orientation_z": far[0] / reach,
        "longest_extension_um": reach,
        "roundness": roundness(corners, axes),
    }


def roundness(corners: np.ndarray, axes: np.ndarray) -> float:
    """Return 1 less the mean relative distance of the surface from the fitted ellipsoid."""
    apart = corners - corners.mean(axis=0)
    _, directions = np.linalg.eigh(np.cov(apart.T))
    scaled = (apart @ directions[:, ::-1]) / axes
    return float(np.clip(1 - np.abs(np.sqrt((scaled**2).sum(axis=1)) - 1).mean(), 0, 1))


def colours(labels: np.ndarray) -> np.ndarray:
    """Give labels well separated hues; 0 is black."""
    hues = (np.arange(int(labels.max()) + 1) * 0.618034) % 1
    table = mpl.colors.hsv_to_rgb(np.stack([hues, 0 * hues + 0.75, 0 * hues + 1], axis=1))
    table[0] = 0
    return np.rint(255 * table).astype(np.uint8)[labels]


def draw_views(stack: Stack, labels: np.ndarray, path: Path) -> None:
    """Show projections and central sections along all three axes with the cells' outlines."""
    middle = [size // 2 for size in labels.shape]
    steps = stack.voxel_um
    views = [
        ("XY", 0, steps[1], steps[2]),
        ("XZ", 1, steps[0], steps[2]),
        ("YZ", 2, steps[0], steps[1]),
    ]
    figure, axes = plt.subplots(3, 3, figsize=(13, 8.5), layout="tight")
    for row, (title, axis, down, right) in enumerate(views):
        section, cut = (np.take(a, middle[axis], axis=axis) for a in (stack.image, labels))
        extent = (0, section.shape[1] * right, section.shape[0] * down, 0)
        outlined = np.repeat(section[..., None], 3, axis=-1)
        rim = find_boundaries(cut, mode="inner")
        outlined[rim] = colours(cut)[rim]
        panels = {
            "maximum projection": stack.image.max(axis=axis),
            "middle section with outlines": outlined,
            "labels": colours(cut),
        }
        for axis_, (text, picture) in zip(axes[row], panels.items(), strict=True):
            axis_.imshow(picture, cmap="gray", extent=extent, interpolation="nearest")
            axis_.set_title(f"{title}, {text}")
        for axis_ in axes[row]:
            axis_.set(xlabel=f"{title[0].lower()} (µm)", ylabel=f"{title[1].lower()} (µm)")
            axis_.plot([1, 6], [extent[2] - 0.8] * 2, color="white", lw=3)
            axis_.text(3.5, extent[2] - 1.2, "5 µm", color="white", ha="center", va="bottom")
    figure.suptitle(f"{stack.name}: {labels.max()} cells")
    figure.savefig(path, dpi=90)
    plt.close(figure)


def draw_distributions(table: pd.DataFrame, path: Path) -> None:
    """Plot the distributions of four shape features, one colour a sample."""
    features = {
        "volume_um3": "volume (µm³)",
        "sphericity": "sphericity",
        "aspect_ratio": "aspect ratio",
        "longest_extension_um": "longest extension (µm)",
    }
    figure, axes = plt.subplots(1, 4, figsize=(15, 4), constrained_layout=True)
    for axis, (column, text) in zip(axes, features.items(), strict=True):
        edges = np.histogram_bin_edges(table[column], 14)
        for sample, rows in table.groupby("sample_id"):
            axis.hist(rows[column], edges, alpha=0.5, label=f"{sample} (N = {len(rows)})")
        axis.set(xlabel=text, ylabel="cells")
    axes[0].legend(fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)


METHODS = """# Methods

Each stack was binned twofold in x and y (voxels of {z:.3f} x {y:.3f} x {y:.3f} µm, nearly cubic).

1. Median filter (3 x 3 x 3); fading with depth corrected by an exponential fitted to the 99th
   percentile of each plane (decay lengths: {decays} µm).
2. Walls: Otsu's threshold of the smoothed stack, or brighter than the surroundings within 1.5 µm.
3. Seeds: maxima of the distance to the walls that rise {height} µm above their saddle (h-maxima),
   distances in µm so that the longer z step counts.
4. Seeded watershed; regions that reach a face of the stack are background; cells
   below {smallest} µm³ are dropped. Labels brought back to the original grid.
5. Shapes: volume from voxels; area from marching cubes; axes of the ellipsoid with the same second
   moments; sphericity = pi^(1/3) (6 V)^(2/3) / A; roundness = 1 - mean relative distance of the
   surface from that ellipsoid.

Result: {cells} cells in {stacks} stacks; median volume {volume:.0f} µm³, median sphericity
{sphericity:.2f}. Cells above twice the median volume, possibly merged: {large}; below a third,
possibly split: {small}. Look at those first. Nothing here was compared with a reference.
"""


def describe(table: pd.DataFrame, decays: list[float], stack: Stack) -> str:
    """Fill in the methods text."""
    volume = table["volume_um3"]
    return METHODS.format(
        z=stack.even_um[0],
        y=stack.even_um[1],
        decays=", ".join(f"{decay:.0f}" for decay in decays),
        height=SEED_HEIGHT_UM,
        smallest=SMALLEST_UM3,
        cells=len(table),
        stacks=len(decays),
        volume=volume.median(),
        sphericity=table["sphericity"].median(),
        large=int((volume > 2 * volume.median()).sum()),
        small=int((volume < volume.median() / 3).sum()),
    )


def main(input_dir: Path, output_dir: Path) -> None:
    """Segment and measure every stack; write labels, table, figures and methods."""
    output_dir.mkdir(parents=True, exist_ok=True)
    tables, decays = [], []
    for path in sorted(input_dir.glob("*.tif")):
        stack = load(path)
        labels, decay_um = segment(stack)
        tifffile.imwrite(
            output_dir / f"{stack.name}_seg.tif",
            labels,
            imagej=True,
            compression="zlib",
            resolution=(1 / stack.voxel_um[2], 1 / stack.voxel_um[1]),
            metadata={"axes": "ZYX", "spacing": float(stack.voxel_um[0]), "unit": "um"},
        )
        draw_views(stack, labels, output_dir / f"{stack.name}_views.png")
        tables.append(measure(labels, stack))
        decays.append(decay_um)
    table = pd.concat(tables, ignore_index=True)
    table.round(4).to_csv(output_dir / "cell_morphometrics.csv", index=False)
    draw_distributions(table, output_dir / "shape_distributions.png")
    (output_dir / "methods.md").write_text(describe(table, decays, stack), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
