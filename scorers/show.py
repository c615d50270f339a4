"""A grade for people: tables on the terminal, rows of objects as CSV."""

from __future__ import annotations

import csv
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from scorers.contract import Grade, Scalar
    from scorers.rubric.evidence import Evidence

_ROWS_SHOWN = 50
_COLUMNS_SHOWN = 8


def show(grade: Grade) -> None:
    """Print a grade as tables."""
    console = Console(highlight=False, markup=False)
    console.print(_pairs(grade.task_id, _summary(grade)))
    metrics = {name: value for name, value in grade.metrics.items() if name != "error"}
    if metrics:
        console.print(_pairs("metrics, as published", metrics))
    if grade.strict_metrics:
        console.print(_pairs("strict metrics", grade.strict_metrics))
    if grade.items:
        console.print(_rows(f"items ({len(grade.items)})", grade.items))
    refused = [*grade.deliverables.get("rejected", ()), *grade.deliverables.get("refused", ())]
    if refused:
        console.print(_rows(f"files not used ({len(refused)})", refused))


def show_evidence(evidence: Evidence) -> None:
    """Print what is in evidence as tables, without texts and pictures."""
    console = Console(highlight=False, markup=False)
    counts = {
        "files": evidence.files_total,
        "documents": len(evidence.documents),
        "tables": len(evidence.tables),
        "figures": len(evidence.figures),
    }
    console.print(_pairs(evidence.task_id, counts))
    for title, parts, keys in (
        ("documents", evidence.documents, ("ref", "bucket", "chars", "shortened")),
        ("tables", evidence.tables, ("ref", "rows", "columns")),
        ("figures", evidence.figures, ("ref", "kind", "caption")),
        ("figures not drawn", evidence.undrawn, ("path", "reason")),
        ("flags", evidence.flags, ("where", "kind", "snippet")),
    ):
        rows = [{key: getattr(part, key) for key in keys} for part in parts]
        if rows:
            console.print(_rows(f"{title} ({len(rows)})", rows))


def write_objects(path: Path, rows: Sequence[Mapping[str, Scalar]]) -> None:
    """Write one line an object as CSV; the columns are those of the first row."""
    with path.open("w", newline="", encoding="utf-8") as file:
        if rows:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


@contextmanager
def progress(total: int) -> Iterator[Callable[[], None]]:
    """Show progress on standard error; the yielded function counts one step."""
    columns = (
        TextColumn("grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=total)
        yield lambda: bar.advance(task)


def _summary(grade: Grade) -> dict[str, Any]:
    return {
        "outcome": grade.outcome,
        "passed": grade.passed,
        "result_score": grade.result_score,
        "strict": grade.strict,
        **({"error": grade.error} if grade.error else {}),
    }


def _pairs(title: str, values: Mapping[str, Any]) -> Table:
    table = Table("name", "value", title=title, title_justify="left", show_header=False)
    for name, value in values.items():
        table.add_row(name, _text(value))
    return table


def _rows(title: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    columns = list(rows[0])[:_COLUMNS_SHOWN]
    table = Table(*columns, title=title, title_justify="left")
    for row in rows[:_ROWS_SHOWN]:
        table.add_row(*(_text(row.get(column)) for column in columns))
    if len(rows) > _ROWS_SHOWN:
        table.caption = f"{len(rows) - _ROWS_SHOWN} more with --json"
    return table


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}"
    return "-" if value is None else str(value)
