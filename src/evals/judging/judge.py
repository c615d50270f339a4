"""One sample judged: every item by every judge, the calls side by side within Inspect's limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from inspect_ai.model import ModelUsage
from inspect_ai.util import collect

from evals.judging.asking import Asked, ask
from scorers.rubric.answers import unscored
from scorers.rubric.voting import mean_agreement, panel, vote

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evals.judging.case import Case
    from evals.judging.protocol import Judge, Protocol
    from scorers.rubric.decisions import Decision
    from scorers.rubric.items import Item

NO_ACCESS = "not asked: the judge's model let none of our calls in"


@dataclass
class Tally:
    """What one judge's calls came to.

    Attributes:
        calls: Calls of the model that were made, repairs and failures among them.
        cache_hits: Groups of items that the cache answered.
        extra: Results that nobody asked for.
        without_figures: Groups of items that were answered without the figures, because these
            were too large for the model.
        untold: Calls whose usage nobody told.
        usage: Tokens and cost of all calls, cache hits not among them.
    """

    calls: int = 0
    cache_hits: int = 0
    extra: int = 0
    without_figures: int = 0
    untold: int = 0
    usage: ModelUsage = field(default_factory=ModelUsage)

    def add(self, asked: Asked) -> None:
        """Count one group of items."""
        self.calls += asked.calls
        self.cache_hits += asked.hit
        self.extra += asked.extra
        self.without_figures += asked.without_figures
        self.untold += asked.untold
        self.usage += asked.usage

    def to_json(self) -> dict[str, Any]:
        """Return the tally for a score's metadata."""
        return {
            "calls": self.calls,
            "cache_hits": self.cache_hits,
            "extra_results": self.extra,
            "without_figures": self.without_figures,
            "calls_without_usage": self.untold,
            "usage": self.usage.model_dump(mode="json", exclude_none=True),
            "cost_usd": self.usage.total_cost,
        }


@dataclass(frozen=True)
class Judgement:
    """What the judges of one sample decided.

    Attributes:
        decisions: Exactly one for each item, in the items' order; of a panel the majority's.
        by_judge: Each judge's own decisions.
        agreement: Mean share of pairs of judges that agree, None for one judge.
        tallies: What each judge's calls came to.
    """

    decisions: tuple[Decision, ...]
    by_judge: Mapping[str, tuple[Decision, ...]]
    agreement: float | None
    tallies: Mapping[str, Tally]


async def judge(
    judges: Sequence[Judge], case: Case, items: Sequence[Item], protocol: Protocol
) -> Judgement:
    """Ask all judges for their decisions on all items.

    A call that fails leaves its own items unscored and no others.

    Args:
        judges: Who judges; of several the majority counts.
        case: What they get to see.
        items: What they are asked, in the order in which it is asked.
        protocol: How they are asked.
    """
    tallies = {each.name: Tally() for each in judges}
    answers = await collect(
        *[_answers(each, case, items, protocol, tallies[each.name]) for each in judges]
    )
    by_judge = {each.name: given for each, given in zip(judges, answers, strict=True)}
    if len(judges) == 1:
        return Judgement(answers[0], by_judge, None, tallies)
    verdicts = panel(by_judge)
    decisions = tuple(verdict.decision for verdict in verdicts)
    return Judgement(decisions, by_judge, mean_agreement(verdicts), tallies)


async def _answers(
    each: Judge, case: Case, items: Sequence[Item], protocol: Protocol, tally: Tally
) -> tuple[Decision, ...]:
    """Return one judge's decisions, its samples put to the vote."""
    size = protocol.items_per_call
    groups = [items[start : start + size] for start in range(0, len(items), size)]
    repeats = range(protocol.first_repeat, protocol.first_repeat + protocol.samples)
    orders = [(group, repeat) for repeat in repeats for group in groups]
    if not orders:
        return ()
    # One call goes ahead, so that the provider has read the evidence once when the others come.
    lead = await ask(each, case, protocol, *orders[0])
    if lead.no_access:
        rest = [_not_asked(group) for group, _ in orders[1:]]
    else:
        rest = await collect(*[ask(each, case, protocol, *order) for order in orders[1:]])
    samples: dict[str, list[Decision]] = {item.id: [] for item in items}
    for asked in (lead, *rest):
        tally.add(asked)
        for decision in asked.decisions:
            samples[decision.item_id].append(decision)
    return tuple(vote(samples[item.id]) for item in items)


def _not_asked(items: Sequence[Item]) -> Asked:
    return Asked(tuple(unscored(item, NO_ACCESS) for item in items))
