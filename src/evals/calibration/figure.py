"""One small panel a task: scores against difficulty, with the intervals of their means."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any, Literal

from evals.calibration.summary import SCORES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    Row = dict[str, Any]

# Colours by Okabe and Ito, told apart with any colour vision; markers help as well.
AGENTS = {
    "oracle": ("#009E73", "^"),
    "baseline": ("#0072B2", "o"),
    "naive(prior)": ("#D55E00", "s"),
    "naive(blank)": ("#56B4E9", "v"),
    "naive(bluff)": ("#E69F00", "x"),
    "naive(empty)": ("#000000", "+"),
}
_LINES: dict[str, Literal["--", "-"]] = {"published": "--", "strict": "-"}
_COLUMNS = 4
_PANEL_INCHES = (2.6, 2.1)
_TITLE_CHARS = 34


def draw(by_difficulty: Sequence[Row], paths: Sequence[Path]) -> None:
    """Draw the summary's table by difficulty into files, in the formats that their names tell.

    Published scores are dashed with hollow markers, strict ones solid. A band
    is the 95 % interval of the mean.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    panels = list(dict.fromkeys((row["task"], row["dims"]) for row in by_difficulty))
    columns = min(_COLUMNS, len(panels))
    lines = math.ceil(len(panels) / columns)
    width, height = _PANEL_INCHES
    figure = Figure(figsize=(max(columns, 2) * width, lines * height + 0.8), layout="constrained")
    grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    for place, axes in enumerate(grid.flat):
        if place >= len(panels):
            axes.set_visible(False)
            continue
        task, dims = panels[place]
        own = [row for row in by_difficulty if (row["task"], row["dims"]) == (task, dims)]
        _panel(axes, f"{task} {dims}".strip(), own)
    figure.supxlabel("difficulty", fontsize=9)
    figure.supylabel("score", fontsize=9)
    present = {row["agent"] for row in by_difficulty}
    shown = [
        Line2D([], [], color=colour, marker=marker, label=agent)
        for agent, (colour, marker) in AGENTS.items()
        if agent in present
    ]
    shown += [Line2D([], [], color="0.3", linestyle=_LINES[s], label=s) for s in SCORES]
    figure.legend(handles=shown, loc="outside upper center", ncols=4, fontsize=8, frameon=False)
    # The same numbers give the same bytes.
    with rc_context({"svg.hashsalt": "calibration"}):
        for path in paths:
            metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
            figure.savefig(path, dpi=160, metadata=metadata)


def _panel(axes: Axes, title: str, rows: Sequence[Row]) -> None:
    axes.set_title("\n".join(textwrap.wrap(title, _TITLE_CHARS)), fontsize=7)
    for agent, (colour, marker) in AGENTS.items():
        own = [row for row in rows if row["agent"] == agent]
        for score in SCORES:
            _curve(axes, own, score, colour, marker)
    axes.set_xlim(-0.05, 1.05)
    axes.set_ylim(-0.03, 1.03)
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.25, linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)


def _curve(axes: Axes, rows: Sequence[Row], score: str, colour: str, marker: str) -> None:
    known = [row for row in rows if row[score] is not None]
    if not known:
        return
    at = [row["difficulty"] for row in known]
    axes.plot(
        at,
        [row[score] for row in known],
        color=colour,
        marker=marker,
        markersize=3.5,
        markerfacecolor=colour if score == "strict" else "white",
        linewidth=1.2,
        linestyle=_LINES[score],
        clip_on=False,
    )
    banded = [row for row in known if row[f"{score}_low"] is not None]
    axes.fill_between(
        [row["difficulty"] for row in banded],
        [max(0.0, row[f"{score}_low"]) for row in banded],
        [min(1.0, row[f"{score}_high"]) for row in banded],
        color=colour,
        alpha=0.15,
        linewidth=0,
    )
