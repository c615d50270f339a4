"""Segment membrane-labelled cells in 3D stacks or single planes and measure them, classically.

Usage: python solve.py INPUT_DIR OUTPUT_DIR. A file (Y, X) is a plane, and its cells' sections are
found in it alone.
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
from skimage.measure import marching_cubes, mesh_surface_area, regionprops_table
from skimage.morphology import h_maxima
from skimage.segmentation import find_boundaries, watershed

mpl.use("Agg")
import matplotlib.pyplot as plt

# Used where a file carries no voxel size.
VOXEL_UM = (0.225, 0.099, 0.099)
SEED_HEIGHT_UM = 0.1
SMALLEST_UM3, SMALLEST_UM2 = 8.0, 1.5
WALL_CONTRAST = 1.6


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
    # Weak walls: sheets that outshine what lies within half a micrometre by more than the noise.
    around = np.array((0.0 if stack.flat else 0.4, 0.5, 0.5)) / stack.even_um
    thin = ridge - ndi.gaussian_filter(flat, around)
    walls |= thin > WALL_CONTRAST * 1.4826 * np.median(np.abs(thin[ridge > np.median(ridge)]))
    depth = ndi.distance_transform_edt(~walls, sampling=stack.even_um)
    depth = ndi.gaussian_filter(depth, 0.2 / stack.even_um).astype(np.float32)
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
    if stack.flat:
        return measure_sections(labels[0], stack)
    rows = []
    for cell, box in enumerate(ndi.find_objects(labels), start=1):
        if box is not None:
            rows.append(measure_cell(labels[box] == cell, box, cell, stack))
    return pd.DataFrame(rows)


def measure_sections(labels: np.ndarray, stack: Stack) -> pd.DataFrame:
    """Measure the sections of one plane."""
    pixel = stack.voxel_um[2]
    kinds = ("label", "centroid", "area", "perimeter", "axis_major_length", "axis_minor_length")
    shape = pd.DataFrame(regionprops_table(labels, properties=kinds))
    return pd.DataFrame(
        {
            "sample_id": stack.name.split("_")[0],
            "image": stack.name,
            "cell_id": shape["label"],
            "centroid_x": shape["centroid-1"],
            "centroid_y": shape["centroid-0"],
            "area_um2": shape["area"] * pixel**2,
            "perimeter_um": shape["perimeter"] * pixel,
            "circularity": 4 * np.pi * shape["area"] / shape["perimeter"] ** 2,
            "aspect_ratio": shape["axis_major_length"] / shape["axis_minor_length"],
            "longest_axis_um": shape["axis_major_length"] * pixel,
        }
    )


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
    names = ("XY",) if stack.flat else ("XY", "XZ", "YZ")
    figure, axes = plt.subplots(
        len(names), 3, figsize=(13, 2 + 2.2 * len(names)), layout="tight", squeeze=False
    )
    for axis, (row, title) in enumerate(zip(axes, names, strict=True)):
        down, right = np.delete(stack.voxel_um, axis)
        section, cut = (np.take(a, middle[axis], axis=axis) for a in (stack.image, labels))
        extent = (0, section.shape[1] * right, section.shape[0] * down, 0)
        panels = {
            "as recorded" if stack.flat else "maximum projection": stack.image.max(axis=axis),
            "outlines" if stack.flat else "middle section with outlines": outlined(section, cut),
            "labels": colours(cut),
        }
        for panel, (text, picture) in zip(row, panels.items(), strict=True):
            panel.imshow(picture, cmap="gray", extent=extent, interpolation="nearest")
            panel.set_title(f"{title}, {text}")
            panel.set(xlabel=f"{title[0].lower()} (µm)", ylabel=f"{title[1].lower()} (µm)")
            panel.plot([1, 6], [extent[2] - 0.8] * 2, color="white", lw=3)
            panel.text(3.5, extent[2] - 1.2, "5 µm", color="white", ha="center", va="bottom")
    figure.suptitle(f"{stack.name}: {labels.max()} cells")
    figure.savefig(path, dpi=90)
    plt.close(figure)


def outlined(section: np.ndarray, cut: np.ndarray) -> np.ndarray:
    """Return a section with its cells' outlines, each in its own colour."""
    picture = np.repeat(section[..., None], 3, axis=-1)
    rim = find_boundaries(cut, mode="inner")
    picture[rim] = colours(cut)[rim]
    return picture


def draw_distributions(table: pd.DataFrame, path: Path) -> None:
    """Plot the distributions of four shape features, one colour a sample."""
    features = {
        "volume_um3": "volume (µm³)",
        "area_um2": "area (µm²)",
        "sphericity": "sphericity",
        "circularity": "circularity",
        "aspect_ratio": "aspect ratio",
        "longest_extension_um": "longest extension (µm)",
        "longest_axis_um": "longest axis (µm)",
    }
    features = {column: text for column, text in features.items() if column in table}
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

Each image was binned twofold in x and y (pixels of {y:.3f} µm). {depth}

1. Median filter (3 pixels wide).{fading}
2. Walls: Otsu's threshold of the smoothed image, or brighter than the surroundings within 0.5 µm
   by {contrast} times the noise.
3. Seeds: maxima of the distance to the walls that rise {height} µm above their saddle (h-maxima),
   distances in µm.
4. Seeded watershed; regions that reach a face of the image are background; cells below
   {smallest} are dropped. Labels brought back to the original grid.
5. Shapes: {shapes}.

Result: {cells} cells in {images} images; median {size} {median:.0f} {unit}, median aspect ratio
{aspect:.2f}. Cells above twice the median {size}, possibly merged: {large}; below a third, possibly
split: {small}. Look at those first. Nothing here was compared with a reference.
"""

IN_3D = {
    "shapes": "volume from voxels; area from marching cubes; axes of the ellipsoid with the same\n"
    "   second moments; sphericity = pi^(1/3) (6 V)^(2/3) / A; roundness = 1 - mean relative\n"
    "   distance of the surface from that ellipsoid",
    "size": "volume",
    "unit": "µm³",
    "smallest": f"{SMALLEST_UM3:g} µm³",
}
IN_2D = {
    "shapes": "area from pixels; perimeter; axes of the ellipse with the same second moments;\n"
    "   circularity = 4 pi A / P^2",
    "size": "area",
    "unit": "µm²",
    "smallest": f"{SMALLEST_UM2:g} µm²",
    "depth": "Every plane was taken by itself.",
    "fading": "",
}


def describe(table: pd.DataFrame, decays: list[float], stack: Stack) -> str:
    """Fill in the methods text."""
    words = dict(IN_2D) if stack.flat else dict(IN_3D)
    if not stack.flat:
        words["depth"] = (
            f"Planes lie {stack.voxel_um[0]:.3f} µm apart; voxels of {stack.even_um[0]:.3f} µm "
            "depth\nwere made from them"
            + (", by linear interpolation." if stack.between > 1 else " as they are.")
        )
        lengths = ", ".join(f"{decay:.0f}" for decay in decays)
        words["fading"] = (
            " Fading with depth corrected by an exponential fitted to the 99th\n"
            f"   percentile of each plane (decay lengths: {lengths} µm)."
        )
    size = table["area_um2" if stack.flat else "volume_um3"]
    return METHODS.format(
        **words,
        y=stack.even_um[1],
        height=SEED_HEIGHT_UM,
        contrast=WALL_CONTRAST,
        cells=len(table),
        images=len(decays),
        median=size.median(),
        aspect=table["aspect_ratio"].median(),
        large=int((size > 2 * size.median()).sum()),
        small=int((size < size.median() / 3).sum()),
    )


def save(path: Path, labels: np.ndarray, stack: Stack) -> None:
    """Write labels as wide and as deep as the image, with its voxel size."""
    metadata = {"axes": "ZYX", "spacing": float(stack.voxel_um[0]), "unit": "um"}
    tifffile.imwrite(
        path,
        labels[0] if stack.flat else labels,
        imagej=True,
        compression="zlib",
        resolution=(1 / stack.voxel_um[2], 1 / stack.voxel_um[1]),
        metadata={"axes": "YX", "unit": "um"} if stack.flat else metadata,
    )


def main(input_dir: Path, output_dir: Path) -> None:
    """Segment and measure every image; write labels, table, figures and methods."""
    output_dir.mkdir(parents=True, exist_ok=True)
    tables, decays = [], []
    for path in sorted(input_dir.glob("*.tif")):
        stack = load(path)
        labels, decay_um = segment(stack)
        save(output_dir / f"{stack.name}_seg.tif", labels, stack)
        draw_views(stack, labels, output_dir / f"{stack.name}_views.png")
        tables.append(measure(labels, stack))
        decays.append(decay_um)
    table = pd.concat(tables, ignore_index=True)
    table.round(4).to_csv(output_dir / "cell_morphometrics.csv", index=False)
    draw_distributions(table, output_dir / "shape_distributions.png")
    (output_dir / "methods.md").write_text(describe(table, decays, stack), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
