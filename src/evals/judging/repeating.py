"""Whether a judge says the same of the same sample again, and with its items in another order."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from evals.judging.trial import try_judge
from scorers.rubric.stability import order_effect, stability

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evals.judging.protocol import Judge, Protocol
    from evals.judging.rubrics import ChosenChecklist
    from evals.judging.trial import Judged, Subject
    from scorers.rubric.items import Item
    from scorers.rubric.stability import OrderEffect, Stability


@dataclass(frozen=True)
class Repeats:
    """A sample judged several times.

    Attributes:
        subject: The sample.
        plain: With the items in their order.
        shuffled: With the items in another order each time, if that was asked for.
        order: What the order changes.
        calls: Calls of the model.
        cache_hits: Groups of items that an earlier command had paid for.
    """

    subject: Subject
    plain: Stability
    shuffled: Stability | None
    order: OrderEffect | None
    calls: int
    cache_hits: int

    def to_json(self) -> dict[str, Any]:
        """Return everything, with severity and text of each item."""
        return {
            "sample": self.subject.name,
            "repeats": self.plain.repeats,
            "plain": _told(self.plain, self.subject.items),
            "shuffled": self.shuffled and _told(self.shuffled, self.subject.items),
            "order": self.order and asdict(self.order),
            "calls": self.calls,
            "cache_hits": self.cache_hits,
        }


async def repeat(
    who: Judge,
    subject: Subject,
    chosen: ChosenChecklist,
    protocol: Protocol,
    times: int,
    *,
    shuffle: bool = False,
    seed: int = 0,
    step: Callable[[str], None] = lambda name: None,
) -> Repeats:
    """Judge a subject several times; checks decide nothing, as they always say the same.

    No repeat is answered by what the cache keeps of another: each has a number of its own, the
    shuffled ones too. A command that was stopped goes on where it was.

    Args:
        who: The judge.
        subject: The sample.
        chosen: The checklist.
        protocol: How the judge is asked.
        times: How often.
        shuffle: Whether to judge it as often again with its items shuffled.
        seed: Seed of the orders.
        step: Is told each repeat before it begins.
    """
    plain: list[Judged] = []
    shuffled: list[Judged] = []
    for number in range(times * (2 if shuffle else 1)):
        in_order = number < times
        step(f"repeat {number % times + 1}{'' if in_order else ', shuffled'}")
        items = subject.items if in_order else _shuffled(subject.items, seed, number)
        numbered = replace(protocol, first_repeat=number * protocol.samples)
        judged = await try_judge(who, subject, chosen, numbered, items=items)
        (plain if in_order else shuffled).append(judged)
    first = _stability(plain)
    second = _stability(shuffled) if shuffled else None
    return Repeats(
        subject=subject,
        plain=first,
        shuffled=second,
        order=order_effect(first, second) if second else None,
        calls=sum(judged.tally.calls for judged in (*plain, *shuffled)),
        cache_hits=sum(judged.tally.cache_hits for judged in (*plain, *shuffled)),
    )


def _shuffled(items: Sequence[Item], seed: int, number: int) -> tuple[Item, ...]:
    return tuple(random.Random(f"{seed} {number}").sample(items, len(items)))


def _stability(repeats: Sequence[Judged]) -> Stability:
    return stability([one.decisions for one in repeats], [one.score for one in repeats])


def _told(found: Stability, items: Sequence[Item]) -> dict[str, Any]:
    asked = {item.id: item for item in items}
    return {
        "score": asdict(found.score),
        "never_changing": found.never_changing,
        "items": [
            asdict(one) | {"severity": asked[one.item_id].severity, "text": asked[one.item_id].text}
            for one in found.items
        ],
    }
