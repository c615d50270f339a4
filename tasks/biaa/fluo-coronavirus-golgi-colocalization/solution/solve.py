"""Classical colocalization: mask of the cell, Spearman's rank correlation, Mann-Whitney tests.

Run as `python solve.py INPUT_DIR OUTPUT_DIR`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import tifffile
from scipy import ndimage, stats
from skimage import filters

mpl.use("Agg")
import matplotlib.pyplot as plt

CONDITIONS = ("Control", "Stage 1", "Stage 2", "Stage 3")
PAIRS = (("Control", "Stage 1"), ("Stage 1", "Stage 2"), ("Stage 2", "Stage 3"))
COLOURS = ("#666666", "#56B4E9", "#E69F00", "#D55E00")
PIXEL_UM = 0.0706
SMOOTHING_PX = 2.0  # of the picture that the mask is made from, not of the measured one
CLOSING_PX = 2
OPENING_PX = 2

METHODS = """# Methods

{cells} pictures of single cells were measured, one coefficient each; the pixel is {pixel} µm wide.

1. Mask. The three channels were smoothed (Gaussian, sigma {sigma} px), added and their square root
   taken, which evens out photon noise. The threshold lies half-way between Otsu's, which cuts the
   dim margin of a cell off, and Li's, which takes haze in. The mask was closed ({closing} px),
   filled and opened ({opening} px); the largest component is the cell, others are neighbours.
2. Coefficient. Spearman's rank correlation of red (Golgi) and green (S) over the raw 8-bit values
   of the pixels in the mask. Ranks need no background subtraction; background pixels would raise
   the coefficient to 0.6 and more, so they are left out.
3. Statistics. Shapiro-Wilk p of the conditions: {shapiro}; Levene p {levene:.2g}. Neighbouring
   conditions were compared by the two-sided Mann-Whitney U test; the N of a test are cells, and p
   was corrected for three comparisons after Holm. The effect size is the rank-biserial correlation.

Medians: {medians}.

Limits: photon noise lowers coefficients, the more so in dim cells; values are not corrected for it.
Light of the Golgi that bleeds into the green channel and the cell's thickness raise them a little
in all conditions alike. Cells of one replicate are not fully independent.
"""


def main(input_dir: Path, output_dir: Path) -> None:
    """Measure every cell; write tables, figures and a methods text."""
    output_dir.mkdir(parents=True, exist_ok=True)
    paths = [
        (condition, path)
        for condition in CONDITIONS
        for path in sorted((input_dir / condition).glob("*.tif"))
    ]
    cells = pd.DataFrame([measure(condition, path) for condition, path in paths])
    cells.to_csv(output_dir / "colocalization_results.csv", index=False, float_format="%.5f")
    summary = cells.groupby("condition")["spearman"].describe().round(4)
    summary.to_csv(output_dir / "colocalization_summary.csv")
    tests = compare(cells)
    tests.to_csv(output_dir / "pairwise_tests.csv", index=False, float_format="%.6g")
    figures = output_dir / "figures"
    figures.mkdir(exist_ok=True)
    draw_distributions(cells, tests, figures / "spearman_by_condition.png")
    draw_cells(cells, input_dir, figures / "typical_cells.png")
    write_methods(cells, output_dir / "methods.md")


def measure(condition: str, path: Path) -> dict[str, object]:
    """Return one row of the table: where the cell comes from and its coefficient."""
    image = tifffile.imread(path)
    mask = cell_mask(image)
    red, green = (image[..., channel][mask].astype(float) for channel in (0, 1))
    varied = red.min() < red.max() and green.min() < green.max()
    hours, replicate, cell = path.stem.split("_")
    return {
        "condition": condition,
        "image": path.name,
        "hours": hours.removesuffix("h"),
        "replicate": replicate,
        "cell": cell,
        "area_um2": round(float(mask.sum()) * PIXEL_UM**2, 3),
        "spearman": float(stats.spearmanr(red, green).statistic) if varied else 0.0,
    }


def cell_mask(image: np.ndarray) -> np.ndarray:
    """Return the pixels of the cell: the largest bright component of the sum of all channels."""
    smooth = [ndimage.gaussian_filter(image[..., k].astype(float), SMOOTHING_PX) for k in range(3)]
    level = np.sqrt(np.sum(smooth, axis=0))
    bright = level > (filters.threshold_otsu(level) + filters.threshold_li(level)) / 2
    # Room round the picture, so that closing does not eat away what touches its border.
    padded = ndimage.binary_closing(np.pad(bright, 2 * CLOSING_PX), iterations=CLOSING_PX)
    filled = ndimage.binary_fill_holes(padded)[(slice(2 * CLOSING_PX, -2 * CLOSING_PX),) * 2]
    label, count = ndimage.label(ndimage.binary_opening(filled, iterations=OPENING_PX))
    if not count:
        return np.ones(level.shape, dtype=bool)
    return np.asarray(label == 1 + np.bincount(label.ravel())[1:].argmax())


def compare(cells: pd.DataFrame) -> pd.DataFrame:
    """Test neighbouring conditions and correct the p-values after Holm."""
    rows = []
    for left, right in PAIRS:
        one, other = (cells.loc[cells["condition"] == name, "spearman"] for name in (left, right))
        u, p = stats.mannwhitneyu(one, other, alternative="two-sided")
        rows.append((left, right, len(one), len(other), 1 - 2 * u / (len(one) * len(other)), p))
    names = ["condition_1", "condition_2", "n_1", "n_2", "rank_biserial", "uncorrected_p"]
    tests = pd.DataFrame(rows, columns=names)
    order = np.argsort(tests["uncorrected_p"].to_numpy())
    steps = tests["uncorrected_p"].to_numpy()[order] * np.arange(len(order), 0, -1)
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return tests.assign(holm_corrected_p=corrected)


def stars(p: float) -> str:
    """Return the usual sign of a p-value."""
    return "ns" if p >= 0.05 else "*" * (1 + (p < 0.01) + (p < 0.001))


def draw_distributions(cells: pd.DataFrame, tests: pd.DataFrame, path: Path) -> None:
    """Show each cell, medians and quartiles, and which neighbouring conditions differ."""
    figure, axis = plt.subplots(figsize=(6, 4.5))
    values = [cells.loc[cells["condition"] == name, "spearman"].to_numpy() for name in CONDITIONS]
    axis.boxplot(values, positions=range(4), widths=0.5, showfliers=False)
    scatter = np.random.default_rng(0)
    for place, (name, own) in enumerate(zip(CONDITIONS, values, strict=True)):
        x = place + scatter.uniform(-0.15, 0.15, own.size)
        axis.scatter(x, own, s=12, color=COLOURS[place], label=f"{name}, N = {own.size} cells")
    top = max(float(own.max()) for own in values)
    for place, p in enumerate(tests["holm_corrected_p"]):
        height = top + 0.05 + 0.05 * (place % 2)
        axis.plot([place + 0.05, place + 0.95], [height] * 2, color="black", linewidth=1)
        axis.text(place + 0.5, height + 0.005, f"{stars(p)} (p = {p:.2g})", ha="center", size=8)
    axis.set_xticks(range(4), CONDITIONS)
    axis.set_ylim(top=top + 0.16)
    axis.set_ylabel("Spearman's rank correlation, Golgi and S")
    axis.legend(loc="lower right", fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def draw_cells(cells: pd.DataFrame, input_dir: Path, path: Path) -> None:
    """Show the most typical cell of each condition, merged and as red and green, with its mask."""
    figure, axes = plt.subplots(3, 4, figsize=(11, 8))
    for column, name in enumerate(CONDITIONS):
        own = cells[cells["condition"] == name]
        row = own.iloc[int((own["spearman"] - own["spearman"].median()).abs().argmin())]
        image = tifffile.imread(input_dir / name / str(row["image"]))
        mask = cell_mask(image)
        merged = image / max(float(np.percentile(image[..., :2], 99.8)), 1.0)
        merged[..., 2] = 0
        axes[0, column].imshow(merged.clip(0, 1))
        axes[0, column].contour(mask, [0.5], colors="white", linewidths=0.8)
        axes[0, column].set_title(f"{name}: {row['image']}\nrho = {row['spearman']:.2f}", size=9)
        height = len(mask)
        bar = 2 / PIXEL_UM
        axes[0, column].plot([5, 5 + bar], [height - 6] * 2, color="white", linewidth=3)
        axes[0, column].text(5 + bar / 2, height - 10, "2 µm", color="white", ha="center", size=7)
        for line, (label, colours) in enumerate((("Golgi", "Reds_r"), ("S", "Greens_r")), 1):
            axes[line, column].imshow(image[..., line - 1], cmap=colours)
            axes[line, column].contour(mask, [0.5], colors="white", linewidths=0.8)
            axes[line, column].set_title(f"{label} (raw, outline of the mask)", size=8)
        for axis in axes[:, column]:
            axis.set_axis_off()
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    plt.close(figure)


def write_methods(cells: pd.DataFrame, path: Path) -> None:
    """Say what was done, with the numbers that came out."""
    groups = {name: cells.loc[cells["condition"] == name, "spearman"] for name in CONDITIONS}
    text = METHODS.format(
        cells=len(cells),
        pixel=PIXEL_UM,
        sigma=SMOOTHING_PX,
        closing=CLOSING_PX,
        opening=OPENING_PX,
        shapiro=", ".join(f"{n} {stats.shapiro(g).pvalue:.2g}" for n, g in groups.items()),
        levene=stats.levene(*groups.values()).pvalue,
        medians=", ".join(f"{name} {group.median():.3f}" for name, group in groups.items()),
    )
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
