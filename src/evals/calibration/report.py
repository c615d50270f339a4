"""A calibration's summary as files and as text for the terminal."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

from evals.calibration.figure import draw

if TYPE_CHECKING:
    from pathlib import Path

    from evals.calibration.summary import Summary

    Row = dict[str, Any]

FIGURES = ("calibration.png", "calibration.svg")

_AGENTS = ("oracle", "baseline", "floor")
_NOTES = (
    "floor: the best of the naive agents. Scores are means over difficulties and seeds.",
    "damage: kinds of damage to the reference that lower the score, of all.",
)


def write(summary: Summary, folder: Path) -> None:
    """Write each table as CSV, and the figure."""
    for name, rows in summary.tables().items():
        _write_table(folder / f"{name}.csv", rows)
    if summary.by_difficulty:
        draw(summary.by_difficulty, [folder / name for name in FIGURES])


def render(summary: Summary) -> str:
    """Return one line for each task and score, then what damage goes unnoticed."""
    baselines = {
        (row["task"], row["dims"]): row for row in summary.slopes if row["agent"] == "baseline"
    }
    heads = "".join(f"{name:>10}" for name in _AGENTS)
    lines = [f"{'':12}{heads}{'slope of the baseline':>26}{'damage':>10}"]
    for row in summary.discrimination:
        lines += ["", f"{row['task']} {row['dims']}".strip()]
        slopes = baselines.get((row["task"], row["dims"]), {})
        lines += [_line(score, row, slopes) for score in ("strict", "published")]
        unnoticed = [kind for kind in row["strict_unnoticed"].split(", ") if kind]
        for kind in unnoticed:
            lines.append(f"  strict does not fall with {kind}{_because(row, kind)}")
    return "\n".join([*lines, "", *_NOTES])


def _because(row: Row, kind: str) -> str:
    reason = row["forgiven"].get(kind)
    return f": {reason}" if reason else ", which it should"


def _line(score: str, row: Row, slopes: Row) -> str:
    figures = "".join(f"{_figure(row[f'{score}_{agent}']):>10}" for agent in _AGENTS)
    name = f"{score}_slope"
    interval = _figure(slopes.get(name))
    if slopes.get(f"{name}_low") is not None:
        interval += f" [{_figure(slopes[f'{name}_low'])}, {_figure(slopes[f'{name}_high'])}]"
    noticed = row["kinds"] - len([kind for kind in row[f"{score}_unnoticed"].split(", ") if kind])
    return f"  {score:10}{figures}{interval:>26}{noticed:>6}/{row['kinds']:<3}"


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _write_table(path: Path, rows: list[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as opened:
        if not rows:
            return
        table = csv.DictWriter(opened, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(
            {key: json.dumps(v) if isinstance(v, dict) else v for key, v in row.items()}
            for row in rows
        )
