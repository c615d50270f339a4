"""Find when RAD18 joins replication foci, as a share of S phase, the classical way.

Usage: python solve.py INPUT_DIR OUTPUT_DIR
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import tifffile
from scipy import ndimage as ndi
from scipy.optimize import linear_sum_assignment
from scipy.stats import mannwhitneyu
from skimage.feature import peak_local_max
from skimage.filters import threshold_otsu
from skimage.measure import label as components
from skimage.measure import regionprops
from skimage.segmentation import watershed

mpl.use("Agg")
import matplotlib.pyplot as plt

PIXEL_UM, INTERVAL_H = 0.108, 1 / 6
CONDITIONS = {"siControl": "Figure2b_siControl.tif", "si53BP1": "Figure2b_si53BP1.tif"}
SPOT_PX = 1.4
S_PHASE_FRAMES = (36, 84)  # 6 to 14 h: the usual 8 to 12 with room for error
EDGE_FRAMES = 2
LINK_PX = 3.0
GAP_FRAMES = 2
SHORTEST_TRACK = 4


@dataclass
class Cell:
    """One nucleus over time.

    Attributes
    ----------
    centre
        In each frame, shape (T, 2).
    granularity
        How punctate PCNA is in each frame, shape (T,).
    s_phase
        First and last frame of a complete S phase, else None.
    events
        First overlap of RAD18 with a PCNA focus: frame, y, x.
    """

    label: int
    centre: np.ndarray
    granularity: np.ndarray
    s_phase: tuple[int, int] | None = None
    events: list[tuple[int, float, float]] = field(default_factory=list)


def read(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return PCNA (red and its copy in blue averaged) and RAD18, without the time stamp."""
    movie = np.stack([tifffile.imread(path) for path in sorted(folder.glob("T*.tif"))])
    stamped = ((movie == 255).all(axis=3)).mean(axis=0) > 0.05
    rows, columns = stamped.shape[0] // 6, stamped.shape[1] // 2
    at = np.argwhere(stamped[:rows, columns:])
    if len(at):
        bottom, left = at[:, 0].max() + 2, columns + at[:, 1].min() - 2
        movie[:, :bottom, left:] = 0
    movie = movie.astype(np.float32)
    return (movie[..., 0] + movie[..., 2]) / 2, movie[..., 1]


def nuclei(pcna: np.ndarray, rad18: np.ndarray) -> np.ndarray:
    """Label nuclei in all frames, each with one number over time."""
    both = ndi.gaussian_filter(np.sqrt(pcna + rad18), (1.0, 2.0, 2.0))
    masks = np.stack([ndi.binary_fill_holes(f > 0.8 * threshold_otsu(f)) for f in both])
    masks = ndi.binary_opening(masks, np.ones((1, 5, 5)))
    areas = [r.area for r in regionprops(components(masks[0]))]
    radius = np.sqrt(np.median(areas) / np.pi)
    labels = np.zeros(masks.shape, np.int32)
    last: dict[int, np.ndarray] = {}
    for t, mask in enumerate(masks):
        depth = ndi.gaussian_filter(ndi.distance_transform_edt(mask), radius / 8)
        peaks = peak_local_max(depth, min_distance=int(0.6 * radius), labels=mask.astype(int))
        seeds = np.zeros(mask.shape, int)
        seeds[tuple(peaks.T)] = np.arange(1, len(peaks) + 1)
        parts = watershed(-depth, seeds, mask=mask)
        found = [r for r in regionprops(parts) if r.area > 0.25 * np.pi * radius**2]
        centres = np.array([r.centroid for r in found]).reshape(-1, 2)
        names = _matched(last, centres, radius)
        for name, region, centre in zip(names, found, centres, strict=True):
            labels[t][parts == region.label] = name
            last[name] = centre
    return labels


def _matched(last: dict[int, np.ndarray], centres: np.ndarray, reach: float) -> list[int]:
    """Give each centre the number of the nearest nucleus before, or a new one."""
    names = [0] * len(centres)
    known = list(last)
    if known and len(centres):
        away = np.linalg.norm(centres[:, None] - np.stack([last[k] for k in known])[None], axis=2)
        for one, other in zip(*linear_sum_assignment(away), strict=True):
            if away[one, other] < reach:
                names[one] = known[other]
    fresh = max(known, default=0) + 1
    for k, name in enumerate(names):
        if not name:
            names[k], fresh = fresh, fresh + 1
    return names


def spot_filter(movie: np.ndarray) -> np.ndarray:
    """Enhance spots of the lens' size in each frame: a difference of Gaussians."""
    sharp = ndi.gaussian_filter(movie, (0.5, SPOT_PX, SPOT_PX))
    return sharp - ndi.gaussian_filter(movie, (0.5, 2.2 * SPOT_PX, 2.2 * SPOT_PX))


def describe(pcna: np.ndarray, spots: np.ndarray, labels: np.ndarray) -> list[Cell]:
    """Follow how punctate PCNA is in every nucleus that is there in nearly all frames."""
    index = np.arange(1, labels.max() + 1)
    inner = np.stack([np.where(ndi.minimum_filter(f, 5) == f, f, 0) for f in labels])
    cells = []
    size = np.stack([np.bincount(f.ravel(), minlength=labels.max() + 1) for f in labels])[:, 1:]
    for name in index[(size > 0).mean(axis=0) > 0.95].tolist():
        centre, grain = np.full((len(labels), 2), np.nan), np.full(len(labels), np.nan)
        for t in np.flatnonzero(size[:, name - 1]):
            mask = inner[t] == name
            if mask.sum() < 20:
                continue
            centre[t] = np.argwhere(labels[t] == name).mean(axis=0)
            light = pcna[t][mask]
            values = spots[t][mask]
            # The bright tail of the filtered light: nucleoli darken it, foci brighten it.
            grain[t] = (np.percentile(values, 95) - np.median(values)) / max(light.mean(), 1.0)
        filled = pd.DataFrame(centre).interpolate(limit_direction="both").to_numpy()
        curve = pd.Series(grain).interpolate(limit_direction="both").to_numpy()
        cells.append(Cell(name, filled, ndi.median_filter(curve, 3, mode="nearest")))
    return cells


def find_s_phase(cells: list[Cell]) -> None:
    """Take the longest run of punctate PCNA of each cell, if it is whole and of usual length."""
    values = np.concatenate([cell.granularity for cell in cells])
    general = threshold_otsu(values)
    for cell in cells:
        curve, frames = cell.granularity, len(cell.granularity)
        low, high = np.percentile(curve[curve <= general], 50) if (curve <= general).any() else 0, 0
        high = np.median(curve[curve > general]) if (curve > general).any() else general
        level = low + 0.2 * (high - low)
        runs = components(ndi.binary_closing(np.pad(curve > level, 4), iterations=3)[4:-4])
        lengths = np.bincount(runs)[1:]
        if not lengths.size:
            continue
        own = np.flatnonzero(runs == 1 + int(np.argmax(lengths)))
        first, last = int(own[0]), int(own[-1])
        whole = first >= EDGE_FRAMES and last < frames - EDGE_FRAMES
        if whole and S_PHASE_FRAMES[0] <= last - first <= S_PHASE_FRAMES[1]:
            cell.s_phase = first, last


def noise_of(spots: np.ndarray, mask: np.ndarray) -> float:
    """Return a robust standard deviation of filtered light within nuclei."""
    values = spots[mask]
    return float(1.4826 * np.median(np.abs(values - np.median(values))))


def find_events(
    cells: list[Cell], pcna_spots: np.ndarray, rad18_spots: np.ndarray, labels: np.ndarray
) -> None:
    """Link RAD18 spots of each cell over time and keep the first overlap with PCNA of each."""
    quiet = labels > 0
    rad18_level = 5 * noise_of(rad18_spots, quiet)
    strong = rad18_spots[quiet & (rad18_spots > rad18_level)]
    if strong.size:
        rad18_level = max(rad18_level, 0.35 * float(np.percentile(strong, 98)))
    pcna_level = 0.5 * noise_of(pcna_spots, quiet)
    peaks = [
        peak_local_max(f, min_distance=2, threshold_abs=rad18_level, labels=(m > 0).astype(int))
        for f, m in zip(rad18_spots, labels, strict=True)
    ]
    near_pcna = ndi.maximum_filter(pcna_spots, (1, 3, 3))
    for cell in cells:
        if cell.s_phase is None:
            continue
        own = [p[labels[t][tuple(p.T)] == cell.label] for t, p in enumerate(peaks)]
        for track in linked(own, cell.centre):
            overlap = [
                (t, y, x)
                for t, y, x in track
                if cell.s_phase[0] <= t <= cell.s_phase[1]
                and near_pcna[t, int(y), int(x)] > pcna_level
            ]
            if len(overlap) >= max(3, 0.6 * len(track)) and len(track) >= SHORTEST_TRACK:
                cell.events.append(overlap[0])


def linked(peaks: list[np.ndarray], centre: np.ndarray) -> list[list[tuple[int, float, float]]]:
    """Link spots frame by frame to the nearest one in the moving frame of their nucleus."""
    ended: list[list[tuple[int, float, float]]] = []
    alive: list[list[tuple[int, float, float]]] = []
    for t, points in enumerate(peaks):
        still = [track for track in alive if t - track[-1][0] <= GAP_FRAMES + 1]
        ended += [track for track in alive if t - track[-1][0] > GAP_FRAMES + 1]
        taken: set[int] = set()
        if still and len(points):
            ends = np.array([track[-1] for track in still])
            moved = ends[:, 1:] - centre[ends[:, 0].astype(int)] + centre[t]
            away = np.linalg.norm(moved[:, None] - points[None], axis=2)
            for one, other in zip(*linear_sum_assignment(np.minimum(away, 10)), strict=True):
                if away[one, other] < LINK_PX:
                    still[one].append((t, float(points[other, 0]), float(points[other, 1])))
                    taken.add(int(other))
        fresh = [p for k, p in enumerate(points.tolist()) if k not in taken]
        alive = still + [[(t, float(y), float(x))] for y, x in fresh]
    return ended + alive


def analyse(folder: Path) -> tuple[list[Cell], np.ndarray, np.ndarray]:
    """Measure one condition."""
    pcna, rad18 = read(folder)
    labels = nuclei(pcna, rad18)
    pcna_spots = spot_filter(pcna)
    cells = describe(pcna, pcna_spots, labels)
    find_s_phase(cells)
    find_events(cells, pcna_spots, spot_filter(rad18), labels)
    return cells, pcna, rad18


def tabulate(condition: str, cells: list[Cell]) -> pd.DataFrame:
    """Return one row an event."""
    rows = []
    for cell in cells:
        if cell.s_phase is None:
            continue
        first, last = cell.s_phase
        for t, y, x in sorted(cell.events):
            rows.append(
                {
                    "condition": condition,
                    "start_normalized": round((t - first) / (last - first), 4),
                    "cell": cell.label,
                    "S-phase_length_h": round((last - first) * INTERVAL_H, 3),
                    "start_coloc_h": round((t - first) * INTERVAL_H, 3),
                    "frame": t,
                    "y_px": y,
                    "x_px": x,
                }
            )
    return pd.DataFrame(rows, columns=list(rows[0]) if rows else ["condition", "start_normalized"])


def stretched(image: np.ndarray) -> np.ndarray:
    """Scale a picture for display."""
    return np.clip(image / max(float(np.percentile(image, 99.8)), 1.0), 0, 1)


def draw_montage(
    condition: str, cells: list[Cell], pcna: np.ndarray, rad18: np.ndarray, path: Path
) -> None:
    """Show one cell before and at S entry, and at the onset of colocalization, events marked."""
    chosen = max(cells, key=lambda cell: len(cell.events) if cell.s_phase else -1, default=None)
    if chosen is None or chosen.s_phase is None or not chosen.events:
        return
    first, (onset, y, x) = chosen.s_phase[0], min(chosen.events)
    times = {"before S": max(first - 6, 0), "S entry": first + 2, "onset": onset}
    times["3 frames on"] = min(onset + 3, len(pcna) - 1)
    half = 24 if pcna.shape[1] < 300 else 90
    figure, axes = plt.subplots(3, len(times), figsize=(2.6 * len(times), 7.8), squeeze=False)
    for column, (name, t) in zip(axes.T, times.items(), strict=True):
        row, col = np.rint(chosen.centre[t]).astype(int)
        low = max(row - half, 0), max(col - half, 0)
        box = (t, slice(low[0], row + half), slice(low[1], col + half))
        red, green = stretched(pcna[box]), stretched(rad18[box])
        merged = np.stack([red, green, red], axis=-1)
        for axis, image in zip(column, (red, green, merged), strict=True):
            axis.imshow(image, cmap="gray")
            axis.set_axis_off()
        if t >= onset:
            for axis in column:
                axis.plot(x - low[1], y - low[0], "o", mfc="none", mec="yellow", ms=14)
        column[0].plot([3, 3 + 2 / PIXEL_UM], [3, 3], color="white", lw=3)
        column[0].set_title(f"{name}, {t * INTERVAL_H:.1f} h")
    figure.suptitle(f"{condition}: PCNA, RAD18, merged (magenta, green); bar 2 µm")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)


def draw_dots(table: pd.DataFrame, p: float, path: Path) -> None:
    """Show each event as a dot, and medians over cells."""
    figure, axis = plt.subplots(figsize=(5, 5), constrained_layout=True)
    for k, name in enumerate(CONDITIONS):
        values = table.loc[table["condition"] == name, "start_normalized"].to_numpy()
        shift = 0.12 * np.sin(7.3 * np.arange(len(values)))
        axis.plot(k + shift, values, "o", ms=4, alpha=0.6, label=f"{name}, N = {len(values)}")
        if len(values):
            axis.plot([k - 0.25, k + 0.25], [np.median(values)] * 2, color="k", lw=2)
    axis.set_xticks(range(len(CONDITIONS)), list(CONDITIONS))
    axis.set(xlabel="Condition", ylabel="Normalized colocalization start", ylim=(0, 1))
    axis.set_title(f"Mann-Whitney U, two-sided: p = {p:.2g}")
    axis.legend()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_granularity(cells: dict[str, list[Cell]], path: Path) -> None:
    """Plot how punctate PCNA is over time, with the S phases that were found."""
    figure, axes = plt.subplots(1, 2, figsize=(12, 5), constrained_layout=True)
    for axis, (name, own) in zip(axes, cells.items(), strict=True):
        for k, cell in enumerate(own):
            hours = np.arange(len(cell.granularity)) * INTERVAL_H
            axis.plot(hours, cell.granularity + 0.3 * k, color="0.4", lw=0.8)
            if cell.s_phase:
                span = slice(cell.s_phase[0], cell.s_phase[1] + 1)
                axis.plot(hours[span], cell.granularity[span] + 0.3 * k, color="#D55E00")
        axis.set(xlabel="time (h)", ylabel="PCNA granularity, cells shifted", title=name)
        axis.plot([], [], color="#D55E00", label="complete S phase")
        axis.legend()
    figure.savefig(path, dpi=100)
    plt.close(figure)


METHODS = """# Methods

Red and blue are averaged to PCNA, green is RAD18; the box of the time stamp is set to 0.

1. Nuclei: square root of the summed channels, blurred (2 px, 1 frame), 0.8 of Otsu's threshold in
   each frame, holes filled, opened, split by a watershed on distance; numbers over time by the
   nearest centre (linear assignment).
2. S phase: granularity of PCNA is the 95th percentile less the median of a difference of Gaussians
   ({spot} and {wide:.1f} px) within the eroded nucleus over its mean light; median of 3 frames. The
   longest run above 20 % of the way from a cell's quiet level to its level in S phase counts, if
   it is {shortest} to {longest} frames long and neither end is cut by the movie.
3. RAD18 spots: peaks of the same filter above five robust standard deviations and 35 % of bright
   spots, linked in the frame of the moving nucleus (at most {link} px, gaps of {gap} frames);
   tracks of {track} frames or more.
4. An event is a track that lies on PCNA foci for most of its frames within a complete S phase; its
   start is the first such frame, from S entry, over the length of S phase.

Events: {events}. Cells with a complete S phase: {cells}. Mann-Whitney U test on events, two-sided:
p = {p:.3g}; on medians of cells: p = {p_cells:.3g} (events of one cell are not independent).

Limits: two RAD18 foci that cross in the projection become one; a cell whose S phase is cut by an
end of the movie is left out, which favours short S phases.
"""


def p_value(groups: list[np.ndarray]) -> float:
    """Return the two-sided p of Mann and Whitney, 1 if a group is empty."""
    if min(len(group) for group in groups) == 0:
        return 1.0
    return float(mannwhitneyu(*groups, alternative="two-sided").pvalue)


def main(input_dir: Path, output_dir: Path) -> None:
    """Read both movies, write the table of events, figures and methods."""
    figures = output_dir / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    cells: dict[str, list[Cell]] = {}
    for name, folder in CONDITIONS.items():
        found = next(input_dir.rglob(folder))
        cells[name], pcna, rad18 = analyse(found)
        draw_montage(name, cells[name], pcna, rad18, figures / f"montage_{name}.png")
    parts = [tabulate(name, own) for name, own in cells.items()]
    table = pd.concat([part for part in parts if len(part)] or parts)
    table.to_csv(output_dir / "coloc_results.csv", index=False)
    values = [table.loc[table["condition"] == n, "start_normalized"].to_numpy() for n in CONDITIONS]
    medians = [
        np.array([np.median(part["start_normalized"]) for _, part in own.groupby("cell")])
        if len(own)
        else np.zeros(0)
        for own in parts
    ]
    p = p_value(values)
    draw_dots(table, p, figures / "normalized_starts.png")
    draw_granularity(cells, figures / "pcna_granularity.png")
    text = METHODS.format(
        spot=SPOT_PX,
        wide=2.2 * SPOT_PX,
        shortest=S_PHASE_FRAMES[0],
        longest=S_PHASE_FRAMES[1],
        link=LINK_PX,
        gap=GAP_FRAMES,
        track=SHORTEST_TRACK,
        events=", ".join(f"{n} {len(v)}" for n, v in zip(CONDITIONS, values, strict=True)),
        cells=", ".join(f"{n} {sum(c.s_phase is not None for c in o)}" for n, o in cells.items()),
        p=p,
        p_cells=p_value(medians),
    )
    (output_dir / "methods.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
