"""Decisions of checks and of a judge, put together: a check goes before a judge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scorers.rubric.items import NOT_APPLICABLE, PASS, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorers.rubric.decisions import Decision


@dataclass(frozen=True)
class Disagreement:
    """An item on which a check and the judge say different things."""

    item_id: str
    check: str
    judge: str
    says: str


@dataclass(frozen=True)
class Combined:
    """One decision for each item that anybody decided, by id, and where they disagree."""

    decisions: tuple[Decision, ...]
    disagreements: tuple[Disagreement, ...] = ()


def combine(checked: Sequence[Decision], judged: Sequence[Decision]) -> Combined:
    """Put decisions together; what a check decided stays, whatever the judge says of it.

    That an item does not apply contradicts a judge that fails it, but none that passes it: items
    often say that they pass where there is no occasion for them. A judge that does not know
    contradicts nothing.
    """
    by_judge = {decision.item_id: decision for decision in judged}
    by_check = {decision.item_id: decision for decision in checked}
    decisions: list[Decision] = []
    disagreements: list[Disagreement] = []
    for item_id in sorted(by_judge | by_check):
        check, judge = by_check.get(item_id), by_judge.get(item_id)
        if check is None:
            assert judge is not None
            decisions.append(judge)
            continue
        said = None if judge is None else judge.status
        decisions.append(replace(check, judge_status=said if said != check.status else None))
        if check.status is not None and said is not None and _differ(check.status, said):
            disagreements.append(Disagreement(item_id, check.status, said, check.rationale))
    return Combined(tuple(decisions), tuple(disagreements))


def _differ(check: str, judge: str) -> bool:
    if UNKNOWN in {check, judge} or check == judge:
        return False
    return not (check == NOT_APPLICABLE and judge == PASS)
