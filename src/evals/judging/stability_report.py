"""Repeats of one sample as tables for the terminal and as files."""

from __future__ import annotations

import csv
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from rich.console import Console

    from evals.judging.repeating import Repeats
    from scorers.rubric.stability import ItemStability, Stability

_NONE = "no answer"


def write(told: Mapping[str, Any], folder: Path) -> None:
    """Write everything as JSON, and one line an item and order as CSV."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / "stability.json").write_text(text + "\n", encoding="utf-8")
    with (folder / "stability.csv").open("w", encoding="utf-8", newline="") as opened:
        rows = list(_rows(told))
        table = csv.DictWriter(opened, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def render(found: Repeats, judge: str, console: Console) -> None:
    """Print the scores' spread, what the order changes, and each item, the least stable first."""
    hits = f", {found.cache_hits} answers of an earlier command" if found.cache_hits else ""
    console.print(
        f"{found.subject.name}, {len(found.subject.items)} items, judged {found.plain.repeats} "
        f"times{' in either order' if found.shuffled else ''} by {judge}: {found.calls} calls{hits}"
    )
    console.print(f"in their order  {_spread(found.plain)}")
    if found.shuffled is not None and found.order is not None:
        shift = found.order.score_shift
        console.print(f"shuffled        {_spread(found.shuffled)}")
        console.print(
            f"Shuffling moves the mean score by {'–' if shift is None else f'{shift:+.3f}'} and "
            f"the commonest answer of {len(found.order.moved)} of {found.order.compared} items."
        )
    console.print()
    console.print(_table(found))


def _spread(found: Stability) -> str:
    score = found.score
    never = found.never_changing
    if score.mean is None:
        return "no repeat has a score"
    sd = "" if score.sd is None else f", sd {score.sd:.3f}"
    same = "" if never is None else f"; {never:.0%} of the items never change"
    return f"score {score.mean:.3f}{sd}, from {score.low:.3f} to {score.high:.3f}{same}"


def _table(found: Repeats) -> Any:
    from rich import box
    from rich.table import Table

    severities = {item.id: item.severity for item in found.subject.items}
    shuffled = {one.item_id: one for one in found.shuffled.items} if found.shuffled else {}
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ("modal share", "flips"):
        table.add_column(name, justify="right")
    for name in ("answers", *(("shuffled",) if shuffled else ()), "severity"):
        table.add_column(name)
    table.add_column("item", overflow="fold")
    for one in found.plain.items:
        others = (_answers(shuffled[one.item_id]),) if shuffled else ()
        share = "–" if one.modal_share is None else f"{one.modal_share:.2f}"
        cells = (share, str(one.flips), _answers(one), *others, severities[one.item_id])
        table.add_row(*cells, one.item_id)
    return table


def _answers(one: ItemStability) -> str:
    return _counted(one.statuses)


def _counted(statuses: Sequence[str | None]) -> str:
    counts = Counter(status or _NONE for status in statuses)
    return ", ".join(f"{status} {count}" for status, count in counts.most_common())


def _rows(told: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for order in ("plain", "shuffled"):
        for item in (told[order] or {"items": []})["items"]:
            yield {
                "order": order,
                "item_id": item["item_id"],
                "severity": item["severity"],
                "modal": item["modal"],
                "modal_share": item["modal_share"],
                "flips": item["flips"],
                "answers": " ".join(status or "" for status in item["statuses"]),
            }
