"""Whether a judge says the same again: decisions of repeats on one sample."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, stdev
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scorers.rubric.decisions import Decision


@dataclass(frozen=True)
class ItemStability:
    """One item over the repeats.

    Attributes
    ----------
    statuses
        The answers in the order of the repeats; None where there was no valid one.
    modal
        The commonest answer, of equally common ones the first given; None without any.
    modal_share
        Its share of the valid answers.
    flips
        Changes from one valid answer to the next.
    """

    item_id: str
    statuses: tuple[str | None, ...]
    modal: str | None
    modal_share: float | None
    flips: int


@dataclass(frozen=True)
class Spread:
    """Scores of the repeats; `sd` (n - 1) is None below two, the rest below one."""

    n: int
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Stability:
    """Repeats of one sample.

    Attributes
    ----------
    items
        The least stable first.
    never_changing
        Share of items with one answer throughout, of those with at least two valid answers; None
        if there is no such item.
    score
        Of the repeats that have one.
    """

    repeats: int
    items: tuple[ItemStability, ...]
    never_changing: float | None
    score: Spread


@dataclass(frozen=True)
class OrderEffect:
    """What shuffling the items changes.

    Attributes
    ----------
    compared
        Items with a valid answer in both orders.
    moved
        Those of them whose commonest answer is another.
    score_shift
        Mean score of shuffled repeats minus that of plain ones; None if one is missing.
    """

    compared: int
    moved: tuple[str, ...]
    score_shift: float | None


def stability(repeats: Sequence[Sequence[Decision]], scores: Sequence[float | None]) -> Stability:
    """Compare repeats of one sample.

    Parameters
    ----------
    repeats
        The decisions of each repeat, in any order of the items. An item that a repeat lacks has
        no valid answer there.
    scores
        The score of each repeat, None where it has none.

    Raises
    ------
    ValueError
        There are not as many scores as repeats, or a repeat decides an item twice.
    """
    if len(scores) != len(repeats):
        raise ValueError(f"expected {len(repeats)} scores, one a repeat, got {len(scores)}")
    answers = [_by_item(decisions) for decisions in repeats]
    ids = dict.fromkeys(item_id for one in answers for item_id in one)
    items = [_item(item_id, [one.get(item_id) for one in answers]) for item_id in ids]
    items.sort(key=lambda item: (item.modal_share is None, item.modal_share or 0.0, -item.flips))
    repeated = [item for item in items if sum(map(_valid, item.statuses)) > 1]
    constant = [item for item in repeated if item.flips == 0]
    return Stability(
        repeats=len(repeats),
        items=tuple(items),
        never_changing=len(constant) / len(repeated) if repeated else None,
        score=_spread(scores),
    )


def order_effect(plain: Stability, shuffled: Stability) -> OrderEffect:
    """Compare repeats with the items in their order to repeats with the items shuffled."""
    before = {item.item_id: item.modal for item in plain.items if item.modal is not None}
    after = {item.item_id: item.modal for item in shuffled.items if item.modal is not None}
    both = [item_id for item_id in before if item_id in after]
    means = plain.score.mean, shuffled.score.mean
    return OrderEffect(
        compared=len(both),
        moved=tuple(sorted(item_id for item_id in both if before[item_id] != after[item_id])),
        score_shift=None if means[0] is None or means[1] is None else means[1] - means[0],
    )


def _by_item(decisions: Iterable[Decision]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for decision in decisions:
        if decision.item_id in found:
            raise ValueError(f"expected one decision an item, got two on {decision.item_id!r}")
        found[decision.item_id] = decision.status
    return found


def _valid(status: str | None) -> bool:
    return status is not None


def _item(item_id: str, statuses: Sequence[str | None]) -> ItemStability:
    valid = [status for status in statuses if status is not None]
    counts = Counter(valid)
    # Of equal counts the one seen first comes first.
    modal = max(counts, key=counts.__getitem__, default=None)
    return ItemStability(
        item_id=item_id,
        statuses=tuple(statuses),
        modal=modal,
        modal_share=None if modal is None else counts[modal] / len(valid),
        flips=sum(one != other for one, other in pairwise(valid)),
    )


def _spread(scores: Iterable[float | None]) -> Spread:
    known = [score for score in scores if score is not None]
    if not known:
        return Spread(0, None, None, None, None)
    sd = stdev(known) if len(known) > 1 else None
    return Spread(len(known), fmean(known), sd, min(known), max(known))
