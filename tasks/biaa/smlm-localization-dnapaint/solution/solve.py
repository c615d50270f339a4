"""Classical localisation of blinks: temporal median, spot filter, Gaussian fit by photon noise.

Run as `python solve.py INPUT_DIR OUTPUT_DIR`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
import tifffile
from scipy import ndimage

mpl.use("Agg")
import matplotlib.pyplot as plt

WINDOW = 101  # frames of the rolling median
BLOCK = 25  # frames that share one median
INNER_PX, OUTER_PX = 1.1, 3.0  # sigmas of the difference of Gaussians
CONTRAST = 4.7  # least response in units of its noise
HALF = 3  # of the fitted window: 7 x 7 pixels
WIDTHS_PX = (0.7, 2.2)  # range of sigma in which a fit is a spot
STEPS = 25  # of the fit
APART_PX = 2.0  # fits of one frame closer than this are one molecule
BIN_NM, PIXEL_NM = 20.0, 100.0  # of the rendering; the movie's own scale is not stated

METHODS = """# Methods

{count} localisations in {frames} frames; positions in pixels, (0, 0) the centre of the first one.

1. Background: median over {window} frames round each block of {block} frames, per pixel. It holds
   the camera's offset, haze and specks that shine all the time.
2. Candidates: differences of Gaussians ({inner} and {outer} px) of the frames without background;
   local maxima above {contrast} times the noise that the photons of the background give (below).
3. Fit: a symmetric Gaussian integrated over pixels, and a constant, on the median background, in
   the 7 x 7 px round each maximum, by least squares weighted with the variance of photon noise
   (Gauss-Newton, weights renewed from the model, which approaches maximum likelihood). The slope
   of variance against mean ({slope:.2f} counts) was measured in the movie itself, from the spread
   of pixels over time (median absolute deviation).
4. Fits with sigma outside {low} to {high} px or a negative amplitude were dropped. Each of the
   others was fitted again with the movie's median sigma, {sigma:.2f} px, for its position and
   intensity (integral of the Gaussian, in counts).
5. Fits closer than {apart} px in one frame were taken for one molecule.

Limits: molecules closer than about 2 px merge; short partial frames and dim blinks are missed;
drift is not corrected, as the list is to hold where blinks appear. The rendering and its scale bar
take a pixel for {pixel:.0f} nm, which the movie does not state. Parameters were chosen beforehand
on other, synthetic movies.
"""


class Fits(NamedTuple):
    """Fitted spots, one row each."""

    frame: np.ndarray
    y: np.ndarray
    x: np.ndarray
    intensity: np.ndarray
    sigma: np.ndarray

    def keep(self, which: np.ndarray) -> Fits:
        """Return some of them."""
        return Fits(*(column[which] for column in self))


def main(input_dir: Path, output_dir: Path) -> None:
    """Localise the blinks of the movie; write the list, figures and a methods text."""
    output_dir.mkdir(parents=True, exist_ok=True)
    movie = tifffile.imread(min(input_dir.glob("*.tif*"))).astype(np.float32)
    ground = rolling_median(movie)
    residual = movie - ground
    slope, floor = photon_noise(residual, ground)
    variance = np.maximum(slope * ground + floor, 1e-3)
    frame, y, x, strength = candidates(residual, variance)
    free = fit(residual, variance, slope, frame, y, x, None)
    moved = np.hypot(free.y - y, free.x - x)
    good = (free.intensity > 0) & (moved < 2.0)
    good &= (free.sigma > WIDTHS_PX[0]) & (free.sigma < WIDTHS_PX[1])
    sigma = float(np.median(free.sigma[good])) if good.any() else INNER_PX
    fixed = fit(residual, variance, slope, frame[good], y[good], x[good], sigma)
    kept = single(fixed, strength[good]) & (fixed.intensity > 0)
    found = fixed.keep(kept)
    write_list(found, output_dir / "DNAPAINT_LocalizationList.txt")
    figures = output_dir / "figures"
    figures.mkdir(exist_ok=True)
    draw_frames(movie, residual, found, figures / "detections.png")
    draw_reconstruction(found, movie.shape[1:], figures / "reconstruction.png")
    draw_widths(free.sigma, figures / "sigma_histogram.png")
    text = METHODS.format(
        count=len(found.frame),
        frames=len(movie),
        window=WINDOW,
        block=BLOCK,
        inner=INNER_PX,
        outer=OUTER_PX,
        contrast=CONTRAST,
        slope=slope,
        low=WIDTHS_PX[0],
        high=WIDTHS_PX[1],
        sigma=sigma,
        apart=APART_PX,
        pixel=PIXEL_NM,
    )
    (output_dir / "methods.md").write_text(text, encoding="utf-8")


def rolling_median(movie: np.ndarray) -> np.ndarray:
    """Return the background of each frame: the median over the frames round its block."""
    ground = np.empty_like(movie)
    for start in range(0, len(movie), BLOCK):
        low = max(0, min(start + BLOCK // 2 - WINDOW // 2, len(movie) - WINDOW))
        ground[start : start + BLOCK] = np.median(movie[low : low + WINDOW], axis=0)
    return ground


def candidates(residual: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return frame, row and column of spots, and how far they exceed the noise."""
    point = np.zeros((41, 41))
    point[20, 20] = 1.0
    gain = float(np.sqrt((spot_filter(point) ** 2).sum()))  # of white noise
    filtered = np.array([spot_filter(frame) for frame in residual])
    response = filtered / (gain * np.sqrt(variance))
    peak = response == ndimage.maximum_filter(response, (1, 5, 5))
    frame, y, x = np.nonzero(peak & (response > CONTRAST))
    return frame, y, x, response[frame, y, x]


def spot_filter(image: np.ndarray) -> np.ndarray:
    """Difference of Gaussians, which answers to spots and ignores what is wider."""
    inner = ndimage.gaussian_filter(image, INNER_PX)
    return inner - ndimage.gaussian_filter(image, OUTER_PX)


def photon_noise(residual: np.ndarray, ground: np.ndarray) -> tuple[float, float]:
    """Return slope and intercept of the variance of pixels against their mean."""
    mean = ground.mean(axis=0).ravel()
    spread = (1.4826 * np.median(np.abs(residual), axis=0).ravel()) ** 2
    # Specks at either end would pull the line; medians of groups of equal brightness do not.
    order = np.array_split(np.argsort(mean)[: int(0.98 * len(mean))], 20)
    means = np.array([mean[group].mean() for group in order])
    spreads = np.array([np.median(spread[group]) for group in order])
    slope, floor = np.polyfit(means, spreads, 1)
    return max(float(slope), 1e-3), float(floor)


def fit(
    residual: np.ndarray,
    variance: np.ndarray,
    slope: float,
    frame: np.ndarray,
    y: np.ndarray,
    x: np.ndarray,
    sigma: float | None,
) -> Fits:
    """Fit a Gaussian and a constant to the window round each candidate, all at once.

    Parameters
    ----------
    residual, variance
        Frames without background, and the variance that the background gives their pixels.
    slope
        By how much the variance grows with each count of signal.
    frame, y, x
        Candidates.
    sigma
        Of the spots; None fits it.
    """
    size = residual.shape[1:]
    corner_y = y.clip(HALF, size[0] - 1 - HALF)
    corner_x = x.clip(HALF, size[1] - 1 - HALF)
    window = np.arange(-HALF, HALF + 1)
    rows = (corner_y[:, None] + window)[:, :, None]
    columns = (corner_x[:, None] + window)[:, None, :]
    data = residual[frame[:, None, None], rows, columns].astype(float)
    basic = np.maximum(variance[frame[:, None, None], rows, columns].astype(float), 1e-3)
    constant = np.median(data, axis=(1, 2))
    guess = np.maximum((data - constant[:, None, None]).sum(axis=(1, 2)), 1.0)
    width = np.full(len(y), sigma or INNER_PX)
    p = np.stack([y, x, guess, constant, np.log(width)], axis=1).astype(float)
    count = 5 if sigma is None else 4
    damping = np.full(len(y), 0.05)
    for _ in range(STEPS):
        model, slopes = gaussian(p, rows, columns)
        weight = 1 / (basic + slope * np.maximum(model - p[:, 3, None, None], 0))
        jacobian = slopes[:, :count].reshape(len(p), count, -1)
        weighted = jacobian * weight.reshape(len(p), 1, -1)
        normal = weighted @ jacobian.transpose(0, 2, 1)
        gradient = (weighted @ (data - model).reshape(len(p), -1, 1))[..., 0]
        diagonal = np.einsum("nii->ni", normal)
        diagonal *= 1 + damping[:, None]
        diagonal += 1e-9
        step = np.linalg.solve(normal, gradient[..., None])[..., 0]
        step[:, :2] = step[:, :2].clip(-0.5, 0.5)
        if count == 5:
            step[:, 4] = step[:, 4].clip(-0.2, 0.2)
        p[:, :count] += step
        p[:, 4] = p[:, 4].clip(np.log(0.4), np.log(4.0))
        p[:, 0] = p[:, 0].clip(y - 3, y + 3)
        p[:, 1] = p[:, 1].clip(x - 3, x + 3)
        damping *= 0.7
    return Fits(frame, p[:, 0], p[:, 1], p[:, 2], np.exp(p[:, 4]))


def gaussian(p: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the model in each window and its derivatives by y, x, integral, constant, log width.

    The integral over a pixel of width 1 is that of a Gaussian whose variance is 1/12 larger, at
    the pixel's centre, to within a thousandth for these widths.
    """
    sigma = np.exp(p[:, 4])[:, None, None]
    square = sigma**2 + 1 / 12
    dy, dx = rows - p[:, 0, None, None], columns - p[:, 1, None, None]
    distance = (dy**2 + dx**2) / square
    shape = np.exp(-0.5 * distance) / (2 * np.pi * square)
    spot = p[:, 2, None, None] * shape
    by_width = spot * (distance - 2) * sigma**2 / square
    slopes = [spot * dy / square, spot * dx / square, shape, np.ones_like(shape), by_width]
    return spot + p[:, 3, None, None], np.stack(slopes, axis=1)


def single(fits: Fits, strength: np.ndarray) -> np.ndarray:
    """Return which fits are the strongest of all within a small distance in their frame."""
    kept = np.ones(len(fits.frame), dtype=bool)
    for index in np.argsort(-strength):
        if kept[index]:
            near = (fits.frame == fits.frame[index]) & (
                np.hypot(fits.y - fits.y[index], fits.x - fits.x[index]) < APART_PX
            )
            near[index] = False
            kept[near] = False
    return kept


def write_list(found: Fits, path: Path) -> None:
    """Write frame, x, y and intensity, separated by tabs."""
    rows = zip(found.frame, found.x, found.y, found.intensity, strict=True)
    lines = [f"{frame}\t{x:.4f}\t{y:.4f}\t{light:.1f}" for frame, x, y, light in rows]
    path.write_text("\n".join(["frame\tx\ty\tintensity", *lines, ""]), encoding="utf-8")


def draw_frames(movie: np.ndarray, residual: np.ndarray, found: Fits, path: Path) -> None:
    """Show two frames raw, without background, and with their localisations."""
    counts = np.bincount(found.frame, minlength=len(movie))
    shown = [int(np.argmax(counts)), len(movie) // 2]
    figure, axes = plt.subplots(2, 3, figsize=(10, 7))
    for row, index in zip(axes, shown, strict=True):
        here = found.frame == index
        for axis, image in zip(row, (movie[index], residual[index], movie[index]), strict=True):
            axis.imshow(image, cmap="gray", vmax=np.percentile(image, 99.9))
            axis.axis("off")
        row[2].scatter(
            found.x[here],
            found.y[here],
            s=70,
            facecolors="none",
            edgecolors="#E69F00",
            label="localisation",
        )
        row[0].set_title(f"frame {index}, raw")
        row[1].set_title("without background")
        row[2].set_title(f"{here.sum()} localisations")
        row[2].legend(loc="upper right", fontsize=8)
        row[0].plot([4, 14], [movie.shape[1] - 5] * 2, color="white", linewidth=3)
        row[0].text(9, movie.shape[1] - 7, "10 px", color="white", ha="center", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    plt.close(figure)


def draw_reconstruction(found: Fits, size: tuple[int, ...], path: Path) -> None:
    """Render all localisations as a histogram, whole and magnified where they are densest."""
    bins = [int(n * PIXEL_NM / BIN_NM) for n in size]
    limits = [(-0.5, n - 0.5) for n in size]
    image, _, _ = np.histogram2d(found.y, found.x, bins=bins, range=limits)
    smooth = ndimage.gaussian_filter(image, 0.7)
    crowd = ndimage.uniform_filter(image, 40)
    y, x = np.unravel_index(np.argmax(crowd), crowd.shape)
    corner = [int(np.clip(v - 30, 0, n - 60)) for v, n in zip((y, x), bins, strict=True)]
    part = smooth[corner[0] : corner[0] + 60, corner[1] : corner[1] + 60]
    figure, axes = plt.subplots(1, 2, figsize=(10, 5))
    for axis, picture, bar_nm in zip(axes, (smooth, part), (1000, 200), strict=True):
        shown = axis.imshow(picture, cmap="inferno", vmax=max(np.percentile(picture, 99.9), 1e-6))
        length = bar_nm / BIN_NM
        low, right = 0.95 * picture.shape[0], 0.95 * picture.shape[1]
        axis.plot([right - length, right], [low, low], color="white", linewidth=3)
        axis.text(
            right - length / 2, 0.985 * low, f"{bar_nm} nm", color="white", ha="center", va="bottom"
        )
        axis.axis("off")
        figure.colorbar(shown, ax=axis, shrink=0.75, label="localisations per bin")
    axes[0].set_title(f"all localisations, bins of {BIN_NM:.0f} nm")
    axes[1].set_title("densest part")
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def draw_widths(sigma: np.ndarray, path: Path) -> None:
    """Show the fitted widths and the range that was accepted."""
    figure, axis = plt.subplots(figsize=(5.5, 3.2))
    axis.hist(sigma, bins=np.linspace(0.4, 3, 53), color="#0072B2", label=f"N = {len(sigma)} fits")
    for edge in WIDTHS_PX:
        axis.axvline(edge, color="#D55E00", linestyle="--")
    axis.set_xlabel("fitted sigma (px); dashed: accepted range")
    axis.set_ylabel("fits")
    axis.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
