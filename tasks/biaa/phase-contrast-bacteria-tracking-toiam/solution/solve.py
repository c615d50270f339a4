"""Segment and track rod-shaped bacteria in a phase contrast movie, the classical way.

Usage: python solve.py INPUT_DIR OUTPUT_DIR
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import tifffile
from laptrack import LapTrack
from scipy import ndimage as ndi
from skimage.color import label2rgb
from skimage.filters import threshold_otsu
from skimage.measure import label as components
from skimage.measure import regionprops_table
from skimage.morphology import remove_small_objects
from skimage.segmentation import expand_labels, find_boundaries, watershed

mpl.use("Agg")
import matplotlib.pyplot as plt

if TYPE_CHECKING:
    import networkx as nx

PIXEL_UM = 0.072
# Blur at which a cell of about 12 px shows as one dark ridge.
RIDGE_PX = 2.2
SMALLEST_PX = 60


def segment(frame: np.ndarray) -> np.ndarray:
    """Label the dark rods of one frame.

    The Laplacian of the blurred frame is positive in dark ridges and negative in the bright seams
    between touching cells, whatever the halo does to the grey level around: a local threshold.
    """
    ridge = ndi.gaussian_laplace(frame.astype(np.float32), RIDGE_PX)
    level = threshold_otsu(ridge[ridge > 0])
    seeds = components(remove_small_objects(ridge > 0.8 * level, max_size=20))
    cells = watershed(-ridge, seeds, mask=ridge > 0.1 * level)
    area = np.bincount(cells.ravel())
    cells[area[cells] < SMALLEST_PX] = 0
    # The steepest place, where the Laplacian vanishes, lies inside the rim that the lens blurs.
    return expand_labels(cells, 1)


def overlaps(masks: list[np.ndarray]) -> dict[tuple[int, int, int], int]:
    """Count common pixels of label a in frame t and label b in frame t + 1, keyed (t, a, b)."""
    shared = {}
    for t, (now, then) in enumerate(pairwise(masks)):
        both = (now > 0) & (then > 0)
        width = int(then.max()) + 1
        keys, counts = np.unique(now[both] * width + then[both], return_counts=True)
        pairs = zip(*np.divmod(keys, width), counts, strict=True)
        shared.update({(t, int(a), int(b)): int(count) for a, b, count in pairs})
    return shared


def track(masks: list[np.ndarray]) -> nx.DiGraph:
    """Link cells by overlap and let a cell split in two; nodes are (frame, position in list)."""
    areas = [np.bincount(mask.ravel()) for mask in masks]
    shared = overlaps(masks)

    def link_cost(one: np.ndarray, other: np.ndarray) -> float:
        both = shared.get((one[0], one[1], other[1]))
        if both is None:
            return 1.0
        union = areas[int(one[0])][int(one[1])] + areas[int(other[0])][int(other[1])] - both
        return 1 - both / union

    def split_cost(one: np.ndarray, other: np.ndarray) -> float:
        mother, daughter = (one, other) if one[0] < other[0] else (other, one)
        both = shared.get((mother[0], mother[1], daughter[1]), 0)
        return 1 - both / areas[int(daughter[0])][int(daughter[1])]

    tracker = LapTrack(
        metric=link_cost,
        cutoff=0.85,
        splitting_metric=split_cost,
        splitting_cutoff=0.6,
        gap_closing_cutoff=False,
    )
    return tracker.predict(listed(areas))


def listed(areas: list[np.ndarray]) -> list[np.ndarray]:
    """Return the cells of each frame as rows (frame, label)."""
    labels = [np.flatnonzero(area[1:]) + 1 for area in areas]
    return [np.stack([np.full(len(row), t), row], axis=1) for t, row in enumerate(labels)]


def as_ctc(masks: list[np.ndarray], tree: nx.DiGraph) -> tuple[np.ndarray, np.ndarray]:
    """Relabel the masks by track and write the lineage as rows: track, start, end, parent."""
    stack = np.zeros((len(masks), *masks[0].shape), np.uint16)
    table: list[list[int]] = []
    track_of: dict[tuple[int, int], int] = {}
    for t, rows in enumerate(listed([np.bincount(mask.ravel()) for mask in masks])):
        lookup = np.zeros(int(masks[t].max()) + 1, np.uint16)
        for k, (_, label) in enumerate(rows):
            mothers = list(tree.predecessors((t, k))) if (t, k) in tree else []
            if mothers and tree.out_degree(mothers[0]) == 1:
                track_of[t, k] = track_of[mothers[0]]
                table[track_of[t, k] - 1][2] = t
            else:
                track_of[t, k] = len(table) + 1
                table.append([len(table) + 1, t, t, track_of[mothers[0]] if mothers else 0])
            lookup[label] = track_of[t, k]
        stack[t] = lookup[masks[t]]
    return stack, np.array(table)


def scale_bar(axis: plt.Axes, shape: tuple[int, int], length_um: float = 5.0) -> None:
    """Draw a labelled bar into the lower right corner."""
    length, right, low = length_um / PIXEL_UM, shape[1] - 8, shape[0] - 10
    axis.plot([right - length, right], [low, low], color="white", lw=3)
    axis.text(right - length / 2, low - 5, f"{length_um:g} µm", color="white", ha="center")


def draw_overlays(movie: np.ndarray, stack: np.ndarray, path: Path) -> None:
    """Show raw frames above the tracked cells at three times."""
    chosen = np.linspace(0, len(movie) - 1, 3).astype(int)
    figure, axes = plt.subplots(2, 3, figsize=(13, 8.5), constrained_layout=True)
    for column, t in enumerate(chosen):
        axes[0, column].imshow(movie[t], cmap="gray")
        coloured = label2rgb(stack[t], movie[t], alpha=0.35, bg_label=0)
        coloured[find_boundaries(stack[t], mode="inner")] = (1, 0.9, 0.2)
        axes[1, column].imshow(coloured)
        axes[0, column].set_title(f"frame {t}: phase contrast")
        axes[1, column].set_title(f"{len(np.unique(stack[t])) - 1} cells, coloured by track")
        scale_bar(axes[0, column], movie[t].shape)
        scale_bar(axes[1, column], movie[t].shape)
    for axis in axes.ravel():
        axis.set_axis_off()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_lineage(table: np.ndarray, path: Path) -> None:
    """Draw every track as a line over time, daughters beside their mother."""
    order, children = [], {}
    for row in table:
        children.setdefault(int(row[3]), []).append(int(row[0]))
    waiting = children.get(0, [])[::-1]
    while waiting:
        order.append(waiting.pop())
        waiting.extend(children.get(order[-1], [])[::-1])
    height = {track_id: k for k, track_id in enumerate(order)}
    figure, axis = plt.subplots(figsize=(9, 10), constrained_layout=True)
    for track_id, start, end, parent in table:
        axis.plot([start, end], [height[track_id]] * 2, color="#0072B2", lw=1.5)
        if parent:
            heights = [height[parent], height[track_id]]
            axis.plot([start, start], heights, color="#D55E00", lw=0.8)
    axis.plot([], [], color="#0072B2", label="track")
    axis.plot([], [], color="#D55E00", label="division")
    axis.set(xlabel="frame", ylabel="tracks, daughters after their mother", title="Lineages")
    axis.legend()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_growth(stack: np.ndarray, table: np.ndarray, path: Path) -> None:
    """Plot the number of cells and of divisions over time, and the cells' areas."""
    counts = [len(np.unique(frame)) - 1 for frame in stack]
    daughters = table[table[:, 3] > 0]
    mothers, first = np.unique(daughters[:, 3], return_index=True)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), constrained_layout=True)
    left.semilogy(counts, label="cells in the field")
    left.plot(np.sort(daughters[first, 1]), 1 + np.arange(len(mothers)), label="divisions so far")
    left.set(xlabel="frame", ylabel="number", title="Growth")
    left.legend()
    for t in (0, len(stack) - 1):
        area = regionprops_table(stack[t], properties=("area",))["area"] * PIXEL_UM**2
        right.hist(area, bins=25, alpha=0.6, label=f"frame {t}, N = {len(area)}")
    right.set(xlabel="cell area (µm²)", ylabel="cells", title="Cell size")
    right.legend()
    figure.savefig(path, dpi=110)
    plt.close(figure)


METHODS = """# Methods

Input: `{name}`, {frames} frames of {rows} x {columns} pixels, 8-bit, {pixel} µm a pixel.

1. Segmentation, frame by frame: Laplacian of Gaussian (sigma {sigma} px); Otsu's threshold of its
   positive part gives the level L; connected parts above 0.8 L are seeds; seeded watershed on the
   negative Laplacian within the region above 0.1 L; parts below {smallest} px dropped; labels
   expanded by 1 px to the dark rim's outside.
2. Tracking: linear assignment (laptrack) from frame to frame with 1 - IoU as cost (cutoff 0.85),
   splits by the share of a daughter that lies on its mother (at least 0.4), no gap closing.
3. Output in the Cell Tracking Challenge format: label = track, frames from 0, both ends inclusive;
   both daughters of a division have new tracks that start one frame after the mother's end.

Result: {tracks} tracks, {divisions} divisions with two daughters, {orphans} tracks that begin after
the first frame without a parent (cells that enter, or segmentation errors; look at these first).
Mean relative change of a cell's area from frame to frame: {change:.3f} (a measure of the
segmentation's steadiness).

Limits: cells that touch end to end without a bright seam are merged; a cell lost in one frame
starts a new track; nothing here was compared with a reference.
"""


def describe(name: str, movie: np.ndarray, stack: np.ndarray, table: np.ndarray) -> str:
    """Fill in the methods text."""
    _, daughters = np.unique(table[table[:, 3] > 0, 3], return_counts=True)
    sizes = np.stack([np.bincount(frame.ravel(), minlength=table[-1, 0] + 1) for frame in stack])
    sizes = sizes[:, 1:].astype(float)
    alive = (sizes[1:] > 0) & (sizes[:-1] > 0)
    change = np.abs(np.diff(sizes, axis=0))[alive] / sizes[:-1][alive]
    return METHODS.format(
        name=name,
        frames=len(movie),
        rows=movie.shape[1],
        columns=movie.shape[2],
        pixel=PIXEL_UM,
        sigma=RIDGE_PX,
        smallest=SMALLEST_PX,
        tracks=len(table),
        divisions=int((daughters == 2).sum()),
        orphans=int(((table[:, 3] == 0) & (table[:, 1] > 0)).sum()),
        change=float(change.mean()),
    )


def main(input_dir: Path, output_dir: Path) -> None:
    """Read the movie, write masks, lineage, figures and methods."""
    source = min(input_dir.glob("*.ome.tif"))
    movie = tifffile.imread(source)
    masks = [segment(frame) for frame in movie]
    stack, table = as_ctc(masks, track(masks))
    output_dir.mkdir(parents=True, exist_ok=True)
    stem = source.name.removesuffix(".ome.tif")
    tifffile.imwrite(
        output_dir / f"{stem}_RES.ome.tif",
        stack,
        compression="zlib",
        photometric="minisblack",
        metadata={"axes": "TYX", "PhysicalSizeX": PIXEL_UM, "PhysicalSizeY": PIXEL_UM},
    )
    np.savetxt(output_dir / "res_track.txt", table, fmt="%d")
    draw_overlays(movie, stack, output_dir / "overlay_tracks.png")
    draw_lineage(table, output_dir / "lineage_tree.png")
    draw_growth(stack, table, output_dir / "growth.png")
    text = describe(source.name, movie, stack, table)
    (output_dir / "methods.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
