"""Classical counting of fluorescent cells: top-hat, blobs at several scales, test for blank fields.

Run as `python solve.py INPUT_DIR OUTPUT_DIR`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import tifffile
from scipy import ndimage
from skimage import feature

mpl.use("Agg")
import matplotlib.pyplot as plt

BACKGROUND_PX = 61  # side of the window that the background is taken from, a few cells wide
SIGMAS_PX = (2.4, 3.2, 4.2)  # a disc of radius r answers most at r / sqrt(2)
SPECK_SIGMA_PX = 1.4
SPECK_RATIO = 0.8  # about that of a disc of 4 px radius; larger ones answer less at the fine scale
CONTRAST = 7.0  # least blob response in units of its noise
SHARE_OF_TYPICAL = 0.15  # least response compared with the usual cell of the same batch

METHODS = """# Methods

Cells were counted in {count} grey images; distances are in pixels, as no pixel size is given.

1. Intensities were taken as they are (8 and 12 bit) and the background, the opening of the
   smoothed image with a square of {window} px, was subtracted (white top-hat).
2. Cells answer as blobs: scale-normalised Laplacians of Gaussian at sigma {sigmas} px, of which
   the largest counts. Pixel noise comes from the differences of neighbouring pixels (median
   absolute deviation); white noise of unit strength answers with 1 / (sigma sqrt(2 pi)).
3. Centres are local maxima at least 4 px apart whose response exceeds {contrast} times its noise.
   Debris is smaller than a cell: a maximum is dropped if, beyond the noise, its response at sigma
   {speck} px reaches {ratio} of that at the scale of cells.
4. Images of one bit depth were taken as one staining batch. Maxima below {share:.0%} of the batch's
   median response are dropped; a field where none is left is blank, its table the header alone.
5. Centres were refined to the centroid of the response round the maximum.

Limits: cells that overlap by more than half merge; very faint or far out-of-focus cells are missed;
large debris can pass for a cell. Parameters were chosen beforehand on other, synthetic images.

Cells in total: {total}. Blank fields: {blank}.
"""


def main(input_dir: Path, output_dir: Path) -> None:
    """Find the cells of every TIFF of a folder; write tables, figures and a methods text."""
    output_dir.mkdir(parents=True, exist_ok=True)
    paths = sorted(input_dir.glob("*.tiff"), key=lambda p: (len(p.stem), p.stem))
    images = {path.stem: tifffile.imread(path) for path in paths}
    found = {stem: find_blobs(image.astype(np.float32)) for stem, image in images.items()}
    centres = {}
    for stem, (points, strength) in found.items():
        batch = [found[other][1] for other in images if images[other].dtype == images[stem].dtype]
        pooled = np.concatenate(batch)
        typical = np.median(pooled) if pooled.size else 0.0
        centres[stem] = points[strength > SHARE_OF_TYPICAL * typical]
        lines = ["X,Y", *(f"{x:.2f},{y:.2f}" for y, x in centres[stem])]
        (output_dir / f"{stem}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    figures = output_dir / "figures"
    figures.mkdir(exist_ok=True)
    draw_overlays(images, centres, figures / "overlays.png")
    draw_histogram([len(found) for found in centres.values()], figures / "cells_per_image.png")
    write_methods(centres, output_dir / "methods.md")


def find_blobs(image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the centres (y, x) of blobs of a cell's size, shape (n, 2), and their responses."""
    flat = image - ndimage.grey_opening(ndimage.gaussian_filter(image, 2.0), BACKGROUND_PX)
    response = np.max([blob_response(flat, sigma) for sigma in SIGMAS_PX], axis=0)
    noise = pixel_noise(image) / (min(SIGMAS_PX) * np.sqrt(2 * np.pi))
    peaks = feature.peak_local_max(
        response, min_distance=4, threshold_abs=max(CONTRAST * noise, 1e-6), exclude_border=False
    )
    where = tuple(peaks.T)
    fine = ndimage.maximum_filter(blob_response(flat, SPECK_SIGMA_PX), 3)[where]
    margin = 1.5 * pixel_noise(image) / (SPECK_SIGMA_PX * np.sqrt(2 * np.pi))
    cells = fine - margin < SPECK_RATIO * response[where]
    return refine(response, peaks[cells]), response[where][cells]


def pixel_noise(image: np.ndarray) -> float:
    """Estimate the standard deviation of the noise of one pixel from neighbours' differences."""
    step = np.diff(image, axis=1).ravel()
    return float(1.4826 * np.median(np.abs(step - np.median(step))) / np.sqrt(2))


def blob_response(image: np.ndarray, sigma: float) -> np.ndarray:
    """Scale-normalised Laplacian of Gaussian, positive on bright blobs."""
    return -(sigma**2) * ndimage.gaussian_laplace(image, sigma)


def refine(response: np.ndarray, peaks: np.ndarray, half: int = 2) -> np.ndarray:
    """Move each maximum to the centroid of the positive response within a small window."""
    if not len(peaks):
        return np.empty((0, 2))
    padded = np.pad(response.clip(0, None), half)
    offsets = np.arange(-half, half + 1)
    rows = peaks[:, 0, None, None] + half + offsets[None, :, None]
    columns = peaks[:, 1, None, None] + half + offsets[None, None, :]
    weights = padded[rows, columns]
    total = weights.sum(axis=(1, 2))
    dy = (weights * offsets[None, :, None]).sum(axis=(1, 2)) / total
    dx = (weights * offsets[None, None, :]).sum(axis=(1, 2)) / total
    return peaks + np.stack([dy, dx], axis=1)


def draw_overlays(
    images: dict[str, np.ndarray], centres: dict[str, np.ndarray], path: Path
) -> None:
    """Show a blank, a sparse and the densest field with markers, and a zoom into the last."""
    order = sorted(images, key=lambda stem: len(centres[stem]))
    filled = [stem for stem in order if len(centres[stem])] or order
    shown = [order[0], filled[len(filled) // 2], order[-1], order[-1]]
    figure, axes = plt.subplots(2, 2, figsize=(9, 9))
    for panel, (axis, stem) in enumerate(zip(axes.flat, shown, strict=True)):
        low, high = np.percentile(images[stem], (0.5, 99.8))
        axis.imshow(images[stem], cmap="gray", vmin=low, vmax=high)
        axis.scatter(
            *centres[stem].T[::-1], s=18, marker="+", linewidths=0.8, color="#E69F00", label="cell"
        )
        side = min(images[stem].shape) // 3 if panel == 3 else min(images[stem].shape)
        axis.set_xlim(-0.5, side - 0.5)
        axis.set_ylim(side - 0.5, -0.5)
        bar = 50 if side > 200 else 20
        axis.plot([0.94 * side - bar, 0.94 * side], [0.95 * side] * 2, color="white", linewidth=3)
        axis.text(0.94 * side - bar / 2, 0.93 * side, f"{bar} px", color="white", ha="center")
        axis.set_title(f"image {stem}: {len(centres[stem])} cells" + (" (zoom)" * (panel == 3)))
        axis.axis("off")
        axis.legend(loc="upper right", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    plt.close(figure)


def draw_histogram(counts: list[int], path: Path) -> None:
    """Show how cell numbers are spread over the images."""
    figure, axis = plt.subplots(figsize=(5.5, 3.2))
    axis.hist(counts, bins=20, color="#0072B2", label=f"N = {len(counts)} images")
    axis.set_xlabel("cells per image")
    axis.set_ylabel("images")
    axis.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def write_methods(centres: dict[str, np.ndarray], path: Path) -> None:
    """Say what was done, with the numbers that came out."""
    counts = [len(found) for found in centres.values()]
    text = METHODS.format(
        count=len(counts),
        window=BACKGROUND_PX,
        sigmas=", ".join(f"{sigma:g}" for sigma in SIGMAS_PX),
        contrast=CONTRAST,
        share=SHARE_OF_TYPICAL,
        speck=SPECK_SIGMA_PX,
        ratio=SPECK_RATIO,
        total=sum(counts),
        blank=counts.count(0),
    )
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
