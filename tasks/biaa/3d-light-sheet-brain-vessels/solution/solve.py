"""Segment blood vessels in light-sheet stacks or projections and measure their network.

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
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from skimage.filters import apply_hysteresis_threshold
from skimage.morphology import skeletonize

mpl.use("Agg")
import matplotlib.pyplot as plt

# As the instruction gives it; the files say nothing of it.
VOXEL_UM = np.array([2.0, 0.975, 0.975])
SCALES_UM = (1.6, 2.6, 4.2)
# (for an image, for a volume) in units of the noise: images have less of it.
STRONG, WEAK = (4.0, 7.0), (2.3, 3.6)
EDGE = 0.5
SMALLEST_UM3 = 500.0
STRIPE_PX = 66


@dataclass(frozen=True)
class Found:
    """One stack: what was recorded, what was made of it, and the mask."""

    name: str
    image: np.ndarray
    flat: np.ndarray
    mask: np.ndarray

    @property
    def voxel_um(self) -> np.ndarray:
        """Voxel size, of as many axes as the image has."""
        return VOXEL_UM[-self.image.ndim :]


def flatten(image: np.ndarray) -> np.ndarray:
    """Take away the stripes and the tissue's light, and scale to the noise.

    Noise goes with the root of the light.
    """
    floor = float(np.percentile(image, 0.1)) - 1
    light = np.maximum(image - floor, 0.0)
    light = light / shadows(light)
    window = (1,) * (image.ndim - 2) + (8, 8)
    small = block_low(light, window)
    ground = ndi.zoom(small, np.array(light.shape) / small.shape, order=1)
    noise = ndi.gaussian_filter(light, 1) - light
    spread = 1.4826 * np.median(np.abs(noise))
    level = np.sqrt(np.maximum(ground, 1) / max(float(np.median(ground)), 1))
    return (light - ground) / (spread * level)


def shadows(light: np.ndarray) -> np.ndarray:
    """Return by what factor each place is brighter or darker than the rows around its own."""
    width = light.shape[-1]
    parts = max(2, round(width / STRIPE_PX))
    edges = np.linspace(0, width, parts + 1).astype(int)
    even = ndi.uniform_filter1d(light, 5, axis=-1)
    dark = np.stack(
        [np.percentile(even[..., a:b], 35, axis=-1) for a, b in pairwise(edges)], axis=-1
    )
    # Shadows are as thick as the sheet, two or three planes.
    dark = ndi.gaussian_filter1d(dark, 0.7, axis=0) if light.ndim == 3 else dark
    dark = np.maximum(dark, 0.2 * np.median(dark) + 1e-3)
    around = ndi.median_filter(dark, (1,) * (light.ndim - 2) + (31, 1))
    factor = np.clip(dark / ndi.gaussian_filter1d(around, 8, axis=-2), 0.5, 2)
    at = np.clip((np.arange(width) + 0.5) / width * parts - 0.5, 0, parts - 1)
    low = np.minimum(at.astype(int), parts - 2)
    return factor[..., low] * (1 - (at - low)) + factor[..., low + 1] * (at - low)


def block_low(light: np.ndarray, block: tuple[int, ...]) -> np.ndarray:
    """Return the tissue's light on a coarse grid: low ranks of the medians of blocks, smoothed."""
    cut = light[tuple(slice(0, n // b * b) for n, b in zip(light.shape, block, strict=True))]
    shape = [s for n, b in zip(cut.shape, block, strict=True) for s in (n // b, b)]
    medians = np.median(cut.reshape(shape), axis=tuple(range(1, 2 * cut.ndim, 2)))
    size = (5,) * (light.ndim - 2) + (5, 5)
    return ndi.gaussian_filter(ndi.percentile_filter(medians, 35, size=size), 1)


def tubeness(flat: np.ndarray, voxel_um: np.ndarray) -> np.ndarray:
    """Return how much a place looks like a bright tube, in units of the noise of each scale."""
    best = np.zeros(flat.shape, np.float32)
    for scale in SCALES_UM:
        sigma = scale / voxel_um
        curved = [
            [second_derivative(flat, sigma, voxel_um, i, j) for j in range(i + 1)]
            for i in range(flat.ndim)
        ]
        bent = across_line(curved)
        noise = 1.4826 * np.median(np.abs(curved[-1][-1]))
        best = np.maximum(best, bent / noise)
    return best


def second_derivative(
    flat: np.ndarray, sigma: np.ndarray, voxel_um: np.ndarray, i: int, j: int
) -> np.ndarray:
    """Return a second derivative of the smoothed image along two axes, per µm²."""
    order = [0] * flat.ndim
    order[i] += 1
    order[j] += 1
    return ndi.gaussian_filter(flat, sigma, order=order, truncate=3) / (voxel_um[i] * voxel_um[j])


def across_line(curved: list[list[np.ndarray]]) -> np.ndarray:
    """Return the weaker of the two bends across a bright line; in images, the only one."""
    if len(curved) == 2:
        (yy,), (xy, xx) = curved
        return np.maximum(np.hypot((yy - xx) / 2, xy) - (yy + xx) / 2, 0)
    (a,), (d, b), (f, e, c) = curved
    # Middle eigenvalue of a symmetric matrix, by the cosine rule.
    mean = (a + b + c) / 3
    spread = (a - mean) ** 2 + (b - mean) ** 2 + (c - mean) ** 2
    p = np.sqrt((spread + 2 * (d**2 + e**2 + f**2)) / 6)
    q = (a - mean) * ((b - mean) * (c - mean) - e**2) - d * (d * (c - mean) - e * f)
    q += f * (d * e - (b - mean) * f)
    angle = np.arccos(np.clip(q / np.maximum(2 * p**3, 1e-12), -1, 1)) / 3
    middle = mean + 2 * p * np.cos(angle - 2 * np.pi / 3)
    return np.maximum(-middle, 0)


def segment(image: np.ndarray, voxel_um: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the flattened image and the mask of vessels, lumens filled."""
    flat = flatten(image.astype(np.float32)).astype(np.float32)
    like_tube = tubeness(flat, voxel_um)
    core = apply_hysteresis_threshold(like_tube, WEAK[image.ndim - 2], STRONG[image.ndim - 2])
    smooth = ndi.gaussian_filter(flat, 0.7 / voxel_um)
    # A vessel reaches to half of the light that its core has, at most a few µm away.
    near = ndi.distance_transform_edt(~core, sampling=voxel_um) < 2.5
    peak = ndi.maximum_filter(np.where(core, smooth, 0), size=odd(6.0 / voxel_um))
    mask = near & (smooth > EDGE * peak)
    mask |= core & (smooth > 0.4 * peak)
    mask = ndi.binary_closing(mask, ball(2.1, voxel_um)) | mask
    mask = fill_lumens(mask)
    # In a projection a piece of that volume covers about a tenth as many µm².
    least = SMALLEST_UM3 / float(np.prod(voxel_um)) / (1 if mask.ndim == 3 else 10)
    return flat, drop_small(mask, round(least))


def drop_small(mask: np.ndarray, least: int) -> np.ndarray:
    """Remove pieces of fewer voxels."""
    labels, count = ndi.label(mask, np.ones((3,) * mask.ndim))
    return (np.bincount(labels.ravel(), minlength=count + 1) >= least)[labels] & mask


def fill_lumens(mask: np.ndarray) -> np.ndarray:
    """Fill small holes in every plane: the unstained middle of a vessel that is cut across."""
    planes = mask if mask.ndim == 3 else mask[None]
    filled = planes.copy()
    for index, plane in enumerate(planes):
        holes, count = ndi.label(~plane)
        small = np.bincount(holes.ravel(), minlength=count + 1) < 60
        small[0] = False
        filled[index] |= small[holes]
    return filled.reshape(mask.shape)


def odd(sizes: np.ndarray) -> tuple[int, ...]:
    """Return odd whole numbers near the sizes."""
    return tuple(2 * int(size / 2) + 1 for size in sizes)


def ball(radius_um: float, voxel_um: np.ndarray) -> np.ndarray:
    """Return a ball of µm on a grid of oblong voxels."""
    axes = [np.arange(-int(radius_um / v), int(radius_um / v) + 1) * v for v in voxel_um]
    return sum(g**2 for g in np.meshgrid(*axes, indexing="ij")) <= radius_um**2


def measure(found: Found) -> dict[str, float | str]:
    """Measure the network of one mask from its skeleton; lengths in µm."""
    mask, voxel_um = found.mask, found.voxel_um
    at = np.argwhere(skeletonize(mask))
    size = float(np.prod(np.array(mask.shape) * voxel_um))
    radius = ndi.distance_transform_edt(mask, sampling=voxel_um)[tuple(at.T)]
    one, other = links(at, mask.shape)
    length = np.sqrt((((at[one] - at[other]) * voxel_um) ** 2).sum(axis=1))
    degree = np.bincount(np.concatenate([one, other]), minlength=len(at))
    junction = degree > 2
    joints = ndi.label(spread(at[junction], mask.shape), np.ones((3,) * mask.ndim))[1]
    within = ~junction[one] & ~junction[other]
    graph = coo_array((np.ones(within.sum()), (one[within], other[within])), (len(at),) * 2)
    _, branch = connected_components(graph, directed=False)
    # A link to a junction belongs to the branch that it ends.
    half = junction[one] ^ junction[other]
    owner = branch[np.where(junction[one], other, one)]
    lengths = np.bincount(owner[within | half], length[within | half], minlength=len(at))
    members = np.bincount(branch[~junction], minlength=len(at))
    real = (members >= 3) & (lengths > 0)
    return {
        "sample_id": found.name,
        "total_length_um": float(length.sum()),
        "length_density_um_per_um3": float(length.sum()) / size if mask.ndim == 3 else np.nan,
        "n_branches": int(real.sum()),
        "n_bifurcation_points": joints,
        "n_terminal_points": int((degree == 1).sum()),
        "mean_branch_length_um": float(lengths[real].mean()) if real.any() else np.nan,
        "median_branch_length_um": float(np.median(lengths[real])) if real.any() else np.nan,
        "mean_diameter_um": float(2 * radius.mean()) if len(at) else np.nan,
        "mean_tortuosity": winding(at * voxel_um, branch, junction, lengths, real),
        "vessel_volume_fraction": float(mask.mean()),
    }


def links(at: np.ndarray, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of touching skeleton voxels; at a corner the longer way round is left out."""
    number = np.full([n + 2 for n in shape], -1)
    number[tuple(at.T + 1)] = np.arange(len(at))
    steps = np.argwhere(np.ones((3,) * len(shape))) - 1
    pairs: list[np.ndarray] = []
    # Straight steps first: a diagonal one counts where no straight ones join its ends.
    for step in sorted(steps[len(steps) // 2 + 1 :].tolist(), key=lambda s: np.abs(s).sum()):
        there = number[tuple((at + 1 + step).T)]
        found = np.flatnonzero(there >= 0)
        if np.abs(step).sum() > 1:
            around = np.array(
                [number[tuple((at[found] + 1 + part).T)] >= 0 for part in corners(step)]
            )
            found = found[~around.any(axis=0)]
        pairs.append(np.stack([found, there[found]]))
    one, other = np.concatenate(pairs, axis=1)
    return one, other


def corners(step: list[int]) -> list[list[int]]:
    """Return the steps along a single axis that a diagonal one is made of."""
    return [[s if i == k else 0 for i, s in enumerate(step)] for k in range(len(step)) if step[k]]


def spread(at: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return a mask that is true at some voxels."""
    mask = np.zeros(shape, bool)
    mask[tuple(at.T)] = True
    return mask


def winding(
    place_um: np.ndarray,
    branch: np.ndarray,
    junction: np.ndarray,
    lengths: np.ndarray,
    real: np.ndarray,
) -> float:
    """Return the mean of length over extent of branches (the diagonal of their bounding box)."""
    low = np.full((len(real), place_um.shape[1]), np.inf)
    high = -low
    np.minimum.at(low, branch[~junction], place_um[~junction])
    np.maximum.at(high, branch[~junction], place_um[~junction])
    long = real & (lengths > 10)
    if not long.any():
        return float("nan")
    extent = np.sqrt(((high[long] - low[long]) ** 2).sum(axis=1))
    return float(np.mean(np.maximum(lengths[long] / np.maximum(extent, 1), 1)))


def draw(found: Found, path: Path) -> None:
    """Show what was recorded, flattened and found, projected along each axis."""
    views = [("XY", 0), ("XZ", 1), ("YZ", 2)] if found.image.ndim == 3 else [("XY", None)]
    figure, rows = plt.subplots(len(views), 3, figsize=(12, 4 * len(views)), squeeze=False)
    for row, (title, axis) in zip(rows, views, strict=True):
        left = [k for k in range(found.image.ndim) if k != axis]
        down, right = (found.voxel_um[k] for k in left)
        pictures = [
            part if axis is None else part.max(axis=axis)
            for part in (found.image, found.flat, found.mask)
        ]
        extent = (0, pictures[0].shape[1] * right, pictures[0].shape[0] * down, 0)
        for panel, picture, text in zip(
            row, (*pictures[:2], pictures[0]), ("recorded", "flattened", "mask"), strict=True
        ):
            low, high = np.percentile(picture, (1, 99.8))
            panel.imshow(picture, cmap="gray", extent=extent, vmin=low, vmax=high)
            panel.set(title=f"{title}, {text}", xlabel="µm", ylabel="µm")
            panel.plot([5, 25], [extent[2] - 5] * 2, color="white", lw=3)
            panel.text(15, extent[2] - 7, "20 µm", color="white", ha="center", va="bottom")
        cover = np.ma.masked_equal(pictures[2].astype(float), 0)
        row[2].imshow(cover, cmap="autumn", extent=extent, alpha=0.45, vmin=0, vmax=1)
    figure.suptitle(f"{found.name}: maximum projections; vessels found in yellow")
    figure.tight_layout()
    figure.savefig(path, dpi=80)
    plt.close(figure)


def draw_numbers(table: pd.DataFrame, path: Path) -> None:
    """Plot four numbers of the network over all samples."""
    shown = {
        "total_length_um": "length (µm)",
        "n_branches": "branches",
        "mean_diameter_um": "mean diameter (µm)",
        "mean_tortuosity": "mean tortuosity",
    }
    figure, panels = plt.subplots(1, 4, figsize=(13, 4), layout="constrained")
    for panel, (column, text) in zip(panels, shown.items(), strict=True):
        values = table[column].dropna()
        panel.boxplot(values, widths=0.5, showfliers=False)
        panel.plot(np.linspace(0.9, 1.1, len(values)), values, "o", label="one sample each")
        panel.set(ylabel=text, xticks=[])
    panels[0].legend()
    figure.savefig(path, dpi=110)
    plt.close(figure)


METHODS = """# Methods

{count} {kind} were segmented, each on its own, with voxels of {voxel} µm (from the instruction).

1. Stripes: the dark part (35th percentile) of rows, in stretches of {stripe} px, over that of the
   rows around. Background: low percentile of block medians. Values then scaled to the noise.
2. Tubes: second derivatives at {scales} µm, the middle eigenvalue in volumes; strongest response
   over scales in units of its noise; hysteresis at {weak} and {strong}.
3. Outline: half of the light of the vessel's core within 2.5 µm; closing with a ball of 2.1 µm;
   holes of planes below 60 px filled, so that hollow vessels become solid; pieces below
   {least:.0f} µm³ removed.
4. Network: skeleton; branches between junctions; diameter is twice the distance to the wall;
   tortuosity is length over the diagonal of the box round a branch.

Mean over samples: diameter {diameter:.1f} µm, tortuosity {tortuosity:.2f}, share of vessels
{share:.3f}. Blur along z makes capillaries look taller than wide, which a threshold at half light
hardly corrects.
Nothing here was compared with a reference.
"""


def describe(table: pd.DataFrame, found: Found) -> str:
    """Fill in the methods text."""
    volumes = found.image.ndim == 3
    return METHODS.format(
        count=len(table),
        kind="volumes" if volumes else "projections",
        voxel=" x ".join(f"{v:g}" for v in found.voxel_um),
        stripe=STRIPE_PX,
        scales=", ".join(f"{s:g}" for s in SCALES_UM),
        weak=WEAK[volumes],
        strong=STRONG[volumes],
        least=SMALLEST_UM3,
        diameter=table["mean_diameter_um"].mean(),
        tortuosity=table["mean_tortuosity"].mean(),
        share=table["vessel_volume_fraction"].mean(),
    )


def main(input_dir: Path, output_dir: Path) -> None:
    """Segment and measure every file; write masks, the table, figures and methods."""
    (output_dir / "figures").mkdir(parents=True, exist_ok=True)
    rows = []
    for path in sorted(input_dir.glob("*.tif*")):
        image = tifffile.imread(path)
        found = Found(path.stem, image, *segment(image, VOXEL_UM[-image.ndim :]))
        tifffile.imwrite(
            output_dir / f"{found.name}_mask.tiff", found.mask.astype(np.uint8), compression="zlib"
        )
        draw(found, output_dir / "figures" / f"{found.name}.png")
        rows.append(measure(found))
    table = pd.DataFrame(rows)
    table.round(4).to_csv(output_dir / "vessel_morphology.csv", index=False)
    draw_numbers(table, output_dir / "figures" / "network.png")
    (output_dir / "methods.md").write_text(describe(table, found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
