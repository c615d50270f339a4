"""Classical segmentation of HeLa cells: nuclei from DNA, bodies by watershed of actin from them.

Run as `python solve.py INPUT_DIR OUTPUT_DIR`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import skimage
import tifffile
from scipy import ndimage
from skimage import feature, filters, graph, measure, morphology, segmentation

mpl.use("Agg")
import matplotlib.pyplot as plt

PIXEL_UM = 0.645
NUCLEUS_UM = 8.4  # radius of a usual nucleus
SMALLEST_UM2 = 40.0  # a nucleus of 7 µm across
REACH_UM = 24.0  # no body ends further from its nucleus
SHOWN = 3  # images in the figures

METHODS = """# Methods

{nuclei} cells were segmented in {count} RGB images ({pixel} µm a pixel) with scikit-image
{version}.

1. Channels were taken apart: blue is DNA, red is actin, green was not used.
2. DNA was smoothed (Gaussian, 1 px) and its background, an opening by a disc of 30 px of the
   smoothed channel, was subtracted. A pixel is nuclear above .54 of Otsu's threshold and above a
   quarter of the brightest light within 10 px, so that the glow round bright nuclei is left out.
   Holes were filled, small debris removed by opening and by area (below {smallest} µm²).
3. Touching nuclei were split by watershed from the maxima of the smoothed distance map.
4. Cells against ground: actin was smoothed (Gaussian, 1.5 px) and its square root taken; the
   threshold lies two thirds of the way from the ground (1st percentile) to the mean of Otsu's and
   the triangle method's.
5. Bodies: a pixel of the cells' mask goes to the nucleus that it reaches at the least cost, at most
   {reach} µm away, where a step costs more the steeper actin is there (gradient at 2 px over the
   light nearby): watershed of the map of costs from the nuclei. A body holds its nucleus.
6. Nucleus and body of a cell carry one number (uint8, 0 is ground). Cells at the image's border
   are kept.

Limits: faint thin edges of cells are lost in the ground; borders between cells of like brightness
follow the distance rather than the picture; cells without a nucleus in the field go to neighbours.
Parameters were chosen beforehand on other, synthetic images.
"""


def main(input_dir: Path, output_dir: Path) -> None:
    """Segment every TIF of a folder and write masks, figures and a methods text."""
    shown: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
    sizes = []
    for kind in ("nuclei", "cytoplasm"):
        (output_dir / f"{kind}_masks").mkdir(parents=True, exist_ok=True)
    paths = sorted(input_dir.glob("*.tif"))
    for path in paths:
        picture = tifffile.imread(path)
        nuclei = find_nuclei(picture[..., 2].astype(float))
        bodies = find_bodies(picture[..., 0].astype(float), nuclei)
        for kind, labels in (("nuclei", nuclei), ("cytoplasm", bodies)):
            target = output_dir / f"{kind}_masks" / f"{path.stem}.tif"
            tifffile.imwrite(target, labels.astype(np.uint8), compression="zlib")
        sizes.append([np.bincount(labels.ravel())[1:] for labels in (nuclei, bodies)])
        if len(shown) < SHOWN:
            shown[path.stem] = picture, nuclei, bodies
    areas = np.concatenate(sizes, axis=1) * PIXEL_UM**2
    figures = output_dir / "figures"
    figures.mkdir(exist_ok=True)
    draw_overlays(shown, figures / "overlays.png")
    draw_areas(areas, figures / "areas.png")
    text = METHODS.format(
        nuclei=areas.shape[1],
        count=len(paths),
        pixel=PIXEL_UM,
        version=skimage.__version__,
        smallest=SMALLEST_UM2,
        reach=REACH_UM,
    )
    (output_dir / "methods.md").write_text(text, encoding="utf-8")


def find_nuclei(blue: np.ndarray) -> np.ndarray:
    """Return labels of nuclei, 1, 2, ..., at most 255."""
    smooth = filters.gaussian(blue, 1.0, preserve_range=True)
    broad = filters.gaussian(blue[::4, ::4], 1.5, preserve_range=True)
    ground = ndimage.grey_opening(broad, footprint=morphology.disk(8))
    ground = ndimage.zoom(ndimage.gaussian_filter(ground, 4), 4, order=1)
    level = smooth - ground[: blue.shape[0], : blue.shape[1]]
    # Half of a nucleus' own height would be its edge; the brightest nearby is not always its own.
    nearby = ndimage.gaussian_filter(ndimage.grey_dilation(level, size=(21, 21)), 5)
    mask = level > np.maximum(0.54 * filters.threshold_otsu(level), 0.25 * nearby)
    mask = morphology.opening(ndimage.binary_fill_holes(mask), morphology.disk(3))
    labels = measure.label(split(mask))
    areas = np.bincount(labels.ravel())
    large = areas >= SMALLEST_UM2 / PIXEL_UM**2
    large[0] = False
    large &= np.cumsum(large) <= np.iinfo(np.uint8).max
    return np.where(large, np.cumsum(large), 0)[labels]


def split(mask: np.ndarray) -> np.ndarray:
    """Separate touching nuclei at the necks between them."""
    distance = filters.gaussian(ndimage.distance_transform_edt(mask), 1.5, preserve_range=True)
    radius = NUCLEUS_UM / PIXEL_UM
    peaks = feature.peak_local_max(
        distance,
        min_distance=int(0.65 * radius),
        threshold_abs=0.25 * radius,
        labels=measure.label(mask),
        exclude_border=False,
    )
    seeds = np.zeros(mask.shape, dtype=np.int32)
    seeds[tuple(peaks.T)] = np.arange(1, len(peaks) + 1)
    return segmentation.watershed(-distance, seeds, mask=mask)


def find_bodies(red: np.ndarray, nuclei: np.ndarray) -> np.ndarray:
    """Return the body of each nucleus, with its number."""
    smooth = filters.gaussian(red, 1.5, preserve_range=True)
    root = np.sqrt(smooth)
    low = np.percentile(root, 1)
    middle = (filters.threshold_otsu(root) + filters.threshold_triangle(root)) / 2
    mask = root > low + 0.66 * (middle - low)
    mask = ndimage.binary_fill_holes(morphology.opening(mask, morphology.disk(2))) | (nuclei > 0)
    mask &= ndimage.distance_transform_edt(nuclei == 0) < REACH_UM / PIXEL_UM
    # The cheapest way to a nucleus does not cross borders, where brightness changes.
    near = np.maximum(ndimage.gaussian_filter(smooth, 8), 1)
    cost = 1 + 60 * ndimage.gaussian_gradient_magnitude(red, 2.0) / near
    rims = np.argwhere(segmentation.find_boundaries(nuclei, mode="inner"))
    if not len(rims):
        return nuclei
    way, _ = graph.MCP_Geometric(cost).find_costs(rims)
    bodies = segmentation.watershed(np.where(nuclei > 0, 0, way), nuclei, mask=mask)
    return np.where(nuclei > 0, nuclei, bodies)


def draw_overlays(shown: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]], path: Path) -> None:
    """Show images as they came, nuclei outlined on blue, bodies on red."""
    figure, axes = plt.subplots(len(shown), 3, figsize=(11, 2.9 * len(shown)), squeeze=False)
    for row, (stem, (picture, nuclei, bodies)) in zip(axes, shown.items(), strict=True):
        panels = (
            (picture, None, "actin red, DNA blue"),
            (picture[..., 2], nuclei, f"DNA, {nuclei.max()} nuclei (cyan)"),
            (picture[..., 0], bodies, "actin, cells (yellow)"),
        )
        for axis, (image, labels, title) in zip(row, panels, strict=True):
            axis.imshow(image, cmap="gray")
            if labels is not None:
                colour = "cyan" if labels is nuclei else "yellow"
                edges = np.ma.masked_equal(segmentation.find_boundaries(labels, mode="inner"), 0)
                axis.imshow(edges, cmap=mpl.colors.ListedColormap([colour]), interpolation="none")
            axis.set_title(f"{stem}: {title}", fontsize=8)
            axis.axis("off")
            add_scale_bar(axis, image.shape)
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    plt.close(figure)


def add_scale_bar(axis: plt.Axes, shape: tuple[int, ...], length_um: float = 50.0) -> None:
    """Draw a bar of known length in the lower right corner."""
    right, bottom, length = shape[1] * 0.96, shape[0] * 0.95, length_um / PIXEL_UM
    axis.plot([right - length, right], [bottom, bottom], color="white", linewidth=3)
    axis.text(
        right - length / 2,
        bottom * 0.97,
        f"{length_um:.0f} µm",
        color="white",
        ha="center",
        va="bottom",
        fontsize=7,
    )


def draw_areas(areas: np.ndarray, path: Path) -> None:
    """Plot the area of each body against that of its nucleus."""
    figure, axis = plt.subplots(figsize=(4.6, 3.8))
    axis.scatter(
        areas[0], areas[1], s=5, alpha=0.5, color="#0072B2", label=f"N = {areas.shape[1]} cells"
    )
    axis.set_xlabel("area of the nucleus (µm²)")
    axis.set_ylabel("area of the cell (µm²)")
    axis.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
