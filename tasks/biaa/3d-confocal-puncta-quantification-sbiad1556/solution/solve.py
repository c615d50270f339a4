"""Count GFP puncta nucleus by nucleus in two-channel stacks, or in projections of them.

Usage: python solve.py INPUT_DIR OUTPUT_DIR
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import tifffile
from scipy import ndimage as ndi
from scipy import stats
from skimage.feature import peak_local_max
from skimage.filters import threshold_otsu
from skimage.segmentation import find_boundaries, watershed

mpl.use("Agg")
import matplotlib.pyplot as plt

# Used where a file carries no voxel size (z, y, x).
VOXEL_UM = (0.2, 0.065, 0.065)
OFFSET = 100.0
SMALLEST_UM2, LARGEST_HOLE_UM2 = 8.0, 1.0
LEAST_IOU, LEAST_PLANES = 0.5, 3
SEED_APART_UM = 1.5
# (in a projection, in a stack)
BLUR_UM, SIGMAS = (0.22, 0.3), (4.3, 4.4)
SPOT_UM, AROUND_UM = 0.16, 1.2
CONTRAST = 1.5
DISSOLVED = (10.0, 40.0)


@dataclass(frozen=True)
class Stack:
    """Both channels less the detector's offset, axes (z, y, x); a projection has one plane."""

    condition: str
    name: str
    dna: np.ndarray
    gfp: np.ndarray
    voxel_um: np.ndarray


@dataclass(frozen=True)
class Found:
    """Nuclei (0 is none) and puncta (rows z, y, x in voxels) of a stack."""

    labels: np.ndarray
    puncta: np.ndarray
    owner: np.ndarray


def load(path: Path) -> Stack:
    """Read a file; the axis of length 2 is that of the channels."""
    with tifffile.TiffFile(path) as tif:
        image = tif.asarray().astype(np.float32) - OFFSET
        told = tif.imagej_metadata or {}
        tags = tif.pages[0].tags
        pixel = VOXEL_UM[2]
        if "XResolution" in tags and tags["XResolution"].value[0] > 1:
            count, length = tags["XResolution"].value
            pixel = (1e4 if tags["ResolutionUnit"].value == 3 else 1) * length / count
    image = np.moveaxis(image, image.shape.index(2), 0)
    dna, gfp = image if image.ndim == 4 else image[:, None]
    spacing = float(told.get("spacing", VOXEL_UM[0] / VOXEL_UM[2] * pixel))
    return Stack(path.parent.name, path.name, dna, gfp, np.array([spacing, pixel, pixel]))


def find_nuclei(stack: Stack) -> np.ndarray:
    """Label the nuclei plane by plane and join what overlaps from plane to plane."""
    pixel = stack.voxel_um[1]
    blur = BLUR_UM[len(stack.dna) > 1] / pixel
    smooth = ndi.gaussian_filter(stack.dna, (0.5 if len(stack.dna) > 1 else 0, blur, blur))
    brightest = smooth.max(axis=0)
    ground = np.percentile(brightest, 2)
    cut = ground + 0.6 * (threshold_otsu(brightest) - ground)
    around = 0.72 * ndi.uniform_filter(brightest, 8.0 / pixel)
    planes = [part(plane > np.maximum(cut, around), pixel) for plane in smooth]
    return joined(planes) if len(planes) > 1 else planes[0][None]


def part(mask: np.ndarray, pixel: float) -> np.ndarray:
    """Part touching nuclei of one plane by a watershed on the distance to the ground."""
    mask = ndi.binary_opening(mask, iterations=max(1, round(0.3 / pixel)))
    # Gaps between nuclei stay open: only holes of the size of a nucleolus are filled.
    holes = ndi.label(~mask)[0]
    mask |= (np.bincount(holes.ravel()) * pixel**2 < LARGEST_HOLE_UM2)[holes]
    depth = ndi.gaussian_filter(ndi.distance_transform_edt(mask) * pixel, 0.45 / pixel)
    apart = max(1, round(SEED_APART_UM / pixel))
    seeds = peak_local_max(depth, min_distance=apart, labels=mask.astype(int), exclude_border=False)
    marks = np.zeros(mask.shape, np.int32)
    marks[tuple(seeds.T)] = np.arange(1, len(seeds) + 1)
    flat = watershed(-depth, marks, mask=mask)
    small = np.bincount(flat.ravel()) * pixel**2 < SMALLEST_UM2
    flat[small[flat]] = 0
    return np.unique(flat, return_inverse=True)[1].reshape(flat.shape).astype(np.int32)


def joined(planes: list[np.ndarray]) -> np.ndarray:
    """Give nuclei of neighbouring planes one number where they overlap by half of their union."""
    numbers = np.arange(1, planes[0].max() + 1)
    labels = [planes[0]]
    last = int(planes[0].max())
    for below, plane in pairwise(planes):
        wide = int(plane.max()) + 1
        both = np.bincount(below.ravel() * wide + plane.ravel(), minlength=(below.max() + 1) * wide)
        both = both.reshape(-1, wide)
        union = both.sum(axis=1, keepdims=True) + both.sum(axis=0) - both
        iou = (both / np.maximum(union, 1))[1:, 1:]
        chosen = np.zeros(wide - 1, int)
        if iou.size:
            best = iou.argmax(axis=0)
            same = iou[best, np.arange(wide - 1)] >= LEAST_IOU
            chosen[same] = numbers[best[same]]
        new = chosen == 0
        chosen[new] = last + 1 + np.arange(new.sum())
        last += int(new.sum())
        numbers = chosen
        labels.append(np.concatenate([[0], chosen])[plane])
    volume = np.stack(labels)
    # Whatever is there in too few planes is out of focus or a piece of something.
    seen = np.zeros((last + 1, len(planes)), bool)
    for z, plane in enumerate(volume):
        seen[np.unique(plane), z] = True
    volume[(seen.sum(axis=1) < LEAST_PLANES)[volume]] = 0
    return np.unique(volume, return_inverse=True)[1].reshape(volume.shape).astype(np.int32)


def find_puncta(stack: Stack, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return local maxima of GFP that stand out of their nucleus, and whose they are."""
    across = SPOT_UM / stack.voxel_um[1]
    along = min(1.5 * SPOT_UM / stack.voxel_um[0], 2.0) if len(labels) > 1 else 0.0
    smooth = ndi.gaussian_filter(stack.gfp, (along, across, across))
    # Maxima of the whole image: one at the rim of a label would be its bright neighbour's slope.
    reach = max(1, round(0.12 / stack.voxel_um[1]))
    peaks = peak_local_max(smooth, min_distance=reach, exclude_border=False)
    peaks = peaks[labels[tuple(peaks.T)] > 0]
    owner = labels[tuple(peaks.T)]
    if not len(peaks):
        return peaks, owner
    low, middle = np.zeros((2, int(labels.max()) + 1))
    for index, box in enumerate(ndi.find_objects(labels), start=1):
        if box is not None:
            inside = smooth[box][labels[box] == index]
            low[index], middle[index] = np.percentile(inside, DISSOLVED)
    # Noise goes with the root of the light. Most nuclei have no puncta, so their median tells it.
    steps = stats.norm.ppf(np.array(DISSOLVED) / 100)
    root = np.sqrt(np.maximum(middle, 1.0))
    unit = float(np.median(((middle - low) / (steps[1] - steps[0]) / root)[1:]))
    # A label may hold two nuclei: what is round a peak counts as dissolved too.
    dissolved = np.maximum(middle[owner], surroundings(smooth, peaks, stack.voxel_um[1]))
    noise = unit * np.sqrt(np.maximum(dissolved, 1.0))
    net = np.maximum(dissolved - np.percentile(smooth, 5), 0)
    least = np.maximum((CONTRAST - 1) * net, SIGMAS[len(labels) > 1] * noise)
    clear = smooth[tuple(peaks.T)] - dissolved > least
    return peaks[clear], owner[clear]


def surroundings(smooth: np.ndarray, peaks: np.ndarray, pixel: float) -> np.ndarray:
    """Return the median on a grid of points round each peak in its plane."""
    steps = np.rint(np.linspace(-AROUND_UM, AROUND_UM, 7) / pixel).astype(int)
    down, right = np.meshgrid(steps, steps, indexing="ij")
    y = np.clip(peaks[:, 1:2] + down.ravel(), 0, smooth.shape[1] - 1)
    x = np.clip(peaks[:, 2:3] + right.ravel(), 0, smooth.shape[2] - 1)
    return np.median(smooth[peaks[:, :1], y, x], axis=1)


def measure(stack: Stack, found: Found) -> pd.DataFrame:
    """Return one row a nucleus."""
    numbers = np.arange(1, found.labels.max() + 1)
    if not len(numbers):
        return pd.DataFrame()
    place = np.array(ndi.center_of_mass(found.labels > 0, found.labels, numbers))
    voxels = ndi.sum_labels(np.ones_like(stack.gfp), found.labels, numbers)
    gfp = ndi.mean(stack.gfp, found.labels, numbers)
    outside = np.percentile(stack.gfp, 5)
    middle = ndi.median(stack.gfp, found.labels, numbers)
    # Light above what is dissolved, taken where a voxel holds twice as much.
    above = np.where(found.labels > 0, stack.gfp, 0) - outside
    level = np.concatenate([[np.inf], np.maximum(middle - outside, 1e-3)])[found.labels]
    condensed = ndi.sum_labels(np.where(above > 2 * level, above - level, 0), found.labels, numbers)
    counts = np.bincount(found.owner, minlength=len(numbers) + 1)[1:]
    total = np.maximum((gfp - outside) * voxels, 1e-6)
    return pd.DataFrame(
        {
            "condition": stack.condition,
            "Image name": stack.name,
            "label": numbers,
            "z": place[:, 0] if len(stack.dna) > 1 else 0.0,
            "y": place[:, 1],
            "x": place[:, 2],
            "number of GFP puncta": counts,
            "ROI volume pix": voxels,
            "ROI volume um": voxels * stack.voxel_um.prod(),
            "GFP mean intensity per ROI": gfp,
            "Hoechst mean intensity per ROI": ndi.mean(stack.dna, found.labels, numbers),
            "GFP share in puncta": np.where(counts > 0, np.clip(condensed / total, 0, 1), 0.0),
        }
    )


def compare(table: pd.DataFrame) -> list[str]:
    """Compare numbers of puncta: Kruskal-Wallis, then Dunn's test with the FDR held."""
    groups = {name: rows["number of GFP puncta"] for name, rows in table.groupby("condition")}
    values = np.concatenate([*groups.values()])
    if len(groups) < 2 or np.ptp(values) == 0:
        return ["Too few groups or no differences at all: no test."]
    overall = stats.kruskal(*groups.values()).pvalue
    lines = [f"Kruskal-Wallis over {len(groups)} conditions: p = {overall:.2g}"]
    ranks = stats.rankdata(values)
    ends = np.cumsum([len(g) for g in groups.values()])
    parts = dict(zip(groups, np.split(ranks, ends[:-1]), strict=True))
    ties = np.unique(values, return_counts=True)[1]
    n = len(values)
    spread = n * (n + 1) / 12 - (ties**3 - ties).sum() / (12 * (n - 1))
    pairs, raw = list(combinations(parts, 2)), []
    for one, other in pairs:
        scale = np.sqrt(spread * (1 / len(parts[one]) + 1 / len(parts[other])))
        raw.append(2 * stats.norm.sf(abs(parts[one].mean() - parts[other].mean()) / scale))
    held = stats.false_discovery_control(raw)
    lines += [
        f"Dunn, {a} against {b}: p = {p:.2g} (FDR)" for (a, b), p in zip(pairs, held, strict=True)
    ]
    return lines


def draw_field(stack: Stack, found: Found, path: Path) -> None:
    """Show both channels at their brightest, outlines of nuclei and the puncta found."""
    pixel = stack.voxel_um[1]
    flat = found.labels.max(axis=0)
    extent = (0, flat.shape[1] * pixel, flat.shape[0] * pixel, 0)
    figure, axes = plt.subplots(1, 3, figsize=(14, 5), layout="tight")
    dna, gfp = stack.dna.max(axis=0), stack.gfp.max(axis=0)
    for axis, picture, text in zip(
        axes, (dna, gfp, gfp), ("Hoechst", "GFP", "GFP, nuclei and puncta"), strict=True
    ):
        axis.imshow(picture, cmap="gray", extent=extent, vmax=np.percentile(picture, 99.7))
        axis.set(title=text, xlabel="x (µm)", ylabel="y (µm)")
        axis.plot([1, 6], [extent[2] - 1] * 2, color="white", lw=3)
        axis.text(3.5, extent[2] - 1.3, "5 µm", color="white", ha="center", va="bottom")
    rim = np.ma.masked_equal(find_boundaries(flat, mode="inner").astype(float), 0)
    for axis in (axes[0], axes[2]):
        axis.imshow(rim, cmap="autumn", extent=extent, alpha=0.7)
    place = (found.puncta[:, 1:] + 0.5) * pixel
    axes[2].plot(place[:, 1], place[:, 0], "c.", ms=4, label=f"{len(place)} puncta")
    axes[2].legend(loc="upper right")
    figure.suptitle(f"{stack.condition}: {stack.name}")
    figure.savefig(path, dpi=90)
    plt.close(figure)


def draw_counts(table: pd.DataFrame, tests: list[str], path: Path) -> None:
    """Plot puncta per nucleus by condition, and over the size of nuclei."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 5), layout="constrained")
    groups = list(table.groupby("condition"))
    left.violinplot([rows["number of GFP puncta"] for _, rows in groups], showmeans=True)
    left.set_xticks(
        range(1, len(groups) + 1), [f"{n}\nN = {len(r)}" for n, r in groups], fontsize=7
    )
    left.set(ylabel="GFP puncta per nucleus")
    left.set_title("\n".join(tests), fontsize=8)
    for name, rows in groups:
        size, count = rows["ROI volume um"], rows["number of GFP puncta"]
        (dots,) = right.plot(size, count, "o", ms=3, alpha=0.5, label=name)
        slope, offset = np.polyfit(size, count, 1)
        ends = np.array([size.min(), size.max()])
        right.plot(ends, slope * ends + offset, color=dots.get_color())
    right.set(
        xlabel="nuclear volume (µm³; of a projection, area times a pixel)", ylabel="GFP puncta"
    )
    right.legend(fontsize=7)
    figure.savefig(path, dpi=110)
    plt.close(figure)


METHODS = """# Methods

Each image was measured on its own, less the detector's offset of {offset:.0f}.

1. Nuclei, plane by plane in Hoechst: Gaussian, Otsu's threshold of the brightest planes and a local
   mean, watershed on the distance to the ground. Planes joined where masks overlap with an IoU of
   {iou} or more; nuclei in fewer than {planes} planes dropped. A projection is one plane.
2. Puncta in GFP: local maxima of the smoothed channel within a nucleus that exceed its dissolved
   light (percentile {high:.0f}) both {contrast} times and by {sigmas} standard deviations of the
   noise, which was taken from all nuclei of the image, as most have none.
3. Share of GFP in puncta: light above the dissolved where a voxel has twice as much of it.

{count} nuclei, {empty:.0%} without any punctum.
{tests}

Dim puncta are missed first; nuclei that overlap in z may be parted wrongly. Nothing here was
compared with a reference.
"""


def main(input_dir: Path, output_dir: Path) -> None:
    """Measure every image; write the table, figures and methods."""
    (output_dir / "figures").mkdir(parents=True, exist_ok=True)
    tables, drawn = [], set()
    for path in sorted(input_dir.glob("*/*.tif*")):
        stack = load(path)
        labels = find_nuclei(stack)
        found = Found(labels, *find_puncta(stack, labels))
        tables.append(measure(stack, found))
        if stack.condition not in drawn:
            drawn.add(stack.condition)
            draw_field(stack, found, output_dir / "figures" / f"{path.stem}.png")
    table = pd.concat(tables, ignore_index=True)
    table.round(4).to_csv(output_dir / "cell_quants.csv", index=False)
    tests = compare(table)
    draw_counts(table, tests, output_dir / "figures" / "puncta_per_nucleus.png")
    text = METHODS.format(
        offset=OFFSET,
        iou=LEAST_IOU,
        planes=LEAST_PLANES,
        high=DISSOLVED[1],
        contrast=CONTRAST,
        sigmas=SIGMAS[len(stack.dna) > 1],
        count=len(table),
        empty=(table["number of GFP puncta"] == 0).mean(),
        tests="\n".join(f"- {line}" for line in tests),
    )
    (output_dir / "methods.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
