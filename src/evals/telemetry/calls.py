"""The tool calls of an agent, each once, whoever ran them.

Inspect's own agents leave a tool event for each call. A coding agent behind Inspect's bridge runs
its tools itself: its calls stand in what the model put out, and their results among the messages
of later requests, which repeat all that went before.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    ContentImage,
    ContentToolUse,
)

from evals.telemetry.tools import runs_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from inspect_ai.event import ModelEvent, ToolEvent
    from inspect_ai.model import ChatMessage

    from evals.telemetry.work import Work

_EXIT_CODES = ("exit_code", "exitCode", "returncode")


@dataclass
class Call:
    """One tool call: what was called with what.

    Attributes:
        id: The provider's id of the call; not every provider gives each call its own.
        event: Inspect's own record, where Inspect ran the tool.
        failed: An error is known of it.
    """

    id: str
    name: str
    arguments: dict[str, Any]
    event: ToolEvent | None = None
    failed: bool = False


@dataclass
class Calls:
    """All tool calls of an agent and what came back.

    Attributes:
        images: Pictures that came back to the model.
        failures: Names of the tools of the calls that failed, one a call.
    """

    made: list[Call] = field(default_factory=list)
    images: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def run_by_harness(self) -> bool:
        """Whether there are calls that Inspect did not run."""
        return any(call.event is None for call in self.made)


def calls_of(work: Work) -> Calls:
    """Return the tool calls of an agent."""
    calls = Calls(list(_proposed(work.generations)))
    _join(calls, work.tool_events)
    for call in calls.made:
        if call.event is not None:
            call.failed = _has_failed(call.event, work)
            calls.images += len(_images(call.event.result))
        if call.failed:
            calls.failures.append(call.name)
    if calls.run_by_harness:
        _read_results(calls, work.model_events)
    return calls


def _proposed(generations: Sequence[ModelEvent]) -> Iterator[Call]:
    for event in generations:
        if not event.output.choices:
            continue
        message = event.output.choices[0].message
        for call in message.tool_calls or []:
            yield Call(call.id, call.function, call.arguments, failed=bool(call.parse_error))
        for part in message.content if isinstance(message.content, list) else []:
            if isinstance(part, ContentToolUse):
                yield Call(part.id, part.name, _parsed(part.arguments), failed=bool(part.error))


def _join(calls: Calls, events: Sequence[ToolEvent]) -> None:
    """Give each call its event; an event that no model asked for is a call too."""
    waiting: dict[str, list[Call]] = {}
    for call in calls.made:
        waiting.setdefault(call.id, []).append(call)
    for event in events:
        if waiting.get(event.id):
            waiting[event.id].pop(0).event = event
        else:
            calls.made.append(Call(event.id, event.function, dict(event.arguments), event))


def _has_failed(event: ToolEvent, work: Work) -> bool:
    if event.error is not None or event.failed:
        return True
    return runs_code(event.function) and any(each.result for each in work.commands_of(event))


def _read_results(calls: Calls, events: Sequence[ModelEvent]) -> None:
    """Take in the results that a harness sent back to the model, each once.

    A request repeats earlier messages, so the n-th result of one id in a request is the same as
    the n-th in any other; the same holds for one picture.
    """
    known = {call.id: call for call in calls.made}
    inspects = {call.id for call in calls.made if call.event is not None}
    seen_pictures = Counter(
        image for call in calls.made if call.event for image in _images(call.event.result)
    )
    seen_results: Counter[str] = Counter()
    for event in events:
        results: Counter[str] = Counter()
        pictures: Counter[str] = Counter()
        for message in _after_first_answer(event.input):
            pictures.update(_images(message.content))
            if not isinstance(message, ChatMessageTool) or message.tool_call_id in inspects:
                continue
            key = message.tool_call_id or ""
            results[key] += 1
            if results[key] > seen_results[key] and _tells_failure(message):
                call = known.get(key)
                calls.failures.append(message.function or (call.name if call else ""))
                if call is not None:
                    call.failed = True
        seen_results |= results
        calls.images += (pictures - seen_pictures).total()
        seen_pictures |= pictures


def _after_first_answer(messages: Sequence[ChatMessage]) -> Iterator[ChatMessage]:
    answered = False
    for message in messages:
        if answered and isinstance(message, ChatMessageTool | ChatMessageUser):
            yield message
        answered = answered or isinstance(message, ChatMessageAssistant)


def _images(content: object) -> list[str]:
    parts = content if isinstance(content, list) else [content]
    return [part.image for part in parts if isinstance(part, ContentImage)]


def _tells_failure(message: ChatMessageTool) -> bool:
    """Tell whether a result is marked as an error, or is a record that has one."""
    if message.error is not None:
        return True
    record = _parsed(message.text)
    inner = record.get("metadata")
    parts = [part for part in (record, inner) if isinstance(part, dict)]
    codes = [part.get(key) for part in parts for key in _EXIT_CODES]
    return bool(record.get("error")) or any(isinstance(code, int) and code for code in codes)


def _parsed(text: str) -> dict[str, Any]:
    if not text.lstrip().startswith("{"):
        return {}
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return {"text": text}
    return record if isinstance(record, dict) else {}
