"""An agreement as tables for the terminal and as files."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from evals.judging.agreement_figure import draw

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table

    from evals.judging.agreeing import Comparison, Part
    from evals.judging.joining import Count
    from scorers.rubric.agreement import Agreement
    from scorers.rubric.bootstrap import Estimate

STATISTICS = {
    "observed": "observed agreement",
    "kappa": "Cohen's kappa",
    "alpha": "Krippendorff's alpha",
    "brennan_prediger": "Brennan-Prediger",
}
_SIDES = ("FIRST", "SECOND")
_PARADOX = 0.2


def write(found: Comparison, folder: Path) -> None:
    """Write everything as JSON, one line a part as CSV, and the picture as PNG and SVG."""
    folder.mkdir(parents=True, exist_ok=True)
    told = json.dumps(found.to_json(), indent=2, ensure_ascii=False, allow_nan=False)
    (folder / "agreement.json").write_text(told + "\n", encoding="utf-8")
    rows = list(_rows(found))
    with (folder / "agreement.csv").open("w", encoding="utf-8", newline="") as opened:
        table = csv.DictWriter(opened, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    draw(found, [folder / "agreement.png", folder / "agreement.svg"])


def render(found: Comparison, console: Console) -> None:
    """Print what was compared, the overall figures, the confusion table, and the parts."""
    for at, side in enumerate(_SIDES):
        names = ", ".join(found.raters[at])
        raters = "" if names == side.lower() else f" ({names})"
        console.print(f"{side:7} {found.files[at]}{raters}: {_account(found.counts[at])}")
    whole = found.overall
    console.print(
        f"\nCompared: {whole.n} pairs of decisions on {found.items} items of {whole.samples} "
        f"samples. 95 % intervals: {found.bootstrap.resamples} bootstrap draws of samples, seed "
        f"{found.bootstrap.seed}."
    )
    console.print(_overall(found))
    for line in _notes(found):
        console.print(line)
    console.print("\nFIRST's answers downwards, SECOND's across:")
    console.print(_confusion(found))
    console.print()
    console.print(_parts(found.by, found.parts))
    if found.pairs:
        console.print()
        console.print(_parts("pair of raters", found.pairs))


def _account(count: Count) -> str:
    left_out = {
        "without an answer": count.unanswered,
        "unknown": count.undecided,
        "without a partner": count.unmatched,
    }
    parts = [f"{number} {what}" for what, number in left_out.items() if number]
    told = f"{count.decisions} decisions" + (f", left out {', '.join(parts)}" if parts else "")
    if count.by_check:
        told += f"; {count.by_check} of those compared were made by code, not by a judge"
    if count.samples_unscored:
        told += f"; {count.samples_unscored} samples without a process score"
    return told


def _table(*columns: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in columns:
        table.add_column(name, justify="right")
    return table


def _overall(found: Comparison) -> Table:
    shown = _wholes(found)
    table = _table("", *shown)
    table.columns[0].justify = "left"
    table.add_row("n", *(str(one.n) for one in shown.values()))
    for key, name in STATISTICS.items():
        table.add_row(name, *(_figure(getattr(one, key)) for one in shown.values()))
    return table


def _wholes(found: Comparison) -> dict[str, Agreement]:
    """Return the overall agreements by name: of levels, only decided ones are compared at all."""
    if found.decided is None:
        return {"decided by both": found.overall}
    return {"all answers": found.overall, "decided by both": found.decided}


def _notes(found: Comparison) -> Iterator[str]:
    """Say why a figure is missing, and where kappa is low only because one answer is common."""
    missing: defaultdict[str, list[str]] = defaultdict(list)
    for key, name in STATISTICS.items():
        told: Estimate = getattr(found.overall, key)
        if told.reason:
            missing[f"{'Undefined' if told.value is None else 'No interval'}, {told.reason}"] += [
                name
            ]
    for why, names in missing.items():
        yield f"{why}: {', '.join(names)}."
    kappa, even = found.overall.kappa.value, found.overall.brennan_prediger.value
    if kappa is not None and even is not None and even - kappa > _PARADOX:
        name, share = _commonest(found)
        yield (
            f"Kappa is far below Brennan-Prediger: {share:.0%} of all answers are {name}, so that "
            "chance alone would agree often."
        )


def _commonest(found: Comparison) -> tuple[str, float]:
    rows = found.overall.confusion
    given = [
        sum(row) + sum(column) for row, column in zip(rows, zip(*rows, strict=True), strict=True)
    ]
    most = max(given)
    return found.scale.categories[given.index(most)], most / sum(given)


def _confusion(found: Comparison) -> Table:
    names = found.scale.categories
    table = _table("", *names, "sum")
    table.columns[0].justify = "left"
    for name, row in zip(names, found.overall.confusion, strict=True):
        table.add_row(name, *map(str, row), str(sum(row)))
    sums = [sum(column) for column in zip(*found.overall.confusion, strict=True)]
    table.add_row("sum", *map(str, sums), str(sum(sums)))
    return table


def _parts(what: str, parts: Sequence[Part]) -> Table:
    table = _table("n", "observed", "kappa", "alpha", "B-P")
    table.add_column(what, overflow="fold")
    for part in parts:
        one = part.found
        figures = (one.observed, one.kappa, one.alpha, one.brennan_prediger)
        table.add_row(str(one.n), *(_value(figure) for figure in figures), part.name)
    return table


def _figure(told: Estimate) -> str:
    if told.low is None or told.high is None:
        return _value(told)
    return f"{_value(told)} [{told.low:.2f}, {told.high:.2f}]"


def _value(told: Estimate) -> str:
    return "–" if told.value is None else f"{told.value:.2f}"


def _rows(found: Comparison) -> Iterator[dict[str, Any]]:
    yield from (_row("overall", name, one) for name, one in _wholes(found).items())
    for part in found.parts:
        yield _row(found.by, part.name, part.found)
    for part in found.pairs:
        yield _row("pair of raters", part.name, part.found)


def _row(part: str, name: str, one: Agreement) -> dict[str, Any]:
    row: dict[str, Any] = {"part": part, "name": name, "n": one.n, "samples": one.samples}
    for key in STATISTICS:
        told: Estimate = getattr(one, key)
        row |= {
            key: told.value,
            f"{key}_low": told.low,
            f"{key}_high": told.high,
            f"{key}_reason": told.reason,
        }
    return row
