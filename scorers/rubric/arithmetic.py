"""What the decisions on a checklist add up to.

The published score divides by what is decided, so that less evidence can raise it. The strict one
stands beside it under its own name and divides by all that was asked and answered.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scorers.rubric.items import FAIL, NOT_APPLICABLE, PASS, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scorers.rubric.checklist import Checklist
    from scorers.rubric.decisions import Decision
    from scorers.rubric.items import Item

UNSCORED = "unscored"
"""How a decision without a status is counted."""

OUTCOMES = (PASS, FAIL, UNKNOWN, NOT_APPLICABLE, UNSCORED)


@dataclass(frozen=True)
class ChecklistScore:
    """A process score.

    Attributes
    ----------
    score
        Published: weight passed / weight decided, to 4 decimals; None if nothing is decided.
        Decided are `pass` and `fail`; all else leaves both sums.
    passed
        Whether `score` reaches the threshold, with no failed critical item where such a one fails
        the whole; None if nothing is decided.
    strict
        Weight passed / weight of all asked items but those that do not apply and those that are
        unscored: unknown items earn nothing, and what the judge failed on counts neither way.
        None if nothing is decided.
    strict_lower
        `strict` if all unscored items had failed: equal to it where every answer is valid, and
        what an agent is left with who led the judge astray.
    share_decided
        Weight decided / weight of all asked items that apply; 0 where none does.
    weights
        Sum of weights by outcome.
    by_severity
        Number of items by severity and outcome, the severities in order of first sight.
    failed_criticals
        Ids of the failed critical items.
    """

    score: float | None
    passed: bool | None
    strict: float | None
    strict_lower: float | None
    share_decided: float
    weights: Mapping[str, float]
    by_severity: Mapping[str, Mapping[str, int]]
    failed_criticals: tuple[str, ...]

    def breakdown(self, checklist: Checklist) -> dict[str, Any]:
        """Return the published breakdown; what is neither passed nor failed is unknown in it."""
        return {
            "aggregation": "decided_only",
            "severity_weights": dict(checklist.weights),
            "pass_threshold": checklist.pass_threshold,
            "critical_auto_fail": checklist.critical_auto_fail,
            "earned_weighted": self.weights[PASS],
            "decided_weighted": self.weights[PASS] + self.weights[FAIL],
            "total_weighted": sum(self.weights.values()),
            "by_severity": {
                severity: {
                    "total": sum(counts.values()),
                    "pass": counts[PASS],
                    "fail": counts[FAIL],
                    "unknown": sum(counts.values()) - counts[PASS] - counts[FAIL],
                }
                for severity, counts in self.by_severity.items()
            },
        }


def checklist_score(
    items: Sequence[Item], decisions: Iterable[Decision], checklist: Checklist
) -> ChecklistScore:
    """Add up the decisions on the asked `items`.

    Parameters
    ----------
    items
        All items that were asked.
    decisions
        Exactly one for each of them, in any order.
    checklist
        Where the items are from, for its threshold and rule on critical items.

    Raises
    ------
    ValueError
        If an item has no decision or several, one was not asked, or a status is none of ours.
    """
    outcomes = _outcomes(items, decisions)
    weights = dict.fromkeys(OUTCOMES, 0.0)
    by_severity: dict[str, dict[str, int]] = {}
    for item in items:
        outcome = outcomes[item.id]
        weights[outcome] += item.weight
        by_severity.setdefault(item.severity, dict.fromkeys(OUTCOMES, 0))[outcome] += 1
    failed_criticals = tuple(
        item.id for item in items if item.severity == "critical" and outcomes[item.id] == FAIL
    )
    decided = weights[PASS] + weights[FAIL]
    asked = decided + weights[UNKNOWN]
    all_asked = asked + weights[UNSCORED]
    score = round(weights[PASS] / decided, 4) if decided else None
    return ChecklistScore(
        score=score,
        passed=None if score is None else _passed(score, failed_criticals, checklist),
        strict=round(weights[PASS] / asked, 4) if decided else None,
        strict_lower=round(weights[PASS] / all_asked, 4) if decided else None,
        share_decided=round(decided / all_asked, 4) if all_asked else 0.0,
        weights=weights,
        by_severity=by_severity,
        failed_criticals=failed_criticals,
    )


def _passed(score: float, failed_criticals: Sequence[str], checklist: Checklist) -> bool:
    stopped = checklist.critical_auto_fail and bool(failed_criticals)
    return score >= checklist.pass_threshold and not stopped


def _outcomes(items: Sequence[Item], decisions: Iterable[Decision]) -> dict[str, str]:
    """Give each item's outcome, or raise `ValueError` where they do not match one to one."""
    given = list(decisions)
    asked, got = Counter(item.id for item in items), Counter(one.item_id for one in given)
    if asked != got:
        raise ValueError(
            "expected exactly one decision for each asked item, got "
            f"none for {sorted(asked - got)} and too many for {sorted(got - asked)}"
        )
    outcomes = {one.item_id: UNSCORED if one.status is None else one.status for one in given}
    strange = sorted(set(outcomes.values()) - set(OUTCOMES))
    if strange:
        raise ValueError(f"expected statuses {', '.join(OUTCOMES[:-1])} or None, got {strange}")
    return outcomes
