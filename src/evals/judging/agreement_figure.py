"""The picture of an agreement: confusion on the left, agreement of each part on the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from evals.judging.agreeing import Comparison, Part
    from scorers.rubric.bootstrap import Estimate

_OBSERVED, _KAPPA = "#0072B2", "#D55E00"
_NAME_CHARS = 48
_ROW_INCHES = 0.24
_DARK = 0.6


def draw(found: Comparison, paths: Sequence[Path]) -> None:
    """Draw into files, in the formats that their names tell."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    height = max(3.6, 1.4 + _ROW_INCHES * (len(found.parts) + 1))
    figure = Figure(figsize=(10, height), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.5))
    _confusion(left, found)
    _forest(right, found)
    # The same numbers give the same bytes.
    with rc_context({"svg.hashsalt": "agreement"}):
        for path in paths:
            metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
            figure.savefig(path, dpi=160, metadata=metadata)


def _confusion(axes: Axes, found: Comparison) -> None:
    """Show counts, shaded by their share of FIRST's answer."""
    counts = np.array(found.overall.confusion)
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    for (row, column), count in np.ndenumerate(counts):
        text = f"{count}\n{shares[row, column]:.0%}" if counts[row].any() else "0"
        colour = "white" if shares[row, column] > _DARK else "black"
        axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=9)
    names = found.scale.categories
    axes.set_xticks(range(len(names)), names)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel(f"SECOND: {_short(found.files[1])}")
    axes.set_ylabel(f"FIRST: {_short(found.files[0])}")
    axes.set_title("answers, and their share of FIRST's", fontsize=10)


def _forest(axes: Axes, found: Comparison) -> None:
    """Show observed agreement and kappa with their intervals, one line a part."""
    rows: list[tuple[str, int, Estimate, Estimate]] = [
        ("all", found.overall.n, found.overall.observed, found.overall.kappa),
        *(_line(part) for part in found.parts),
    ]
    for at, (_, _, observed, kappa) in enumerate(rows):
        _estimate(axes, observed, at - 0.12, _OBSERVED, "o")
        _estimate(axes, kappa, at + 0.12, _KAPPA, "D")
    axes.axhline(0.5, color="0.6", linewidth=0.8)
    axes.axvline(0, color="0.6", linewidth=0.8)
    axes.set_yticks(
        range(len(rows)), [f"{_short(name)}  ({n})" for name, n, *_ in rows], fontsize=7
    )
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(right=1.03)
    axes.set_xlabel("agreement")
    axes.set_title(f"by {found.by} (number of pairs)", fontsize=10)
    axes.grid(axis="x", alpha=0.25, linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.plot([], [], "o", color=_OBSERVED, label="observed")
    axes.plot([], [], "D", color=_KAPPA, label="kappa", markersize=4)
    axes.figure.legend(loc="outside lower right", ncols=2, fontsize=8, frameon=False)


def _line(part: Part) -> tuple[str, int, Estimate, Estimate]:
    return part.name, part.found.n, part.found.observed, part.found.kappa


def _estimate(axes: Axes, told: Estimate, at: float, colour: str, marker: str) -> None:
    if told.value is None:
        return
    axes.plot(told.value, at, marker, color=colour, markersize=5 if marker == "o" else 4)
    if told.low is not None and told.high is not None:
        axes.hlines(at, told.low, told.high, color=colour, linewidth=1.4)


def _short(name: str) -> str:
    cut = name if len(name) <= _NAME_CHARS else name[: _NAME_CHARS - 1] + "…"
    return cut.replace("$", r"\$")  # else matplotlib reads formulas
