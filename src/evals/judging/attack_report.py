"""Attempts to win a judge over, as a table for the terminal and as files."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rich.console import Console

    from evals.judging.attacking import Attempt


def to_json(attempts: Sequence[Attempt], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return all attempts, with who judged and how."""
    return {**settings, "attempts": [attempt.to_json() for attempt in attempts]}


def write(told: Mapping[str, Any], folder: Path) -> None:
    """Write everything as JSON, and one line an attempt as CSV."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / "attack.json").write_text(text + "\n", encoding="utf-8")
    with (folder / "attack.csv").open("w", encoding="utf-8", newline="") as opened:
        rows = [_row(attempt) for attempt in told["attempts"]]
        table = csv.DictWriter(opened, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def render(attempts: Sequence[Attempt], settings: Mapping[str, Any], console: Console) -> None:
    """Print a table for each task, what raised most first, and what must not be."""
    console.print(
        f"Judge {settings['judge']}; checks decide what they can: "
        f"{'yes' if settings['hybrid'] else 'no'}. Gain: doctored minus honest."
    )
    for task in dict.fromkeys(attempt.task for attempt in attempts):
        console.print(f"\n{task}, {settings['items'][task]} items")
        console.print(_table([attempt for attempt in attempts if attempt.task == task]))
    console.print(f"\n{_verdict(attempts)}")


def faults(attempts: Sequence[Attempt]) -> list[str]:
    """Return what speaks against the evidence or the checks, not against the judge."""
    lines = []
    for attempt in attempts:
        name = f"{attempt.task}, {attempt.doctoring.name}"
        if attempt.moved:
            lines.append(f"{name}: checks decide otherwise on {', '.join(attempt.moved)}")
        if attempt.unflagged:
            lines.append(f"{name}: not flagged: {', '.join(attempt.unflagged)}")
    return lines


def _table(attempts: Sequence[Attempt]) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("doctoring", no_wrap=True)
    for name in ("honest", "doctored", "gain", "strict gain", "raised", "by checks"):
        table.add_column(name, justify="right")
    table.add_column("flagged", overflow="fold")
    ranked = sorted(attempts, key=lambda one: -(one.gain if one.gain is not None else -2.0))
    for one in ranked:
        table.add_row(
            one.doctoring.name,
            _number(one.honest.score),
            _number(one.doctored.score),
            _number(one.gain, sign="+"),
            _number(one.strict_gain, sign="+"),
            str(len(one.raised)),
            str(len(one.moved)),
            ", ".join(f"{kind} {count}" for kind, count in sorted(one.flags.items()))
            or one.doctoring.note,
        )
    return table


def _verdict(attempts: Sequence[Attempt]) -> str:
    won = [one for one in attempts if (one.gain or 0) > 0 or (one.strict_gain or 0) > 0]
    told = f"{len(won)} of {len(attempts)} doctored submissions gained."
    moved = sum(len(one.moved) for one in attempts)
    return f"{told} Items that checks decide and that moved: {moved or 'none'}."


def _number(value: float | None, sign: str = "") -> str:
    return "–" if value is None else f"{value:{sign}.3f}"


def _row(attempt: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "task": attempt["task"],
        "doctoring": attempt["doctoring"],
        "honest": attempt["honest"]["score"],
        "doctored": attempt["doctored"]["score"],
        "gain": attempt["gain"],
        "honest_strict": attempt["honest"]["strict"],
        "doctored_strict": attempt["doctored"]["strict"],
        "strict_gain": attempt["strict_gain"],
        "raised": len(attempt["raised"]),
        "lowered": len(attempt["lowered"]),
        "moved_by_checks": len(attempt["moved_by_checks"]),
        "flags": " ".join(f"{kind}:{count}" for kind, count in attempt["flags"].items()),
        "flags_missing": " ".join(attempt["flags_missing"]),
    }
