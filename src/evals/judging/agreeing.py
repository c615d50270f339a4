"""How far two files of decisions agree: overall, by item, severity or task, and by pair."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evals.judging.decision_files import DecisionsInvalidError
from evals.judging.joining import join
from scorers.rubric.agreement import MISSING, Agreement, Scale, agreement
from scorers.rubric.items import FAIL, PASS, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evals.judging.decision_files import Decisions
    from evals.judging.joining import Count, Joined, Unit
    from scorers.rubric.bootstrap import Bootstrap

By = Literal["item", "severity", "task"]
YES_OR_NO = Scale((PASS, FAIL, UNKNOWN))
_DECIDED = Scale((PASS, FAIL))


@dataclass(frozen=True)
class Part:
    """Agreement on a part of what was compared."""

    name: str
    found: Agreement


@dataclass(frozen=True)
class Comparison:
    """Two files compared.

    Attributes:
        files: Their names.
        raters: The raters of each.
        counts: What became of the decisions of each.
        scale: The answers.
        items: How many items were compared.
        overall: Agreement of the raters of one file with those of the other.
        decided: The same where both say pass or fail; None for levels, where nothing else counts.
        by: What a part is.
        parts: The items, severities or tasks, the least agreement first.
        pairs: Every pair of raters, those within a file too; empty for two raters.
        bootstrap: How often and from which seed samples were drawn.
    """

    files: tuple[str, str]
    raters: tuple[tuple[str, ...], tuple[str, ...]]
    counts: tuple[Count, Count]
    scale: Scale
    items: int
    overall: Agreement
    decided: Agreement | None
    by: By
    parts: Sequence[Part]
    pairs: Sequence[Part]
    bootstrap: Bootstrap

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON-able mapping."""
        return asdict(self)


def scale_of(levels: Sequence[str] | None) -> Scale:
    """Return the scale of a level rubric, or that of a checklist if there are no levels."""
    if levels is None:
        return YES_OR_NO
    folded = {name.casefold() for name in levels}
    if len(levels) < 2 or len(folded) < len(levels) or UNKNOWN in folded:
        raise DecisionsInvalidError(
            f"Option --levels: expected at least two levels in their order, each once and without "
            f"{UNKNOWN!r}, got {', '.join(levels) or 'none'}. Mend: write for example --levels "
            "A,B,C."
        )
    return Scale(tuple(levels), ordered=True)


def compare(
    first: Decisions, second: Decisions, scale: Scale, by: By, bootstrap: Bootstrap
) -> Comparison:
    """Compare two files of decisions.

    Raises:
        DecisionsInvalidError: They cannot be joined, or nothing tells a unit's severity or task.
    """
    joined = join(first, second, scale)
    table = _table(joined, scale, bootstrap)
    return Comparison(
        files=(first.path.name, second.path.name),
        raters=joined.raters,
        counts=joined.counts,
        scale=scale,
        items=len({unit.item for unit in joined.units}),
        overall=table.agreement(),
        decided=None if scale.ordered else _only_decided(table).agreement(),
        by=by,
        parts=_parts(joined.units, table, by),
        pairs=_pairs(table),
        bootstrap=bootstrap,
    )


@dataclass(frozen=True)
class _Table:
    """Ratings as an array of units by raters, and the pairs of raters across the files."""

    ratings: NDArray[np.int_]
    samples: NDArray[np.int_]
    names: Sequence[str]
    across: Sequence[tuple[int, int]]
    scale: Scale
    bootstrap: Bootstrap

    def agreement(
        self, chosen: NDArray[np.bool_] | None = None, pair: tuple[int, int] | None = None
    ) -> Agreement:
        """Compare all units or chosen ones, across the files or for one pair of raters."""
        rows = np.ones(len(self.ratings), bool) if chosen is None else chosen
        columns = list(range(len(self.names)) if pair is None else pair)
        return agreement(
            self.ratings[rows][:, columns],
            self.samples[rows],
            self.scale,
            pairs=self.across if pair is None else None,
            how=self.bootstrap,
        )


def _table(joined: Joined, scale: Scale, bootstrap: Bootstrap) -> _Table:
    names = [name for side in joined.raters for name in side]
    ratings = [[unit.answers.get(name, MISSING) for name in names] for unit in joined.units]
    numbers = {
        sample: at for at, sample in enumerate(dict.fromkeys(unit.sample for unit in joined.units))
    }
    of_first = len(joined.raters[0])
    return _Table(
        ratings=np.array(ratings),
        samples=np.array([numbers[unit.sample] for unit in joined.units]),
        names=names,
        across=list(product(range(of_first), range(of_first, len(names)))),
        scale=scale,
        bootstrap=bootstrap,
    )


def _only_decided(table: _Table) -> _Table:
    """Leave out `unknown`, the last of the answers."""
    decided = table.ratings < len(_DECIDED.categories)
    return replace(table, ratings=np.where(decided, table.ratings, MISSING), scale=_DECIDED)


def _parts(units: Sequence[Unit], table: _Table, by: By) -> list[Part]:
    labels = np.array([getattr(unit, by) for unit in units])
    if not labels.astype(bool).all():
        raise DecisionsInvalidError(
            f"Option --by: expected the {by} of every decision, got none in either file for item "
            f"{units[int(np.argmin(labels.astype(bool)))].item}. Mend: add a column "
            f"{'task_id' if by == 'task' else by}, or leave the option out."
        )
    parts = [Part(str(name), table.agreement(labels == name)) for name in np.unique(labels)]
    return sorted(parts, key=lambda part: (part.found.observed.value or 0.0, part.name))


def _pairs(table: _Table) -> list[Part]:
    if len(table.names) < 3:
        return []
    return [
        Part(f"{table.names[a]} × {table.names[b]}", table.agreement(pair=(a, b)))
        for a, b in combinations(range(len(table.names)), 2)
    ]
