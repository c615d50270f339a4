"""One call of a judge: asked, repaired where that helps, and never lost without a reason."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inspect_ai.model import ChatMessageUser, ModelUsage
from inspect_ai.util import LimitExceededError, concurrency

from evals.judging.cache import AnswerCache, Kept, call_key
from scorers.rubric.answers import Answers, merged, read_answers, repair_request, unscored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspect_ai.model import ChatMessage, ModelOutput

    from evals.judging.case import Case
    from evals.judging.protocol import Judge, Protocol
    from scorers.rubric.decisions import Decision
    from scorers.rubric.items import Item

REFUSED = "the judge's model refused to answer"
_TOO_LARGE = re.compile(
    r"image|picture|payload|request entity|too (?:large|long|many)|context.?(?:length|window)"
    r"|maximum.{0,40}(?:size|length|tokens)|exceed",
    re.IGNORECASE,
)
_TOO_OFTEN = re.compile(r"rate.?limit|quota|resource.?exhausted|overloaded", re.IGNORECASE)
_TOO_LARGE_CODES = frozenset({400, 413, 422})
_NO_ACCESS_CODES = frozenset({401, 403})
_MOST_SAID = 200


@dataclass
class Asked:
    """What became of one call.

    Attributes:
        decisions: Exactly one for each item that was asked.
        calls: Calls of the model that were made, repairs and failures among them.
        hit: The answer came from the cache.
        extra: Results that nobody asked for.
        without_figures: The figures were too large for the model, so it answered without them.
        no_access: The model does not let us in at all.
        usage: What the calls used, as far as the provider told.
        untold: Calls whose usage nobody told.
    """

    decisions: tuple[Decision, ...]
    calls: int = 0
    hit: bool = False
    extra: int = 0
    without_figures: bool = False
    no_access: bool = False
    usage: ModelUsage = field(default_factory=ModelUsage)
    untold: int = 0


async def ask(
    judge: Judge, case: Case, protocol: Protocol, items: Sequence[Item], repeat: int
) -> Asked:
    """Ask a judge for its decisions on items. Only a limit of the run itself is raised.

    Args:
        judge: Who is asked.
        case: What it gets to see.
        protocol: How it is asked.
        items: What it is asked.
        repeat: Number of the sample.
    """
    talk = _Talk(judge, case, items)
    if not protocol.cache:
        return await talk.hold(protocol.repairs)
    key = call_key(judge.model, case.digest(items), judge=judge.name, repeat=repeat)
    cache = AnswerCache.on_this_machine()
    # The same call may be on its way for another sample; it is paid for once.
    async with concurrency(f"evals-judge-{key[:24]}", 1, visible=False):
        kept = cache.get(key)
        if kept is not None:
            return _read(kept, case, items)
        asked = await talk.hold(protocol.repairs)
        if all(decision.status is not None for decision in asked.decisions):
            cache.put(key, Kept(texts=talk.texts, without_figures=asked.without_figures))
        return asked


class _Talk:
    """The exchange over one call."""

    def __init__(self, judge: Judge, case: Case, items: Sequence[Item]) -> None:
        self.texts: list[str] = []
        self._judge = judge
        self._case = case
        self._items = items
        self._messages: list[ChatMessage] = case.messages(items)
        self._asked = Asked(())

    async def hold(self, repairs: int) -> Asked:
        """Ask, and ask again for what is missing or malformed."""
        problem = await self._say()
        if problem:
            self._asked.decisions = tuple(unscored(item, problem) for item in self._items)
            return self._asked
        decisions = self._take(self._items)
        for _ in range(repairs):
            lacking = _open(self._items, decisions)
            if not lacking:
                break
            request = repair_request(Answers(decisions), self._items)
            self._messages.append(ChatMessageUser(content=request))
            if await self._say():
                break
            decisions = merged(decisions, self._take(lacking))
        self._asked.decisions = decisions
        return self._asked

    def _take(self, items: Sequence[Item]) -> tuple[Decision, ...]:
        answers = read_answers(self.texts[-1], items, self._case.refs)
        self._asked.extra += answers.extra
        return answers.decisions

    async def _say(self) -> str:
        """Send what there is to say; return why there is no answer, or nothing."""
        problem, too_large = await self._send()
        if too_large and self._case.figures and not self._asked.without_figures:
            self._asked.without_figures = True
            repairs = self._messages[len(self._case.messages(self._items)) :]
            self._messages = self._case.without_figures().messages(self._items) + repairs
            problem, _ = await self._send()
        return problem

    async def _send(self) -> tuple[str, bool]:
        """Call the model; return why there is no answer, and whether the figures may be why."""
        self._asked.calls += 1
        try:
            output = await self._judge.model.generate(list(self._messages))
        except LimitExceededError:
            raise
        except Exception as error:
            # Whatever it is that a provider throws, the other items must not be lost.
            self._asked.untold += 1
            self._asked.no_access = _code(error) in _NO_ACCESS_CODES
            return f"the call of the judge's model failed: {_said(error)}", _is_too_large(error)
        self._count(output)
        if not output.choices:
            return "the judge's model answered nothing", False
        if output.stop_reason == "content_filter":
            return REFUSED, False
        if output.stop_reason == "model_length":
            return "the evidence is too long for the judge's model", True
        self.texts.append(output.completion)
        self._messages.append(output.message)
        return "", False

    def _count(self, output: ModelOutput) -> None:
        if output.usage is None:
            self._asked.untold += 1
        else:
            self._asked.usage += output.usage


def _read(kept: Kept, case: Case, items: Sequence[Item]) -> Asked:
    """Read a kept call as it was read when it was made."""
    decisions: tuple[Decision, ...] = ()
    extra = 0
    for text in kept.texts:
        lacking = _open(items, decisions) if decisions else items
        answers = read_answers(text, lacking, case.refs)
        decisions = merged(decisions, answers.decisions) if decisions else answers.decisions
        extra += answers.extra
    return Asked(decisions, hit=True, extra=extra, without_figures=kept.without_figures)


def _open(items: Sequence[Item], decisions: Sequence[Decision]) -> list[Item]:
    lacking = {decision.item_id for decision in decisions if decision.status is None}
    return [item for item in items if item.id in lacking]


def _code(error: Exception) -> int | None:
    # Google's errors have a number in `code`, where OpenAI's have a word.
    codes = (getattr(error, name, None) for name in ("status_code", "code"))
    return next((code for code in codes if isinstance(code, int)), None)


def _words(error: Exception) -> str:
    # The text of Inspect's own error repeats the whole request.
    return str(getattr(error, "provider_message", None) or error)


def _said(error: Exception) -> str:
    line = " ".join(_words(error).split())[:_MOST_SAID]
    return f"{type(error).__name__}: {line}" if line else type(error).__name__


def _is_too_large(error: Exception) -> bool:
    code, words = _code(error), _words(error)
    if _TOO_OFTEN.search(words):
        return False
    return (code is None or code in _TOO_LARGE_CODES) and bool(_TOO_LARGE.search(words))
