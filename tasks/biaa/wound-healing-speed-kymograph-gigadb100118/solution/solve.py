"""Classical analysis of wound healing: optical flow by Lucas and Kanade, averaged by distance.

Run as `python solve.py INPUT_DIR OUTPUT_DIR`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
import tifffile
from scipy import ndimage

mpl.use("Agg")
import matplotlib.pyplot as plt

BAND_UM, FARTHEST_PX, LEAST_PIECE_UM2 = 15.0, 300, 3600.0
LEVELS = (4, 2, 1)  # coarse to fine
WINDOWS_PX = (3.5, 5.0, 8.0)  # Gaussian windows of the levels, in their own pixels
ITERATIONS = 2
SMOOTH_PX = 1.0
MEDIAN_PX = 5
STEADY = 1e-3  # share of the mean gradient that keeps flat areas at rest

METHODS = """# Methods

{count} experiments; pixel size from YResolution (denominator / numerator) and frame interval from
finterval in the ImageJ description of each stack.

1. Each frame was divided by its mean, against flicker, and smoothed by a Gaussian of {smooth} px.
   Dirt on the optics was left in: the median over time also takes away cells that move slowly.
2. Optical flow of each pair of frames by the method of Lucas and Kanade on a pyramid of {levels}
   levels (Gaussian windows of {windows} px, {iterations} iterations each), then a median of
   {median} px against outliers. Farnebäck's method of the published script was not used, since it
   comes with OpenCV only; both fit a local displacement within a window of some 15 µm.
3. Velocity = displacement * pixel size / interval, in µm/h.
4. Pieces of the mask below {piece:.0f} µm² were dropped. Bands of ceil(15 µm / pixel) pixels by the
   Euclidean distance from the gap at the start, as many whole ones as fit into {far} px or the
   depth of the sheet; mean speed of each band and pair of frames.

Limits: texture that changes between frames lowers the speed; noise raises it where cells hardly
move; velocities are averages over the window, so their peaks are flattened. Later than the first
contact of both fronts, distances refer to an edge that is gone.

{table}
"""


@dataclass
class Experiment:
    """One stack with its mask and calibration."""

    condition: str
    name: str
    stack: np.ndarray
    cells: np.ndarray
    pixel_um: float
    interval_h: float


def main(input_dir: Path, output_dir: Path) -> None:
    """Analyse every experiment of a folder; write fields, kymographs, figures and methods."""
    figures = output_dir / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    shown, lines = [], ["| condition | bands | near µm/h | far µm/h |", "|---|---|---|---|"]
    for path in sorted(input_dir.rglob("*_image_stack.tif")):
        experiment = read(path)
        kymograph, first = analyse(experiment)
        folder = output_dir / experiment.condition
        folder.mkdir(exist_ok=True)
        for suffix, image in (
            ("mf_dxs", first[1]),
            ("mf_dys", first[0]),
            ("speedKymograph", kymograph),
        ):
            target = folder / f"{experiment.name}_{suffix}.tif"
            tifffile.imwrite(target, image.astype(np.float32), compression="zlib")
        shown.append((experiment, kymograph))
        near, far = np.nanmean(kymograph[:3]), np.nanmean(kymograph[len(kymograph) // 2 :])
        lines.append(f"| {experiment.condition} | {len(kymograph)} | {near:.1f} | {far:.1f} |")
        if len(shown) == 1:
            draw_flow(experiment, first, figures / "first_velocities.png")
    draw_kymographs(shown, figures / "speedKymograph_all.png")
    text = METHODS.format(
        count=len(shown),
        smooth=SMOOTH_PX,
        levels=len(LEVELS),
        windows=", ".join(f"{w:g}" for w in WINDOWS_PX),
        iterations=ITERATIONS,
        median=MEDIAN_PX,
        piece=LEAST_PIECE_UM2,
        far=FARTHEST_PX,
        table="\n".join(lines),
    )
    (output_dir / "methods.md").write_text(text, encoding="utf-8")


def read(path: Path) -> Experiment:
    """Read a stack, its mask, and the calibration in its tags."""
    name = path.name.removesuffix("_image_stack.tif")
    with tifffile.TiffFile(path) as file:
        stack = file.series[0].asarray()
        pixels, um = file.pages[0].tags["YResolution"].value
        interval_min = float(file.imagej_metadata["finterval"])
    cells = tifffile.imread(path.with_name(f"{name}_roi.tif")) > 0
    return Experiment(path.parent.name, name, stack, cells, um / pixels, interval_min / 60)


def analyse(experiment: Experiment) -> tuple[np.ndarray, np.ndarray]:
    """Return the kymograph (bands, pairs) and the first velocities (2, Y, X), rows first."""
    frames = experiment.stack.astype(np.float32)
    frames /= frames.mean(axis=(1, 2), keepdims=True)
    frames = ndimage.gaussian_filter(frames, (0, SMOOTH_PX, SMOOTH_PX))
    bands = bands_of(experiment.cells, experiment.pixel_um)
    index = np.arange(1, bands.max() + 1)
    scale = experiment.pixel_um / experiment.interval_h
    columns, first = [], None
    for now, after in pairwise(frames):
        velocity = scale * optical_flow(now, after)
        columns.append(ndimage.mean(np.hypot(*velocity), bands, index))
        first = velocity if first is None else first
    assert first is not None
    return np.stack(columns, axis=1), first


def bands_of(cells: np.ndarray, pixel_um: float) -> np.ndarray:
    """Return the band of each pixel of the cleaned mask, counted from 1, 0 for none."""
    cells = cells.copy()
    for value in (True, False):
        pieces, count = ndimage.label(cells == value)
        sizes = np.bincount(pieces.ravel(), minlength=count + 1)
        small = np.flatnonzero(sizes < LEAST_PIECE_UM2 / pixel_um**2)
        cells[np.isin(pieces, small[small > 0])] = not value
    distance = ndimage.distance_transform_edt(cells)
    width = int(np.ceil(BAND_UM / pixel_um))
    count = int(min(FARTHEST_PX, distance.max()) / width)
    band = np.ceil(distance / width).astype(int)
    return np.where((distance < band * width) & (band <= count), band, 0)


def optical_flow(now: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the displacement of each pixel in pixels, shape (2, Y, X), rows first."""
    flow = np.zeros((2, *now.shape), np.float32)
    for factor, window in zip(LEVELS, WINDOWS_PX, strict=True):
        a, b = (shrink(image, factor) for image in (now, after))
        local = np.stack([resize(part, a.shape) for part in flow]) / factor
        for _ in range(ITERATIONS):
            local = refine(a, b, local, window)
        flow = np.stack([resize(part, now.shape) for part in local]) * factor
    return np.stack([ndimage.median_filter(part, MEDIAN_PX) for part in flow])


def refine(a: np.ndarray, b: np.ndarray, flow: np.ndarray, window: float) -> np.ndarray:
    """Improve a flow by one step of Lucas and Kanade's least squares."""
    grid = np.indices(a.shape, dtype=np.float32)
    moved = ndimage.map_coordinates(b, grid + flow, order=1, mode="nearest")
    gy, gx = np.gradient((a + moved) / 2)
    change = moved - a
    yy, xx, yx, ty, tx = (
        ndimage.gaussian_filter(part, window, truncate=2.5)
        for part in (gy * gy, gx * gx, gy * gx, gy * change, gx * change)
    )
    steady = STEADY * (yy.mean() + xx.mean())
    yy, xx = yy + steady, xx + steady
    determinant = yy * xx - yx * yx
    step = np.stack([yx * tx - xx * ty, yx * ty - yy * tx]) / determinant
    return np.asarray(flow + np.clip(step, -1.5, 1.5), np.float32)


def shrink(image: np.ndarray, factor: int) -> np.ndarray:
    """Average blocks of pixels, leaving what does not fill a block."""
    if factor == 1:
        return image
    rows, columns = (n // factor for n in image.shape)
    part = image[: rows * factor, : columns * factor]
    return part.reshape(rows, factor, columns, factor).mean(axis=(1, 3))


def resize(image: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Interpolate an image to another shape that covers the same field."""
    if image.shape == shape:
        return image
    where = [
        (np.arange(n) + 0.5) * old / n - 0.5 for n, old in zip(shape, image.shape, strict=True)
    ]
    grid = np.meshgrid(*where, indexing="ij")
    return ndimage.map_coordinates(image, grid, order=1, mode="nearest")


def draw_kymographs(shown: list[tuple[Experiment, np.ndarray]], path: Path) -> None:
    """Draw all kymographs as heatmaps on one scale."""
    figure, axes = plt.subplots(2, -(-len(shown) // 2), figsize=(12, 6.5), squeeze=False)
    for axis, (experiment, kymograph) in zip(axes.flat, shown, strict=False):
        depth = len(kymograph) * np.ceil(BAND_UM / experiment.pixel_um) * experiment.pixel_um
        minutes = kymograph.shape[1] * experiment.interval_h * 60
        image = axis.imshow(
            kymograph, extent=(0, minutes, depth, 0), aspect="auto", cmap="viridis", vmin=0, vmax=30
        )
        axis.set_title(experiment.condition, fontsize=9)
        axis.set_xlabel("time / min")
        axis.set_ylabel("distance from the edge / µm")
        figure.colorbar(image, ax=axis, label="speed / µm/h")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_flow(experiment: Experiment, velocity: np.ndarray, path: Path) -> None:
    """Draw the first velocities and the outline of the mask over the first frame."""
    figure, axis = plt.subplots(figsize=(7, 7))
    axis.imshow(experiment.stack[0], cmap="gray")
    axis.contour(experiment.cells, [0.5], colors="#E69F00")
    step = max(8, experiment.stack.shape[1] // 32)
    rows, columns = (slice(step // 2, None, step),) * 2
    y, x = np.mgrid[: experiment.cells.shape[0], : experiment.cells.shape[1]][:, rows, columns]
    axis.quiver(x, y, *velocity[::-1, rows, columns], color="#56B4E9", angles="xy")
    bar = 50 / experiment.pixel_um
    axis.plot([8, 8 + bar], [experiment.cells.shape[0] - 8] * 2, color="white", linewidth=3)
    axis.set_title(f"{experiment.condition}: first velocities; bar 50 µm", fontsize=9)
    axis.axis("off")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
