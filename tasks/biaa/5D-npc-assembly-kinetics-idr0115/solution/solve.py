"""Follow two daughter nuclei after anaphase and the Nup107 that they take up, the classical way.

Usage: python solve.py INPUT_DIR OUTPUT_DIR

Works on stacks over time (TZCYX) and on projections over time (TCYX).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import tifffile
from scipy import ndimage as ndi
from skimage.filters import threshold_otsu
from skimage.measure import label as components
from skimage.measure import regionprops_table

mpl.use("Agg")
import matplotlib.pyplot as plt

PIXEL_UM, SPACING_UM, INTERVAL_MIN = 0.25, 1.0, 0.5
SMALLEST_VOXELS = 100
CORE_SHARE = 0.25
RING_PX = (5.0, 10.0)
STEADY_FRAMES = 3
LARGEST_SHARE = 0.12
RIM_SHARE = 0.24
NOISE_LEVELS = 3.0


@dataclass
class Cell:
    """One movie and what was found in it; labels 1 and 2 are the daughters from onset on."""

    gfp: np.ndarray
    dna: np.ndarray
    labels: np.ndarray
    onset: int
    table: pd.DataFrame

    @property
    def flat(self) -> bool:
        """Whether the movie holds projections."""
        return self.gfp.ndim == 3


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return GFP and DNA, time first, by the axes that the file itself names."""
    with tifffile.TiffFile(path) as file:
        movie, axes = file.asarray(), file.series[0].axes
    channel = axes.index("C")
    gfp, dna = (np.take(movie, k, axis=channel).astype(np.float32) for k in (0, 1))
    return gfp, dna


def smoothed(movie: np.ndarray) -> np.ndarray:
    """Blur by about a pixel in space and over neighbouring frames, for few photons."""
    space = (0.8, 0.8) if movie.ndim == 3 else (0.6, 1.2, 1.2)
    return ndi.gaussian_filter(movie, (0.8, *space), mode="nearest")


def sampling(ndim: int) -> tuple[float, ...]:
    """Return the distance of samples along the axes of a frame, in pixels."""
    return (1.0, 1.0) if ndim == 2 else (SPACING_UM / PIXEL_UM, 1.0, 1.0)


def candidates(frame: np.ndarray, smallest: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Threshold a frame and return its labels, and centres and sizes of whole objects."""
    mask = ndi.binary_closing(frame > level_of(frame))
    mask = ndi.binary_fill_holes(mask)
    found = components(mask)
    table = regionprops_table(found, properties=("label", "area", "centroid", "bbox"))
    n = frame.ndim
    centre = np.stack([table[f"centroid-{k}"] for k in range(n)], axis=1)
    # Neighbours are cut by the sides of the field.
    low = np.stack([table[f"bbox-{k}"] for k in range(n - 2, n)], axis=1)
    high = np.stack([table[f"bbox-{k}"] for k in range(2 * n - 2, 2 * n)], axis=1)
    whole = (low > 0).all(axis=1) & (high < frame.shape[-2:]).all(axis=1)
    keep = whole & (table["area"] >= smallest)
    return found, centre[keep], np.stack([table["label"][keep], table["area"][keep]], axis=1)


def level_of(frame: np.ndarray) -> float:
    """Return Otsu's threshold, or that of the brighter class if the first one finds whole cells.

    A nucleus thins out towards its rim in a projection, so a lower share of its light is taken.
    """
    level = float(threshold_otsu(frame))
    bright = frame[frame > level]
    if bright.size > LARGEST_SHARE * frame.size:
        level = float(threshold_otsu(bright))
    if frame.ndim == 2:
        dark, high = frame[frame <= level], np.percentile(frame[frame > level], 90)
        low = np.median(dark)
        noise = 1.4826 * np.median(np.abs(dark - low))
        level = float(low + max(RIM_SHARE * (high - low), NOISE_LEVELS * noise))
    return level


def follow(dna: np.ndarray) -> tuple[np.ndarray, int]:
    """Label both daughters over time, and return the frame of anaphase onset."""
    smallest = SMALLEST_VOXELS if dna.ndim == 4 else SMALLEST_VOXELS // 2
    found = [candidates(frame, smallest) for frame in smoothed(dna)]
    parted = np.array([_pair(centre, own, dna.shape[1:]) is not None for _, centre, own in found])
    steady = np.array([parted[t : t + STEADY_FRAMES].all() for t in range(len(parted))])
    onset = int(np.argmax(steady)) if steady.any() else len(parted) // 5
    labels = np.zeros(dna.shape, np.uint8)
    last: np.ndarray | None = None
    for t in range(onset, len(found)):
        image, centre, own = found[t]
        pair = _pair(centre, own, dna.shape[1:])
        if pair is None:
            if t:
                labels[t] = labels[t - 1]
            continue
        places = centre[pair]
        if last is not None and _far(places, last) > _far(places[::-1], last):
            pair, places = pair[::-1], places[::-1]
        last = places
        for daughter, index in enumerate(pair, start=1):
            labels[t][image == own[index, 0]] = daughter
    return labels, onset


def _pair(centre: np.ndarray, own: np.ndarray, shape: tuple[int, ...]) -> list[int] | None:
    """Return the two largest objects of like size about the middle of the field."""
    if len(own) < 2:
        return None
    step = np.array(sampling(len(shape)))
    off = np.linalg.norm((centre - np.array(shape) / 2) * step, axis=1)
    order = np.argsort(-own[:, 1] * (off < 0.45 * shape[-1]))[:2]
    one, other = own[order, 1]
    if other < 0.35 * one or off[order].max() >= 0.45 * shape[-1]:
        return None
    return sorted(order.tolist(), key=lambda k: float(centre[k, -1]))


def _far(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.linalg.norm(one - other, axis=1).sum())


def body_of(gfp: np.ndarray) -> tuple[np.ndarray, float]:
    """Return where the cells are in each frame, and the mean of what is dark."""
    space = (2.0, 2.0) if gfp.ndim == 3 else (0.7, 2.0, 2.0)
    smooth = ndi.gaussian_filter(gfp, (1.5, *space), mode="nearest")
    level = np.array([threshold_otsu(np.minimum(f, np.percentile(f, 90))) for f in smooth])
    body = smooth > level.reshape(-1, *[1] * (gfp.ndim - 1))
    far = ~np.stack([ndi.binary_dilation(frame, iterations=3) for frame in body])
    dark = float(gfp[far].mean()) if far.sum() > 500 else float(np.percentile(smooth, 1))
    return body, dark


def measure(gfp: np.ndarray, labels: np.ndarray, body: np.ndarray, dark: float) -> dict[str, float]:
    """Measure one frame: both nuclei, their core and non-core, and the cytoplasm about them."""
    step = sampling(labels.ndim)
    light = gfp - dark
    away = ndi.distance_transform_edt(labels == 0, step)
    # In a projection the level already lies where the cell is half as thick as in its middle.
    inside = body if body.ndim == 2 else ndi.binary_erosion(body)
    ring = (away >= RING_PX[0]) & (away <= RING_PX[1])
    ring &= inside if (ring & inside).sum() > 50 else body
    cytoplasm = float(light[ring].mean())
    row: dict[str, float] = {"Intensity_cytoplasm": cytoplasm}
    for nucleus in (1, 2):
        mask = labels == nucleus
        size = float(mask.sum())
        if not size:
            continue
        volume, surface, radius = geometry(mask)
        deep = ndi.distance_transform_edt(mask, step) > CORE_SHARE * radius
        core, rim = light[mask & deep], light[mask & ~deep]
        nucleoplasm = float(light[mask].mean())
        totals = {
            "InnerCore": float((core - 0.25 * cytoplasm).sum()),
            "NonCore": float((rim - 0.07 * nucleoplasm).sum()),
        }
        row |= {
            f"Volume_Nucleus_{nucleus}": volume,
            f"SurfaceArea_Nucleus_{nucleus}": surface,
            f"Intensity_Nucleus_{nucleus}": nucleoplasm,
            f"Mean_Intensity_InnerCore_{nucleus}": float(core.mean()) if core.size else np.nan,
            f"Mean_Intensity_NonCore_{nucleus}": float(rim.mean()) if rim.size else np.nan,
            **{f"Total_Intensity_{k}_{nucleus}": v for k, v in totals.items()},
        }
        row |= {
            f"Normalized_total_Intensity_{name}_{nucleus}": total / cytoplasm
            for name, total in totals.items()
        }
    return row


def geometry(mask: np.ndarray) -> tuple[float, float, float]:
    """Return volume and surface of a nucleus in µm³ and µm², and its equivalent radius in pixels.

    Of a projection they are those of the ball with the same projected area, and of a convex body
    with it on average: four times the area, by Cauchy's theorem.
    """
    if mask.ndim == 2:
        area = float(mask.sum()) * PIXEL_UM**2
        radius = np.sqrt(area / np.pi)
        return 4 / 3 * np.pi * radius**3, 4 * area, radius / PIXEL_UM
    volume = float(mask.sum()) * PIXEL_UM**2 * SPACING_UM
    # An ellipsoid of the same moments: voxels this flat make the surface of a mesh too rough.
    places = np.argwhere(mask) * np.array([SPACING_UM, PIXEL_UM, PIXEL_UM])
    spread = np.sqrt(5 * np.maximum(np.linalg.eigvalsh(np.cov(places.T)), 1e-3))
    p = 1.6075
    a, b, c = spread**p
    surface = 4 * np.pi * ((a * b + a * c + b * c) / 3) ** (1 / p)
    return volume, float(surface), (3 * volume / (4 * np.pi)) ** (1 / 3) / PIXEL_UM


def analyse(path: Path) -> Cell:
    """Measure one movie."""
    gfp, dna = read(path)
    labels, onset = follow(dna)
    body, dark = body_of(gfp)
    rows = []
    for t in range(len(gfp)):
        row: dict[str, float] = {
            "Time Point": t,
            "Time after anaphase onset (min)": (t - onset) * INTERVAL_MIN,
        }
        if t >= onset:
            row |= measure(gfp[t], labels[t], body[t], dark)
        rows.append(row)
    return Cell(gfp, dna, labels, onset, pd.DataFrame(rows))


def flattened(frame: np.ndarray, how: str = "max") -> np.ndarray:
    """Return a frame as a picture."""
    if frame.ndim == 2:
        return frame
    return frame.max(axis=0) if how == "max" else frame.mean(axis=0)


def draw_cell(name: str, cell: Cell, path: Path) -> None:
    """Show DNA with outlines and GFP with the border of the core at five times."""
    last = len(cell.gfp) - 1
    times = np.unique(np.clip([0, cell.onset, cell.onset + 8, cell.onset + 20, last], 0, last))
    figure, axes = plt.subplots(3, len(times), figsize=(3.2 * len(times), 7.5), squeeze=False)
    for column, t in zip(axes.T, times, strict=True):
        minute = (t - cell.onset) * INTERVAL_MIN
        column[0].imshow(flattened(cell.dna[t]), cmap="gray")
        column[1].imshow(flattened(cell.dna[t]), cmap="gray")
        column[2].imshow(flattened(cell.gfp[t], "mean"), cmap="gray")
        for nucleus, colour in ((1, "#E69F00"), (2, "#56B4E9")):
            mask = cell.labels[t] == nucleus
            if not mask.any():
                continue
            deep = ndi.distance_transform_edt(mask, sampling(mask.ndim))
            core = deep > CORE_SHARE * geometry(mask)[2]
            for axis in column[1:]:
                axis.contour(flattened(mask), [0.5], colors=colour, linewidths=1)
            if core.any():
                column[2].contour(flattened(core), [0.5], colors=colour, linestyles=":")
        column[0].set_title(f"{minute:g} min, DNA")
        column[1].set_title("nuclei")
        column[2].set_title("GFP-Nup107, core dotted")
        column[2].plot([3, 3 + 5 / PIXEL_UM], [3, 3], color="white", lw=3)
    for axis in axes.ravel():
        axis.set_axis_off()
    figure.suptitle(f"{name}; bar 5 µm")
    figure.tight_layout()
    figure.savefig(path, dpi=90)
    plt.close(figure)


def draw_curves(cells: dict[str, Cell], path: Path) -> None:
    """Plot all daughters over the time after onset, and their mean."""
    names = {
        "Normalized_total_Intensity_InnerCore": "Nup107 in the core (over cytoplasm, voxels)",
        "Normalized_total_Intensity_NonCore": "Nup107 in the non-core (over cytoplasm, voxels)",
        "Volume_Nucleus": "volume of a nucleus (µm³)",
        "SurfaceArea_Nucleus": "surface of a nucleus (µm²)",
    }
    figure, axes = plt.subplots(2, 2, figsize=(10, 7), constrained_layout=True)
    for axis, (column, title) in zip(axes.ravel(), names.items(), strict=True):
        for cell in cells.values():
            time = cell.table["Time after anaphase onset (min)"]
            for nucleus in (1, 2):
                if f"{column}_{nucleus}" in cell.table:
                    axis.plot(time, cell.table[f"{column}_{nucleus}"], color="0.7", lw=0.8)
        joined = pd.concat([cell.table for cell in cells.values()]).filter(
            regex=f"^{column}|^Time a"
        )
        mean = joined.groupby("Time after anaphase onset (min)").mean().mean(axis=1)
        axis.plot(mean.index, mean, color="#D55E00", lw=2, label=f"mean of {len(cells)} cells")
        axis.set(xlabel="Time after anaphase (min)", ylabel=title)
        axis.legend()
    figure.savefig(path, dpi=110)
    plt.close(figure)


METHODS = """# Methods

Input: {count} movies, {kind}, frames {interval} min apart, pixels of {pixel} µm{planes}.

1. DNA smoothed (1 px in the plane, {sigma}0.8 frames in time), Otsu's threshold in each frame,
   closing, holes filled, connected components; parts below {smallest} voxels (half of it in
   projections) and those cut by the sides of the field dropped.
2. Anaphase onset: the first of {steady} frames in a row with two parts of like size (at least
   0.35 : 1) about the middle of the field. The daughters keep their numbers by the nearest centre.
3. Core: deeper than {share:.0%} of the equivalent radius (Euclidean distance, real spacing);
   non-core: the rest of the nucleus. Cytoplasm: {ring} px outside of the nuclei, within the cell
   (Otsu on smoothed GFP, eroded in stacks). Dark counts, the mean far from all cells, are
   subtracted first.
4. Corrected totals are sums over voxels: core less {quarter} of the cytoplasm's mean, non-core less
   7 % of the nucleus' mean; normalised totals are these over the cytoplasm's mean of the same
   frame, which takes bleaching out.
5. {shape}

Onsets (frames from 0): {onsets}.

Limits: thin sets of chromosomes are blurred along z, which makes early nuclei too large; the
non-core depends on where exactly the threshold puts the border.
"""


def main(input_dir: Path, output_dir: Path) -> None:
    """Read all movies, write a workbook each, figures and methods."""
    figures = output_dir / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    cells = {}
    for path in sorted(input_dir.glob("*.tif")):
        cells[path.stem] = cell = analyse(path)
        cell.table.to_excel(
            output_dir / f"{path.stem}.xlsx", sheet_name=path.stem[:31], index=False
        )
        draw_cell(path.stem, cell, figures / f"{path.stem}.png")
    draw_curves(cells, figures / "kinetics.png")
    flat = next(iter(cells.values())).flat
    text = METHODS.format(
        count=len(cells),
        kind="projections over z" if flat else "stacks",
        interval=INTERVAL_MIN,
        pixel=PIXEL_UM,
        planes="" if flat else f", planes {SPACING_UM:g} µm apart",
        sigma="" if flat else "0.6 planes, ",
        smallest=SMALLEST_VOXELS,
        steady=STEADY_FRAMES,
        share=CORE_SHARE,
        ring=f"{RING_PX[0]:g} to {RING_PX[1]:g}",
        quarter="25 %",
        shape=(
            "Volume: of the ball of equal projection. Surface: four times the projected area."
            if flat
            else "Volume: voxels. Surface: of the ellipsoid of the same second moments."
        ),
        onsets=", ".join(f"{name} {cell.onset}" for name, cell in cells.items()),
    )
    (output_dir / "methods.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
