"""What the levels of a rubric add up to: ours from decisions, the published one from a raw answer.

The grader that was first shipped reads points without a sign, so that penalties never apply; the
rubric's text means them with their sign. Both totals are given, each under its name.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from scorers.rubric.items import UNKNOWN
from scorers.rubric.levels import FULL_POINTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scorers.rubric.decisions import Decision
    from scorers.rubric.levels import Criterion, LevelRubric

Number = TypeVar("Number", int, float)

# Longer digits are no score, and Python refuses to read them from some length on.
_PATTERNS = (r'"total_score"\s*:\s*(-?\d{1,9})', r'"score"\s*:\s*(-?\d{1,9})')


@dataclass(frozen=True)
class DimensionTotal:
    """One dimension: `gained` of `span` points between its worst and its best levels.

    Over samples, add up both and divide.
    """

    gained: int
    span: int

    @property
    def share(self) -> float | None:
        """What was gained, from 0 to 1; None without points to gain."""
        return self.gained / self.span if self.span else None


@dataclass(frozen=True)
class LevelScore:
    """A process score of 0 to 100.

    Attributes
    ----------
    unsigned, signed
        Points of the decided criteria without and with penalties; None if none is decided.
    strict
        Signed, with the worst level for each criterion that is unknown or unscored; None if none
        is decided.
    strict_upper
        `strict` with the best level for the unscored ones.
    share_decided
        Share of the points between worst and best levels that is decided.
    dimensions
        Decided criteria by dimension; those without one are left out.
    """

    unsigned: int | None
    signed: int | None
    strict: int | None
    strict_upper: int | None
    share_decided: float
    dimensions: Mapping[str, DimensionTotal]


@dataclass(frozen=True)
class PublishedTotal:
    """What the published grader makes of an answer: points by criterion, where it has any."""

    score: float
    points: Mapping[str, float] = field(default_factory=dict)


def level_score(rubric: LevelRubric, decisions: Iterable[Decision]) -> LevelScore:
    """Add up exactly one decision for each criterion, or raise `ValueError`."""
    statuses = _statuses(rubric, decisions)
    decided = [
        (criterion, status)
        for criterion in rubric.criteria
        if (status := statuses[criterion.id]) is not None and status != UNKNOWN
    ]
    spans = sum(criterion.span for criterion in rubric.criteria)
    known = sum(criterion.span for criterion, _ in decided)
    unsigned = sum(one.unsigned_points.get(status, 0) for one, status in decided)
    signed = sum(one.points[status] for one, status in decided)
    worst = signed + sum(
        min(one.points.values()) for one in rubric.criteria if statuses[one.id] in {None, UNKNOWN}
    )
    best = worst + sum(one.span for one in rubric.criteria if statuses[one.id] is None)
    return LevelScore(
        unsigned=_clipped(unsigned) if decided else None,
        signed=_clipped(signed) if decided else None,
        strict=_clipped(worst) if decided else None,
        strict_upper=_clipped(best) if decided else None,
        share_decided=round(known / spans, 4) if spans else 0.0,
        dimensions=_dimensions(decided),
    )


def published_total(text: str, rubric: LevelRubric, *, signed: bool = False) -> PublishedTotal:
    """Return what the published grader makes of a judge's raw answer, its gaps included.

    Criteria that the answer leaves out add nothing, invented ones add their own score, an answer
    that cannot be read is searched for a total and else is 0.
    """
    answer = _first_object(text)
    if answer is None:
        return PublishedTotal(_clipped(_found_total(text)))
    criteria = answer.get("criteria")
    if not isinstance(criteria, dict):
        total = _number(answer.get("total_score", answer.get("score")))
        return PublishedTotal(_clipped(total or 0))
    points = {
        name: _published_points(entry, rubric.by_id.get(name), signed)
        for name, entry in criteria.items()
    }
    return PublishedTotal(_clipped(sum(points.values())), points)


def _published_points(entry: Any, criterion: Criterion | None, signed: bool) -> float:
    entry = entry if isinstance(entry, dict) else {}
    levels: Mapping[str, int] = {}
    if criterion is not None:
        levels = criterion.points if signed else criterion.unsigned_points
    letter = str(entry.get("level", "")).strip().upper()
    if letter in levels:
        return levels[letter]
    score = _number(entry.get("score"))
    if score is None or not levels:
        return score or 0
    return min(levels.values(), key=lambda points: abs(points - int(score)))


def _number(value: Any) -> float | None:
    """Give a finite number, be it written as text; None for all else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _first_object(text: str) -> dict[str, Any] | None:
    """Decode from the first `{` to its `}`; as published, braces inside of texts count too."""
    start, depth = text.find("{"), 0
    for found in re.finditer("[{}]", text[start:] if start >= 0 else ""):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            try:
                value = json.loads(text[start : start + found.end()])
            except (ValueError, RecursionError):
                return None
            return value if isinstance(value, dict) else None
    return None


def _found_total(text: str) -> int:
    found = (re.search(pattern, text) for pattern in _PATTERNS)
    return next((int(match[1]) for match in found if match), 0)


def _statuses(rubric: LevelRubric, decisions: Iterable[Decision]) -> dict[str, str | None]:
    given = list(decisions)
    asked, got = Counter(rubric.by_id.keys()), Counter(one.item_id for one in given)
    if asked != got:
        raise ValueError(
            "expected exactly one decision for each criterion, got "
            f"none for {sorted(asked - got)} and too many for {sorted(got - asked)}"
        )
    for one in given:
        allowed = (*rubric.by_id[one.item_id].points, UNKNOWN)
        if one.status is not None and one.status not in allowed:
            raise ValueError(
                f"{one.item_id}: expected {', '.join(allowed)} or None, got {one.status!r}"
            )
    return {one.item_id: one.status for one in given}


def _dimensions(decided: Iterable[tuple[Criterion, str]]) -> dict[str, DimensionTotal]:
    totals: dict[str, DimensionTotal] = {}
    for criterion, status in decided:
        if criterion.dimension:
            before = totals.get(criterion.dimension, DimensionTotal(0, 0))
            gained = criterion.points[status] - min(criterion.points.values())
            totals[criterion.dimension] = DimensionTotal(
                before.gained + gained, before.span + criterion.span
            )
    return totals


def _clipped(points: Number) -> Number:
    return min(max(points, type(points)(0)), type(points)(FULL_POINTS))
