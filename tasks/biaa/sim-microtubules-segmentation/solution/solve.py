"""Classical segmentation of microtubules: oriented line filters, hysteresis, gap closing.

Run as `python solve.py INPUT_DIR OUTPUT_DIR`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import tifffile
from scipy import ndimage
from skimage import graph, morphology

mpl.use("Agg")
import matplotlib.pyplot as plt

ORIENTATIONS = 20
ACROSS_PX = 1.3  # sigma of the filter across a line, about that of the line itself
ALONG_PX = 5.0  # and along it: the straight length that photons are gathered from
SURELY, PERHAPS = 5.5, 3.0  # hysteresis thresholds of the response in units of its noise
OF_USUAL = 0.33  # where noise is low: least response as a share of that of the image's lines
SPUR_PX = 8  # side branches shorter than this come from the filter, not from a filament
SHORTEST_PX = 18  # least length of a piece, along its centre line
GAP_PX = 18  # ends closer than this are joined if a dim line runs between them
GAP_CONTRAST = 0.75  # least mean response along such a line, as a share of the lower threshold
GAP_TURN = 0.7  # least cosine of the angle between a free end and where its gap leads
WIDTH_PX = 1.15  # half the width that is drawn

METHODS = """# Methods

Filaments were segmented in {count} images; lengths are in pixels, as no pixel size is given.

1. Noise: each image was divided by its local noise, the root of a smoothed variance of
   neighbouring pixels, so that one threshold holds in bright and dark places.
2. Denoising and enhancement in one: second derivatives of Gaussians, sigma {across} px across the
   line and {along} px along it, in {orientations} directions (matched filters of a straight
   piece of line). The largest response counts, in units of its noise. Such a filter ignores the
   background as long as it changes little over some pixels.
3. Crests: the response was thinned to its maxima across the line. Hysteresis: crests above {low}
   that hang together with one above {high} count, both raised to a third of the usual response
   of an image's lines where noise is low. Side branches of less than {spur} px and pieces shorter
   than {shortest} px were dropped.
4. Gaps: from each free end a least-cost path through the response was sought to other pieces
   ahead within {gap} px; it was taken where the mean response along it exceeds {contrast} of the
   lower threshold.
5. Lines were drawn {width:.1f} px wide round the crests.

Limits: lines closer than about 4 px merge; a dim filament that runs into a bright one may be
joined with it; very dim filaments are missed. Parameters were chosen beforehand on other,
synthetic images.

Foreground on average: {share:.2%}. Connected pieces in total: {pieces}.
"""


def main(input_dir: Path, output_dir: Path) -> None:
    """Segment every TIFF of a folder; write masks, figures and a methods text."""
    output_dir.mkdir(parents=True, exist_ok=True)
    filters = line_filters()
    images, responses, masks = {}, {}, {}
    for path in sorted(input_dir.glob("*.tif*")):
        found = re.search(r"report_\d+", path.name)
        if found is None:
            continue
        name = found.group()
        images[name] = tifffile.imread(path)
        responses[name] = line_response(images[name].astype(np.float32), filters)
        response, direction = responses[name]
        low = lower_threshold(response)
        masks[name] = draw(close_gaps(crests(response, direction, low), response, low))
        tifffile.imwrite(
            output_dir / f"{name}_mask.tif", masks[name].astype(np.uint8), compression="zlib"
        )
    figures = output_dir / "figures"
    figures.mkdir(exist_ok=True)
    shown = list(images)[:: max(1, len(images) // 3)][:3]
    draw_panels({n: (images[n], responses[n][0], masks[n]) for n in shown}, figures / "panels.png")
    draw_skeletons({n: (images[n], masks[n]) for n in shown}, figures / "skeletons.png")
    draw_lengths(masks, figures / "component_lengths.png")
    write_methods(masks, output_dir / "methods.md")


def line_filters() -> np.ndarray:
    """Return matched filters of unit noise, one a direction, shape (directions, k, k)."""
    half = int(3 * ALONG_PX)
    y, x = np.mgrid[-half : half + 1, -half : half + 1].astype(np.float32)
    filters = []
    for angle in np.arange(ORIENTATIONS) * np.pi / ORIENTATIONS:
        along = x * np.cos(angle) + y * np.sin(angle)
        across = y * np.cos(angle) - x * np.sin(angle)
        profile = (1 - (across / ACROSS_PX) ** 2) * np.exp(-0.5 * (across / ACROSS_PX) ** 2)
        kernel = profile * np.exp(-0.5 * (along / ALONG_PX) ** 2)
        kernel -= kernel.mean()
        filters.append(kernel / np.sqrt((kernel**2).sum()))
    return np.array(filters)


def line_response(image: np.ndarray, filters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest response in units of its noise, and the direction of it (index)."""
    flat = (image - ndimage.gaussian_filter(image, 12.0)) / local_noise(image)
    half = filters.shape[1] // 2
    padded = np.pad(flat, half, mode="reflect")
    size = [n + filters.shape[1] - 1 for n in padded.shape]
    spectrum = np.fft.rfft2(padded, size)
    best = np.full(image.shape, -np.inf, dtype=np.float32)
    direction = np.zeros(image.shape, dtype=np.int64)
    for index, kernel in enumerate(filters):
        answer = np.fft.irfft2(spectrum * np.fft.rfft2(kernel, size), size)
        answer = answer[2 * half : 2 * half + image.shape[0], 2 * half : 2 * half + image.shape[1]]
        better = answer > best
        best[better], direction[better] = answer[better], index
    return best, direction


def local_noise(image: np.ndarray) -> np.ndarray:
    """Estimate the noise of a pixel from differences of neighbours, smoothly over the field."""
    step = np.zeros_like(image)
    step[:, 1:] = np.abs(np.diff(image, axis=1))
    # The mean distance of two normal values is 2 / sqrt(pi) of their deviation; lines add little.
    smooth = ndimage.gaussian_filter(np.minimum(step, 4 * np.median(step) + 1), 16.0)
    return np.maximum(smooth * np.sqrt(np.pi) / 2, 1e-3)


def lower_threshold(response: np.ndarray) -> float:
    """Return the response from which a crest may belong to a line."""
    peaks = response[(response == ndimage.maximum_filter(response, 7)) & (response > SURELY)]
    return max(PERHAPS, OF_USUAL * float(np.median(peaks))) if peaks.size else PERHAPS


def crests(response: np.ndarray, direction: np.ndarray, low: float) -> np.ndarray:
    """Return one-pixel lines along the crests of the response."""
    angle = direction * np.pi / ORIENTATIONS
    grid = np.indices(response.shape).astype(np.float32)
    # One pixel to either side, across the line.
    side = np.array([np.cos(angle), -np.sin(angle)])
    left, right = (
        ndimage.map_coordinates(response, grid + sign * side, order=1, mode="nearest")
        for sign in (-1, 1)
    )
    crest = (response >= left) & (response >= right)
    weak = morphology.closing(crest & (response > low), np.ones((3, 3)))
    labels, _ = ndimage.label(weak, np.ones((3, 3)))
    strong = np.unique(labels[weak & (response > low * SURELY / PERHAPS)])
    lines = morphology.skeletonize(np.isin(labels, strong[strong > 0]))
    return drop_short(prune(prune(lines)), SHORTEST_PX)


def prune(lines: np.ndarray) -> np.ndarray:
    """Remove short side branches: from a fork to a free end in a few pixels."""
    around = neighbours(lines)
    forks = ndimage.binary_dilation(lines & (around > 2), np.ones((3, 3)))
    labels, _ = ndimage.label(lines & ~forks, np.ones((3, 3)))
    sizes = np.bincount(labels.ravel())
    ends, at_fork = np.zeros(len(sizes), bool), np.zeros(len(sizes), bool)
    ends[labels[lines & (around == 1)]] = True
    at_fork[labels[ndimage.binary_dilation(forks, np.ones((3, 3)))]] = True
    spur = ends & at_fork & (sizes < SPUR_PX)
    spur[0] = False
    # The fork left behind is thinned to a line again, one pixel of branch apart at most.
    return morphology.skeletonize(lines & ~spur[labels])


def neighbours(lines: np.ndarray) -> np.ndarray:
    """Count the neighbours of each pixel, itself not included."""
    return ndimage.convolve(lines.astype(int), np.ones((3, 3), int), mode="constant") - lines


def drop_short(lines: np.ndarray, shortest: int) -> np.ndarray:
    """Remove pieces of fewer pixels."""
    labels, _ = ndimage.label(lines, np.ones((3, 3)))
    sizes = np.bincount(labels.ravel())
    sizes[0] = 0
    return (sizes >= shortest)[labels]


def close_gaps(lines: np.ndarray, response: np.ndarray, low: float) -> np.ndarray:
    """Join free ends to other pieces that lie ahead, along dim lines."""
    joined = lines.copy()
    ends = np.argwhere(lines & (neighbours(lines) == 1))
    for end in ends:
        corner = np.maximum(end - GAP_PX, 0)
        opposite = np.minimum(end + GAP_PX + 1, lines.shape)
        window = tuple(slice(a, b) for a, b in zip(corner, opposite, strict=True))
        labels, _ = ndimage.label(joined[window], np.ones((3, 3)))
        here = tuple(end - corner)
        ahead = end - corner - last_pixels(labels == labels[here], here).mean(axis=0)
        others = np.argwhere((labels > 0) & (labels != labels[here]))
        way = others - np.array(here)
        cosine = (way @ ahead) / (np.linalg.norm(way, axis=1) * np.linalg.norm(ahead) + 1e-9)
        others = others[cosine > GAP_TURN]
        if not len(others):
            continue
        local = response[window]
        search = graph.MCP_Geometric(1 / (0.15 + np.clip(local / low, 0, 1.5)))
        total, _ = search.find_costs([here])
        path = np.array(search.traceback(others[np.argmin(total[tuple(others.T)])]))
        bridge = local[tuple(path[2:-2].T)]  # beyond the glow of either end
        if len(path) <= GAP_PX and (not len(bridge) or bridge.mean() > GAP_CONTRAST * low):
            joined[window][tuple(path.T)] = True
    return joined


def last_pixels(piece: np.ndarray, end: tuple[int, ...]) -> np.ndarray:
    """Return the pixels of a line within 8 px of its end."""
    pixels = np.argwhere(piece)
    return pixels[np.abs(pixels - np.array(end)).max(axis=1) <= 8]


def draw(lines: np.ndarray) -> np.ndarray:
    """Widen one-pixel lines to the width of a filament."""
    return ndimage.distance_transform_edt(~lines) <= WIDTH_PX if lines.any() else lines


def draw_panels(shown: dict[str, tuple[np.ndarray, ...]], path: Path) -> None:
    """Show noisy input, filtered image and outlines of the mask side by side."""
    figure, axes = plt.subplots(len(shown), 3, figsize=(10, 3.4 * len(shown)), squeeze=False)
    for row, (name, (image, response, mask)) in zip(axes, shown.items(), strict=True):
        low, high = np.percentile(image, (1, 99.8))
        row[0].imshow(image, cmap="gray", vmin=low, vmax=high)
        row[0].set_title(f"{name}: noisy input")
        row[1].imshow(response, cmap="gray", vmin=0, vmax=10)
        row[1].set_title("line response")
        row[2].imshow(image, cmap="gray", vmin=low, vmax=high)
        row[2].contour(mask, levels=[0.5], colors="#E69F00", linewidths=0.6)
        row[2].set_title("outline of the mask (orange)")
        for axis in row:
            scale_bar(axis, image.shape)
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    plt.close(figure)


def draw_skeletons(shown: dict[str, tuple[np.ndarray, np.ndarray]], path: Path) -> None:
    """Show the centre lines of the masks over the images, one colour a connected piece."""
    figure, axes = plt.subplots(1, len(shown), figsize=(4.2 * len(shown), 4.4), squeeze=False)
    for axis, (name, (image, mask)) in zip(axes.flat, shown.items(), strict=True):
        axis.imshow(image, cmap="gray", vmax=np.percentile(image, 99.8))
        labels, count = ndimage.label(mask, np.ones((3, 3)))
        y, x = np.nonzero(morphology.skeletonize(mask))
        axis.scatter(x, y, c=labels[y, x] % 10, cmap="tab10", s=1.5, linewidths=0, label="skeleton")
        axis.set_title(f"{name}: {count} connected pieces")
        axis.legend(loc="upper right", fontsize=8)
        scale_bar(axis, image.shape)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def scale_bar(axis: plt.Axes, shape: tuple[int, ...]) -> None:
    """Draw 50 px into the lower right corner."""
    y, x = 0.95 * shape[0], 0.95 * shape[1]
    axis.plot([x - 50, x], [y, y], color="white", linewidth=2.5)
    axis.text(x - 25, y - 5, "50 px", color="white", ha="center", fontsize=8)
    axis.axis("off")


def draw_lengths(masks: dict[str, np.ndarray], path: Path) -> None:
    """Show how long connected pieces are."""
    lengths: list[int] = []
    for mask in masks.values():
        labels, _ = ndimage.label(mask, np.ones((3, 3)))
        lengths += np.bincount(labels[morphology.skeletonize(mask)])[1:].tolist()
    figure, axis = plt.subplots(figsize=(5.5, 3.2))
    axis.hist(lengths, bins=30, color="#0072B2", label=f"N = {len(lengths)} pieces")
    axis.set_xlabel("length of connected piece (px of skeleton)")
    axis.set_ylabel("pieces")
    axis.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def write_methods(masks: dict[str, np.ndarray], path: Path) -> None:
    """Say what was done, with the numbers that came out."""
    text = METHODS.format(
        count=len(masks),
        across=ACROSS_PX,
        along=ALONG_PX,
        orientations=ORIENTATIONS,
        low=PERHAPS,
        high=SURELY,
        shortest=SHORTEST_PX,
        spur=SPUR_PX,
        gap=GAP_PX,
        contrast=GAP_CONTRAST,
        width=2 * WIDTH_PX,
        share=np.mean([mask.mean() for mask in masks.values()]) if masks else 0.0,
        pieces=sum(ndimage.label(mask, np.ones((3, 3)))[1] for mask in masks.values()),
    )
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
