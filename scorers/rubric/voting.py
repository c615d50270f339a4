"""Several decisions on one item made one: samples of a judge, and a panel of judges."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scorers.rubric.decisions import Decision


@dataclass(frozen=True)
class Verdict:
    """What a panel decides of one item.

    Attributes
    ----------
    decision
        The decision of the majority.
    by_judge
        Each judge's status; None where it gave no valid answer.
    agreement
        Share of the pairs of judges with valid answers that agree; None with fewer than two.
    """

    decision: Decision
    by_judge: Mapping[str, str | None]
    agreement: float | None


def vote(samples: Sequence[Decision]) -> Decision:
    """Return the decision of the majority of the samples with a valid answer.

    Of equally common statuses the one seen first wins. The decision given is the most confident
    sample of that status (the first of equally confident ones), with the votes by status. Without
    any valid answer it is the first sample, which stays unscored.
    """
    if len({sample.item_id for sample in samples}) != 1:
        raise ValueError(
            "expected one or more decisions on one item, got "
            f"{[sample.item_id for sample in samples]}"
        )
    votes = Counter(sample.status for sample in samples if sample.status is not None)
    if not votes:
        return samples[0]
    # A Counter keeps the order of first sight among equal counts.
    winner = votes.most_common(1)[0][0]
    of_winner = [sample for sample in samples if sample.status == winner]
    chosen = max(of_winner, key=lambda sample: sample.confidence)
    return replace(chosen, votes=dict(votes))


def panel(judges: Mapping[str, Sequence[Decision]]) -> tuple[Verdict, ...]:
    """Return what judges decide together, one vote a judge, in the order of the first one's items.

    Every judge needs exactly one decision for each item, however it got it.
    """
    by_judge = {
        name: {decision.item_id: decision for decision in decisions}
        for name, decisions in judges.items()
    }
    asked = [decision.item_id for decision in next(iter(judges.values()), ())]
    for name, decisions in judges.items():
        if sorted(decision.item_id for decision in decisions) != sorted(asked):
            raise ValueError(
                f"expected the same items from each judge, got others from {name!r}: "
                f"{sorted(set(by_judge[name]) ^ set(asked))}"
            )
    return tuple(
        _verdict({name: decisions[item_id] for name, decisions in by_judge.items()})
        for item_id in asked
    )


def mean_agreement(verdicts: Sequence[Verdict]) -> float | None:
    """Return the mean agreement of the items that have one; None without any."""
    known = [verdict.agreement for verdict in verdicts if verdict.agreement is not None]
    return fmean(known) if known else None


def _verdict(decisions: Mapping[str, Decision]) -> Verdict:
    statuses = {name: decision.status for name, decision in decisions.items()}
    valid = [status for status in statuses.values() if status is not None]
    pairs = [first == second for first, second in combinations(valid, 2)]
    decision = vote([replace(decision, votes={}) for decision in decisions.values()])
    return Verdict(decision, statuses, fmean(pairs) if pairs else None)
