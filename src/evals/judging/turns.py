"""What an agent said and did, turn by turn, whichever harness drove it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageTool,
    ContentImage,
    ContentText,
    ContentToolUse,
)

from evals.telemetry.calls import calls_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from inspect_ai.event import ModelEvent, SandboxEvent
    from inspect_ai.model import ChatMessage

    from evals.telemetry.calls import Call
    from evals.telemetry.work import Work

# Arguments that are a program or a command, shown as they are and not as JSON.
_PROGRAMS = ("code", "cmd", "command", "script", "source", "cell")


@dataclass(frozen=True)
class Done:
    """One tool call, and what came back.

    Attributes:
        given: Its arguments in words.
        images: Pictures among what came back.
    """

    name: str
    given: str
    result: str = ""
    failed: bool = False
    images: int = 0


@dataclass(frozen=True)
class Turn:
    """One answer of the model (or of what stands for it): what it said and what it did."""

    says: str
    does: tuple[Done, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether something it did is known to have failed."""
        return any(done.failed for done in self.does)

    @property
    def images(self) -> int:
        """Number of pictures that it looked at."""
        return sum(done.images for done in self.does)


def turns_of(work: Work, messages: Sequence[ChatMessage]) -> list[Turn]:
    """Return an agent's turns in their order.

    Args:
        work: The agent's events.
        messages: The sample's conversation, for harnesses that call no model of Inspect's.
    """
    if work.generations:
        return _from_generations(work)
    said = [Turn(each.text) for each in messages if isinstance(each, ChatMessageAssistant)]
    ran = tuple(map(_command, work.harness_commands))
    return [Turn("", ran), *said] if ran else said


def _from_generations(work: Work) -> list[Turn]:
    results = _results(work.model_events)
    # The calls come in the order in which they were proposed; the rest nobody proposed.
    calls = iter(calls_of(work).made)
    turns = []
    for event in work.generations:
        if not event.output.choices:
            continue
        message = event.output.choices[0].message
        proposed = len(message.tool_calls or []) + _used_by_provider(message)
        done = tuple(_done(next(calls), results) for _ in range(proposed))
        turns.append(Turn(message.text, done))
    rest = tuple(_done(call, results) for call in calls)
    return [*turns, Turn("", rest)] if rest else turns


def _used_by_provider(message: ChatMessageAssistant) -> int:
    parts = message.content if isinstance(message.content, list) else []
    return sum(isinstance(part, ContentToolUse) for part in parts)


def _results(events: Sequence[ModelEvent]) -> dict[str, list[ChatMessageTool]]:
    """Give the results that went back to the model by the call's id, each once.

    A request repeats what went before, so the one with the most results of an id has all of them.
    """
    found: dict[str, list[ChatMessageTool]] = {}
    for event in events:
        here: dict[str, list[ChatMessageTool]] = {}
        for message in event.input:
            if isinstance(message, ChatMessageTool):
                here.setdefault(message.tool_call_id or "", []).append(message)
        for key, given in here.items():
            if len(given) > len(found.get(key, [])):
                found[key] = given
    return found


def _done(call: Call, results: dict[str, list[ChatMessageTool]]) -> Done:
    back = results.get(call.id)
    message = back.pop(0) if back else None
    event = call.event
    content: Any = event.result if event is not None else message.content if message else ""
    error = (event.error if event is not None else None) or (message.error if message else None)
    text = "\n".join([*_texts(content), *([error.message] if error else [])])
    images = sum(isinstance(part, ContentImage) for part in _parts(content))
    return Done(call.name, _given(call.arguments), text, call.failed, images)


def _parts(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content]


def _texts(content: Any) -> Iterator[str]:
    for part in _parts(content):
        if isinstance(part, ContentText):
            yield part.text
        elif isinstance(part, str | int | float) and part != "":
            yield str(part)


def _given(arguments: dict[str, Any]) -> str:
    programs = [arguments[key] for key in _PROGRAMS if isinstance(arguments.get(key), str)]
    rest = {key: value for key, value in arguments.items() if value not in programs}
    told = json.dumps(rest, ensure_ascii=False, default=str) if rest else ""
    return "\n".join(filter(None, [*programs, told]))


def _command(event: SandboxEvent) -> Done:
    return Done("command", event.cmd or "", event.output or "", bool(event.result))
