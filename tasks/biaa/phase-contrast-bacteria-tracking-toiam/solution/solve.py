"""Segment rod-shaped bacteria in phase contrast, and track them in a movie, the classical way.

Usage: python solve.py INPUT_DIR OUTPUT_DIR. A file (T, Y, X) is a movie; files (Y, X) are stills,
whose cells are found and nothing more.
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
from skimage.segmentation import find_boundaries, watershed

mpl.use("Agg")
import matplotlib.pyplot as plt

if TYPE_CHECKING:
    from collections.abc import Sequence

    import networkx as nx

PIXEL_UM = 0.072
# Blur at which a cell of about 12 px shows as one dark ridge.
RIDGE_PX = 2.2
SMALLEST_PX = 60
RADIUS_PX = 6.1
# The movie is thinned out to every k-th frame to see how well the links hold.
INTERVALS = (1, 2, 5, 10, 20)


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
    return as_rods(cells)


def as_rods(cells: np.ndarray) -> np.ndarray:
    """Replace each region by a rod of the same place, direction and length and the usual width.

    Phase contrast fades towards a round cell's rim, so thresholds find too narrow regions, and the
    halo decides by how much; the width of the species is known better.
    """
    shape = regionprops_table(
        cells, properties=("label", "centroid", "orientation", "axis_major_length")
    )
    # By second moments a rod is sqrt(3) / 2 of its axis long; thresholds lose 2 px at each end.
    half = np.maximum(shape["axis_major_length"] * np.sqrt(3) / 4 + 2.2 - RADIUS_PX, 0.5)
    along = np.linspace(-1, 1, 80)
    axes = np.zeros(cells.shape, np.int32)
    rows = shape["centroid-0"][:, None] + (np.cos(shape["orientation"]) * half)[:, None] * along
    columns = shape["centroid-1"][:, None] + (np.sin(shape["orientation"]) * half)[:, None] * along
    rows, columns = (
        np.rint(place).astype(int).clip(0, size - 1)
        for place, size in zip((rows, columns), cells.shape, strict=True)
    )
    axes[rows, columns] = shape["label"][:, None]
    away, (row, column) = ndi.distance_transform_edt(axes == 0, return_indices=True)
    rods = np.where(away <= RADIUS_PX, axes[row, column], 0)
    _, numbers = np.unique(rods, return_inverse=True)
    return numbers.reshape(rods.shape)


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


def draw_overlays(
    images: Sequence[np.ndarray], labels: Sequence[np.ndarray], titles: Sequence[str], path: Path
) -> None:
    """Show raw frames above the cells, coloured by label."""
    figure, axes = plt.subplots(2, len(images), figsize=(13, 8.5), constrained_layout=True)
    for (above, below), image, label, title in zip(axes.T, images, labels, titles, strict=True):
        above.imshow(image, cmap="gray")
        coloured = label2rgb(label, image, alpha=0.35, bg_label=0)
        coloured[find_boundaries(label, mode="inner")] = (1, 0.9, 0.2)
        below.imshow(coloured)
        above.set_title(f"{title}: phase contrast")
        below.set_title(f"{len(np.unique(label)) - 1} cells, coloured by label")
        for axis in (above, below):
            scale_bar(axis, image.shape)
            axis.set_axis_off()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_counts(names: list[str], areas: list[np.ndarray], path: Path) -> None:
    """Plot the number of cells of each still and the cells' areas in the first and the last."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), constrained_layout=True)
    left.bar(names, [len(area) for area in areas], color="#0072B2", label="cells")
    left.set(ylabel="cells per still", title="Cells")
    left.tick_params(axis="x", rotation=60)
    left.legend()
    for name, area in zip((names[0], names[-1]), (areas[0], areas[-1]), strict=True):
        right.hist(area, bins=25, alpha=0.6, label=f"{name}, N = {len(area)}")
    right.set(xlabel="cell area (µm²)", ylabel="cells", title="Cell size")
    right.legend()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_robustness(
    masks: list[np.ndarray], stack: np.ndarray, table: np.ndarray, path: Path
) -> None:
    """Thin the movie out, cut it at some number of cells, track again and compare.

    Nothing but the tracks at the full rate can serve as reference here, so the map tells how the
    links hold when images are fewer and cells more, not how right they are.
    """
    counts = np.array([int(mask.max()) for mask in masks])
    intervals = [k for k in INTERVALS if len(masks) > 2 * k]
    limits = np.unique(np.linspace(counts[0], counts.max(), 4)[1:].astype(int))
    mother = np.concatenate([[0], table[:, 3]])
    kept = np.full((len(intervals), len(limits)), np.nan)
    for row, k in enumerate(intervals):
        right, last = agreement(masks[::k], stack[::k], mother)
        for column, most in enumerate(limits):
            early = counts[::k][1:][last] <= most
            kept[row, column] = right[early].mean() if early.any() else np.nan
    figure, axis = plt.subplots(figsize=(6, 4.5), constrained_layout=True)
    shown = axis.imshow(kept, vmin=0, vmax=1, cmap="viridis", aspect="auto")
    for (row, column), value in np.ndenumerate(kept):
        tone = "black" if value > 0.6 else "white"
        axis.text(column, row, f"{value:.2f}", ha="center", va="center", color=tone)
    axis.set_xticks(range(len(limits)), [str(most) for most in limits])
    axis.set_yticks(range(len(intervals)), [str(k) for k in intervals])
    axis.set(xlabel="cells at most", ylabel="every k-th frame", title="Links as at the full rate")
    figure.colorbar(shown, label="share of links")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def agreement(
    masks: list[np.ndarray], stack: np.ndarray, mother: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Tell of each link whether the full rate has it too, and to which frame it leads."""
    track_of = [np.zeros(int(mask.max()) + 1, int) for mask in masks]
    for row, mask, labels in zip(track_of, masks, stack, strict=True):
        row[mask.ravel()] = labels.ravel()
    links = track(masks).edges
    cells = listed([np.bincount(mask.ravel()) for mask in masks])
    pairs = [[track_of[t][cells[t][k][1]] for t, k in link] for link in links]
    source, target = np.array(pairs).reshape(-1, 2).T
    # A division may lie between the two frames, then the target descends from the source.
    right = (source == target) | (mother[target] == source)
    right |= mother[mother[target]] == source
    return right, np.array([then - 1 for (_, _), (then, _) in links])


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


SEGMENTATION = """# Methods

Input: {name}, {frames} frames of {rows} x {columns} pixels, 8-bit, {pixel} µm a pixel.

1. Segmentation, frame by frame: Laplacian of Gaussian (sigma {sigma} px); Otsu's threshold of its
   positive part gives the level L; connected parts above 0.8 L are seeds; seeded watershed on the
   negative Laplacian within the region above 0.1 L; parts below {smallest} px dropped. Each part
   is replaced by a rod of the same centre, direction and length (second moments) and a width of
   {width:.2f} µm, the usual one of the species: thresholds find cells too narrow in phase contrast.
"""

TRACKING = """2. Tracking: linear assignment (laptrack) between frames by 1 - IoU (cutoff 0.85),
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


STILLS = """2. Output: one uint16 image of labels for each still; 0 is background.

Result: {cells} cells in {frames} stills; median area {area:.2f} µm².

Limits: cells that touch end to end without a bright seam are merged; bent cells come out straight;
nothing here was compared with a reference.
"""


def describe_segmentation(name: str, frames: list[np.ndarray]) -> str:
    """Fill in how cells were found."""
    return SEGMENTATION.format(
        name=name,
        frames=len(frames),
        rows=frames[0].shape[0],
        columns=frames[0].shape[1],
        pixel=PIXEL_UM,
        sigma=RIDGE_PX,
        smallest=SMALLEST_PX,
        width=2 * RADIUS_PX * PIXEL_UM,
    )


def describe_tracking(stack: np.ndarray, table: np.ndarray) -> str:
    """Fill in how they were tracked, and with what result."""
    _, daughters = np.unique(table[table[:, 3] > 0, 3], return_counts=True)
    sizes = np.stack([np.bincount(frame.ravel(), minlength=table[-1, 0] + 1) for frame in stack])
    sizes = sizes[:, 1:].astype(float)
    alive = (sizes[1:] > 0) & (sizes[:-1] > 0)
    change = np.abs(np.diff(sizes, axis=0))[alive] / sizes[:-1][alive]
    return TRACKING.format(
        tracks=len(table),
        divisions=int((daughters == 2).sum()),
        orphans=int(((table[:, 3] == 0) & (table[:, 1] > 0)).sum()),
        change=float(change.mean()),
    )


def solve_movie(path: Path, movie: np.ndarray, output_dir: Path) -> None:
    """Write masks, lineage, figures and methods of a movie."""
    masks = [segment(frame) for frame in movie]
    stack, table = as_ctc(masks, track(masks))
    tifffile.imwrite(
        output_dir / f"{path.name.removesuffix('.ome.tif')}_RES.ome.tif",
        stack,
        compression="zlib",
        photometric="minisblack",
        metadata={"axes": "TYX", "PhysicalSizeX": PIXEL_UM, "PhysicalSizeY": PIXEL_UM},
    )
    np.savetxt(output_dir / "res_track.txt", table, fmt="%d")
    chosen = np.linspace(0, len(movie) - 1, 3).astype(int)
    titles = [f"frame {t}" for t in chosen]
    draw_overlays(movie[chosen], stack[chosen], titles, output_dir / "overlay_tracks.png")
    draw_lineage(table, output_dir / "lineage_tree.png")
    draw_growth(stack, table, output_dir / "growth.png")
    draw_robustness(masks, stack, table, output_dir / "robustness.png")
    text = describe_segmentation(path.name, list(movie)) + describe_tracking(stack, table)
    (output_dir / "methods.md").write_text(text, encoding="utf-8")


def solve_stills(stills: dict[str, np.ndarray], output_dir: Path) -> None:
    """Write masks, figures and methods of single frames."""
    masks = {name: segment(frame) for name, frame in stills.items()}
    for name, mask in masks.items():
        path = output_dir / f"{name}_seg.tif"
        tifffile.imwrite(path, mask.astype(np.uint16), compression="zlib")
    chosen = [list(stills)[k] for k in np.linspace(0, len(stills) - 1, 3).astype(int)]
    shown = ([stills[name] for name in chosen], [masks[name] for name in chosen], chosen)
    draw_overlays(*shown, output_dir / "overlay_cells.png")
    areas = [np.bincount(mask.ravel())[1:] * PIXEL_UM**2 for mask in masks.values()]
    draw_counts([*masks], areas, output_dir / "cells.png")
    names = f"{len(stills)} stills such as {chosen[0]}.tif"
    text = describe_segmentation(names, list(stills.values())) + STILLS.format(
        cells=sum(map(len, areas)), frames=len(areas), area=np.median(np.concatenate(areas))
    )
    (output_dir / "methods.md").write_text(text, encoding="utf-8")


def main(input_dir: Path, output_dir: Path) -> None:
    """Segment whatever there is, and track where there is time."""
    output_dir.mkdir(parents=True, exist_ok=True)
    images = {path: tifffile.imread(path) for path in sorted(input_dir.glob("*.tif"))}
    for path, image in images.items():
        if image.ndim == 3:
            solve_movie(path, image, output_dir)
    stills = {path.stem: image for path, image in images.items() if image.ndim == 2}
    if stills:
        solve_stills(stills, output_dir)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
