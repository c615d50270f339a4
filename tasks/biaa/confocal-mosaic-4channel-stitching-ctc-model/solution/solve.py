"""Classical stitching and image cytometry: correlation of overlaps, least squares, moments.

Run as `python solve.py INPUT_DIR OUTPUT_DIR`.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
import tifffile
from scipy import ndimage, sparse
from scipy.sparse.linalg import spsolve
from skimage import feature, filters, measure, segmentation

mpl.use("Agg")
import matplotlib.pyplot as plt

CHANNELS = ("Bodipy", "PanCK", "DAPI", "CD45")
FEATURES = ("Sigma", "r", "rf", "M")
DAPI, PANCK, CD45 = 2, 1, 3
SEARCH_PX = 10  # how far from its nominal place a neighbour may stand
LEAST_PX = 5  # narrowest strip that is still correlated
SMOOTH_PX = 1.0
STAGE_PX = 3.0  # standard deviation that the stage is trusted to
NUCLEUS_SIGMA_PX = 1.8
AREA_UM2 = (20.0, 500.0)

METHODS = """# Methods

{tiles} tiles of {shape} (slices, channels, rows, columns) were read from the LSM file with the
nominal places of the tiles; a pixel is {pixel:.3f} µm.

1. Illumination: for each channel a quadratic surface was fitted to the mean of all tiles and
   slices; tiles were divided by it.
2. Registration on the maximum projection of DAPI: the strips that two neighbours share were
   correlated (normalised cross-correlation, Gaussian of {smooth} px) at all shifts within {search}
   px of the nominal one; the maximum was refined by a parabola. Its weight is how far it stands
   out from the best rival, given the area it rests on.
3. Places: weighted least squares over all pairs, reweighted five times against outliers (Cauchy),
   with a weak pull (SD {stage} px) to the nominal grid whose lines scanned backwards may lag.
4. All slices and channels of a tile were moved by the same translation (linear interpolation) and
   blended with weights that fall linearly to the tile's edges. Result: {mosaic}, {pairs} pairs, of
   which {weak} carried little weight.
5. Nuclei: maximum projection of DAPI, Gaussian {nucleus} px, Otsu's threshold within local
   background, watershed on the distance transform; {area} µm², solidity above 0.85, none cut by the
   edge of the mosaic.
6. A nucleus is MCF7 if its mean Pan-CK over the population's scale exceeds that of CD45, else WBC.
7. Moments on the maximum projections: Sigma = 10 log10(sum I) in dBct; <r> in µm; <rf> from the
   power spectrum of I less its mean within the region; <M> = <r><rf>.

Cells: {wbc} WBC, {mcf7} MCF7. Limits: tiles that share almost no cell with any neighbour stay near
their nominal place; the seams of the outer edge are not cropped.
"""


@dataclass
class Tiles:
    """Tiles (tile, slice, channel, row, column), nominal corners (y, x) and pixel size."""

    images: np.ndarray
    nominal: np.ndarray
    pixel_um: float


def main(input_dir: Path, output_dir: Path) -> None:
    """Stitch the only LSM file of a folder, measure its cells, write all deliverables."""
    figures = output_dir / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    tiles = read_tiles(next(iter(sorted(input_dir.glob("*.lsm")))))
    light = np.stack([illumination(tiles.images[:, :, c]) for c in range(len(CHANNELS))])
    pairs, shifts, weights = register(tiles, light)
    places = settle(tiles, pairs, shifts, weights)
    mosaic = fuse(tiles, light, places)
    save_mosaic(output_dir / "day15_1_6_wbc_wbca1_mcf7_stitched.tif", mosaic, tiles.pixel_um)
    projection = mosaic.max(axis=0)
    labels = segment(projection[DAPI], tiles.pixel_um)
    values = measure_cells(projection, labels, tiles.pixel_um)
    kinds = classify(projection, labels)
    write_cells(output_dir / "per_cell_features.csv", values, kinds)
    write_summary(output_dir / "summary_statistics.csv", values, kinds)
    draw_mosaic(projection, labels, places, tiles, figures / "mosaic.png")
    draw_histograms(values, kinds, figures / "features.png")
    text = METHODS.format(
        tiles=len(tiles.images),
        shape=tiles.images.shape[1:],
        pixel=tiles.pixel_um,
        smooth=SMOOTH_PX,
        search=SEARCH_PX,
        stage=STAGE_PX,
        mosaic=mosaic.shape,
        pairs=len(pairs),
        weak=int((weights < np.median(weights) / 10).sum()),
        nucleus=NUCLEUS_SIGMA_PX,
        area="-".join(f"{a:.0f}" for a in AREA_UM2),
        wbc=int((kinds == "WBC").sum()),
        mcf7=int((kinds == "MCF7").sum()),
    )
    (output_dir / "methods.md").write_text(text, encoding="utf-8")


def read_tiles(path: Path) -> Tiles:
    """Read all tiles and where they were meant to lie, in pixels."""
    with tifffile.TiffFile(path) as file:
        images = file.series[0].asarray()
        told = file.lsm_metadata
    assert told is not None
    pixel_m = float(told["VoxelSizeX"])
    centres = np.asarray(told["TilePositions"])[:, 1::-1] / pixel_m
    return Tiles(images, centres - centres.min(axis=0), pixel_m * 1e6)


def illumination(stack: np.ndarray) -> np.ndarray:
    """Fit the light within a tile by a quadratic surface, mean 1."""
    mean = stack.mean(axis=(0, 1))
    y, x = (np.linspace(-1, 1, n) for n in mean.shape)
    yy, xx = np.meshgrid(y, x, indexing="ij")
    terms = np.stack([np.ones_like(yy), yy, xx, yy * xx, yy**2, xx**2], axis=-1)
    fit, *_ = np.linalg.lstsq(terms.reshape(-1, 6), mean.ravel(), rcond=None)
    surface = terms @ fit
    surface = np.maximum(surface / surface.mean(), 0.3)
    return surface / surface.max()


def register(tiles: Tiles, light: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return neighbouring pairs (n, 2), the shift between their corners (n, 2), and weights."""
    dapi = tiles.images[:, :, DAPI].max(axis=1) / light[DAPI]
    images = ndimage.gaussian_filter(dapi, (0, SMOOTH_PX, SMOOTH_PX))
    step = np.abs(tiles.nominal[1] - tiles.nominal[0]).max()
    pairs, shifts, weights = [], [], []
    for first in range(len(images)):
        for second in range(len(images)):
            apart = tiles.nominal[second] - tiles.nominal[first]
            if apart.min() < -1 or not 0.5 * step < np.abs(apart).sum() < 1.5 * step:
                continue
            shift, weight = correlate(images[first], images[second], np.rint(apart).astype(int))
            pairs.append((first, second))
            shifts.append(shift)
            weights.append(weight)
    return np.array(pairs), np.array(shifts), np.array(weights)


def correlate(first: np.ndarray, second: np.ndarray, apart: np.ndarray) -> tuple[np.ndarray, float]:
    """Find the shift of the second tile against the first near a nominal one, and its weight."""
    reach = SEARCH_PX
    score = np.full((2 * reach + 1, 2 * reach + 1), -1.0)
    for i, j in np.ndindex(score.shape):
        dy, dx = apart[0] + i - reach, apart[1] + j - reach
        a = first[
            max(dy, 0) : first.shape[0] + min(dy, 0), max(dx, 0) : first.shape[1] + min(dx, 0)
        ]
        b = second[max(-dy, 0) :, max(-dx, 0) :][: a.shape[0], : a.shape[1]]
        if min(a.shape) < LEAST_PX:
            continue
        a, b = a - a.mean(), b - b.mean()
        likeness = (a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum() + 1e-12)
        # Fisher's z times the root of independent samples: a narrow strip must agree better.
        score[i, j] = np.arctanh(min(likeness, 0.999)) * np.sqrt(a.size)
    i, j = np.unravel_index(score.argmax(), score.shape)
    fine = [
        vertex(score[max(i - 1, 0), j], score[i, j], score[min(i + 1, 2 * reach), j]),
        vertex(score[i, max(j - 1, 0)], score[i, j], score[i, min(j + 1, 2 * reach)]),
    ]
    far = np.hypot(*(np.indices(score.shape) - np.array([i, j])[:, None, None])) > 3
    rival = score[far].max()
    weight = max(score[i, j] - rival, 0.0) ** 2 if 0 < i < 2 * reach and 0 < j < 2 * reach else 0.0
    return np.array([i, j]) - reach + fine + apart, weight


def vertex(before: float, peak: float, after: float) -> float:
    """Return how far a parabola's top lies from its middle point."""
    bend = before - 2 * peak + after
    return float(np.clip(0.5 * (before - after) / bend, -0.5, 0.5)) if bend < 0 else 0.0


def settle(tiles: Tiles, pairs: np.ndarray, shifts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Find the places of all tiles by least squares; rows scanned backwards share one lag."""
    count, n = len(tiles.nominal), len(pairs)
    backwards = scanned_backwards(tiles.nominal)
    rows = np.arange(n)
    links = sparse.csr_matrix(
        (np.tile([-1.0, 1.0], n), (np.repeat(rows, 2), pairs.ravel())), (n, count + 1)
    )
    pull = sparse.hstack([sparse.eye(count), -backwards[:, None]]).tocsr()
    # A steady lag costs nothing, a single tile's error does.
    base = (
        np.minimum(weights, np.percentile(weights, 60))
        / (np.percentile(weights, 60) + 1e-9)
        / 0.3**2
    )
    places = np.zeros((count, 2))
    trust = np.ones(n)
    for _ in range(6):
        strength = sparse.diags(base * trust)
        normal = links.T @ strength @ links + pull.T @ pull / STAGE_PX**2
        normal += 1e-6 * sparse.eye(count + 1)
        right = links.T @ (strength @ shifts) + pull.T @ tiles.nominal / STAGE_PX**2
        solved = np.stack([spsolve(normal.tocsc(), right[:, axis]) for axis in (0, 1)], axis=1)
        places = solved[:count]
        off = np.hypot(*(places[pairs[:, 1]] - places[pairs[:, 0]] - shifts).T)
        trust = 1 / (1 + (off / 1.0) ** 2)
    return places - places.min(axis=0)


def scanned_backwards(nominal: np.ndarray) -> np.ndarray:
    """Return 1 for tiles of rows that run from right to left, else 0, shape (tiles,)."""
    step = np.gradient(nominal[:, 1])
    rows = np.unique(np.rint(nominal[:, 0]), return_inverse=True)[1]
    way = np.array([np.median(step[rows == row]) for row in range(rows.max() + 1)])
    return (way[rows] < 0).astype(float)


def fuse(tiles: Tiles, light: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Blend the moved tiles, result (slice, channel, row, column)."""
    side = tiles.images.shape[-1]
    whole = np.floor(places).astype(int)
    size = whole.max(axis=0) + side + 1
    near = np.minimum(np.arange(side), np.arange(side)[::-1]) + 1.0
    step = np.abs(tiles.nominal[1] - tiles.nominal[0]).max()
    ramp = np.minimum(near / max(side - step, 1), 1)
    weight = ramp[:, None] * ramp
    slices, channels = tiles.images.shape[1:3]
    total = np.zeros((slices, channels, *size), np.float32)
    share = np.zeros(size)
    for image, corner, place in zip(tiles.images, whole, places, strict=True):
        moved = move(image / light, place - corner)
        at = (slice(corner[0], corner[0] + side), slice(corner[1], corner[1] + side))
        total[(..., *at)] += moved * weight
        share[at] += weight
    total /= np.maximum(share, 1e-9)
    return np.clip(np.rint(total), 0, 65535).astype(np.uint16)


def move(images: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Move images by less than a pixel along their last two axes, linearly."""
    for axis, share in zip((-2, -1), part, strict=True):
        before = np.concatenate(
            [np.take(images, [0], axis), np.delete(images, -1, axis)], axis=axis
        )
        images = (1 - share) * images + share * before
    return images


def save_mosaic(path: Path, mosaic: np.ndarray, pixel_um: float) -> None:
    """Write the mosaic with its axes and voxel size as Fiji reads them."""
    tifffile.imwrite(
        path,
        mosaic,
        imagej=True,
        resolution=(1 / pixel_um, 1 / pixel_um),
        metadata={"axes": "ZCYX", "spacing": 5.0, "unit": "um", "mode": "composite"},
        compression="zlib",
    )


def segment(dapi: np.ndarray, pixel_um: float) -> np.ndarray:
    """Label nuclei of a projection."""
    smooth = ndimage.gaussian_filter(dapi.astype(float), NUCLEUS_SIGMA_PX)
    smooth -= ndimage.minimum_filter(ndimage.gaussian_filter(smooth, 20), 60)
    mask = ndimage.binary_opening(smooth > 0.85 * filters.threshold_otsu(smooth), iterations=2)
    mask = ndimage.binary_fill_holes(mask)
    distance = ndimage.gaussian_filter(ndimage.distance_transform_edt(mask), 1.5)
    peaks = feature.peak_local_max(distance, min_distance=6, labels=measure.label(mask))
    seeds = np.zeros(dapi.shape, int)
    seeds[tuple(peaks.T)] = np.arange(1, len(peaks) + 1)
    labels = segmentation.watershed(-distance, seeds, mask=mask)
    labels = segmentation.clear_border(labels)
    table = measure.regionprops_table(labels, properties=("label", "area", "solidity"))
    area = table["area"] * pixel_um**2
    kept = (area >= AREA_UM2[0]) & (area <= AREA_UM2[1]) & (table["solidity"] > 0.85)
    renamed = np.zeros(labels.max() + 1, int)
    renamed[table["label"][kept]] = np.arange(1, kept.sum() + 1)
    return renamed[labels]


def measure_cells(projection: np.ndarray, labels: np.ndarray, pixel_um: float) -> np.ndarray:
    """Return the moments of each region in each channel, shape (n, 4, 4)."""
    rows = []
    for index, box in enumerate(ndimage.find_objects(labels)):
        inside = labels[box] == index + 1
        rows.append([moments(plane[box].astype(float), inside, pixel_um) for plane in projection])
    return np.array(rows).reshape(-1, len(CHANNELS), len(FEATURES))


def moments(image: np.ndarray, inside: np.ndarray, pixel_um: float) -> list[float]:
    """Return Sigma in dBct, <r> in µm, <rf> in 1/µm and <M> of one region."""
    light = np.where(inside, image, 0)
    total = light.sum() + 1e-9
    y, x = np.indices(light.shape)
    centre_y, centre_x = (light * y).sum() / total, (light * x).sum() / total
    size = np.sqrt((light * ((y - centre_y) ** 2 + (x - centre_x) ** 2)).sum() / total) * pixel_um
    varying = np.where(inside, image - total / inside.sum(), 0)
    power = np.abs(np.fft.fft2(varying, [2 * n for n in light.shape])) ** 2
    waves = [np.fft.fftfreq(n, pixel_um) ** 2 for n in power.shape]
    square = waves[0][:, None] + waves[1][None, :]
    frequency = np.sqrt((power * square).sum() / (power.sum() + 1e-12))
    return [10 * np.log10(total), size, frequency, size * frequency]


def classify(projection: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Name each region by which of its markers is the stronger for that marker's range."""
    index = np.arange(1, labels.max() + 1)
    means = [np.asarray(ndimage.mean(projection[c], labels, index)) for c in (PANCK, CD45)]
    scaled = []
    for mean in means:
        low, high = np.percentile(mean, (5, 95)) if len(mean) else (0, 1)
        scaled.append((mean - low) / max(high - low, 1e-9))
    return np.where(scaled[0] > scaled[1], "MCF7", "WBC")


def write_cells(path: Path, values: np.ndarray, kinds: np.ndarray) -> None:
    """Write one row a cell."""
    units = {"Sigma": "Sigma_dBct", "r": "r_um", "rf": "rf_um1", "M": "M"}
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["cell_type", *(f"{c}_{units[f]}" for c in CHANNELS for f in FEATURES)])
        for kind, row in zip(kinds, values, strict=True):
            table.writerow([kind, *(f"{value:.5g}" for value in row.ravel())])


def write_summary(path: Path, values: np.ndarray, kinds: np.ndarray) -> None:
    """Write one row for each population, channel and feature."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["population", "channel", "feature", "mean", "sd", "n"])
        for population in ("WBC", "MCF7"):
            own = values[kinds == population]
            if len(own) < 2:
                continue
            for c, f in np.ndindex(len(CHANNELS), len(FEATURES)):
                mean, sd = own[:, c, f].mean(), own[:, c, f].std(ddof=1)
                table.writerow([population, CHANNELS[c], FEATURES[f], mean, sd, len(own)])


def draw_mosaic(
    projection: np.ndarray, labels: np.ndarray, places: np.ndarray, tiles: Tiles, path: Path
) -> None:
    """Show DAPI with the borders of tiles, and a composite with outlines of nuclei."""
    figure, axes = plt.subplots(1, 2, figsize=(13, 7), layout="constrained")
    dapi = projection[DAPI]
    axes[0].imshow(dapi, cmap="gray", vmax=np.percentile(dapi, 99.7))
    side = tiles.images.shape[-1]
    for y, x in places:
        axes[0].add_patch(plt.Rectangle((x, y), side, side, fill=False, color="#E69F00", lw=0.7))
    axes[0].set_title("DAPI, maximum projection, and tiles")
    colours = np.array([(0, 1, 0), (1, 0.8, 0), (0, 0.3, 1), (1, 0, 0)])
    scaled = [np.clip(p / max(np.percentile(p, 99.7), 1), 0, 1) for p in projection]
    axes[1].imshow(np.clip(np.tensordot(np.stack(scaled, -1), colours, 1), 0, 1))
    axes[1].contour(labels > 0, [0.5], colors="white", linewidths=0.5)
    axes[1].set_title("Bodipy, Pan-CK, DAPI, CD45 and nuclei")
    bar = 20 if dapi.shape[1] * tiles.pixel_um < 500 else 200
    for axis in axes:
        x, y = 0.05 * dapi.shape[1], 0.95 * dapi.shape[0]
        axis.plot([x, x + bar / tiles.pixel_um], [y, y], color="white", lw=3)
        axis.text(x, 0.94 * dapi.shape[0], f"{bar} µm", color="white")
        axis.axis("off")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_histograms(values: np.ndarray, kinds: np.ndarray, path: Path) -> None:
    """Show the distribution of each feature in each channel for both populations."""
    figure, axes = plt.subplots(len(CHANNELS), len(FEATURES), figsize=(12, 9))
    names = ("Sigma / dBct", "<r> / µm", "<rf> / µm⁻¹", "<M>")
    for c, f in np.ndindex(axes.shape):
        for kind, colour in (("WBC", "#D55E00"), ("MCF7", "#009E73")):
            shown = values[kinds == kind][:, c, f]
            axes[c, f].hist(
                shown, bins=20, alpha=0.6, color=colour, label=f"{kind}, N = {len(shown)}"
            )
        axes[c, f].set_xlabel(f"{CHANNELS[c]} {names[f]}")
        axes[c, f].set_ylabel("cells")
    axes[0, 0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
