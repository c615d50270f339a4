"""Which of a sample's events are the agent's, and when it began and ended."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from inspect_ai.event import ModelEvent, SandboxEvent, SpanBeginEvent, SpanEndEvent, ToolEvent

from evals.telemetry.own_steps import OWN_STEP

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from inspect_ai.event import Event

Interval = tuple["datetime", "datetime"]

JUDGE = "grader"
_TOOL = "tool"
_SETUP = "prepare_workspace"
_NOT_THE_AGENT = frozenset({"init", "scorers", "scorer"})


class Work:
    """The agent's part of a sample's events.

    Setup, scoring and calls of a judge are left out. A span that is not known counts as the
    agent's, since background tasks of a harness may have no other.

    Args:
        events: All events of the sample so far, in their order.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self._spans = {each.id: each for each in events if isinstance(each, SpanBeginEvent)}
        self._ends = {each.id: each for each in events if isinstance(each, SpanEndEvent)}
        self._own: dict[str | None, bool] = {}
        self._span_of_tool = dict(_spans_of_tools(events))
        mine = [each for each in events if self._is_own(each.span_id)]
        self.model_events = [
            each for each in mine if isinstance(each, ModelEvent) and each.role != JUDGE
        ]
        self.tool_events = [each for each in mine if isinstance(each, ToolEvent)]
        self.sandbox_events = [each for each in mine if isinstance(each, SandboxEvent)]

    @cached_property
    def solvers(self) -> tuple[SpanBeginEvent, ...]:
        """The spans of the harness: the sample's solvers but for the setup."""
        return tuple(
            span
            for span in self._spans.values()
            if span.type == "solver" and self._is_own(span.id) and not self._is_nested(span)
        )

    @property
    def started(self) -> datetime | None:
        """When the harness began, None where it did not."""
        begins = [span.timestamp for span in self.solvers]
        return min(begins or [begin for begin, _ in self._intervals], default=None)

    @property
    def ended(self) -> datetime | None:
        """When the harness ended, or what it did last if nothing tells its end."""
        ends = [self._ends[span.id].timestamp for span in self.solvers if span.id in self._ends]
        return max(ends or [end for _, end in self._intervals], default=self.started)

    @property
    def generations(self) -> list[ModelEvent]:
        """Calls of a model that it answered."""
        return [event for event in self.model_events if not event.pending and not event.error]

    @property
    def harness_commands(self) -> list[SandboxEvent]:
        """Commands that ran in the sandbox without a tool call, but for the harness's own steps."""
        return [
            event
            for event in self.sandbox_events
            if event.action == "exec"
            and not any(span.type in {_TOOL, OWN_STEP} for span in self._above(event.span_id))
        ]

    def commands_of(self, tool: ToolEvent) -> list[SandboxEvent]:
        """Return the commands that ran in the sandbox for a tool call."""
        return self._commands_by_span.get(self._span_of_tool.get(tool.uuid), [])

    @cached_property
    def _commands_by_span(self) -> dict[str | None, list[SandboxEvent]]:
        found: dict[str | None, list[SandboxEvent]] = {}
        for event in self.sandbox_events:
            for span in self._above(event.span_id):
                if span.type == _TOOL and event.action == "exec":
                    found.setdefault(span.id, []).append(event)
                    break
        return found

    @property
    def _intervals(self) -> list[Interval]:
        return intervals(self.model_events, self.tool_events, self.sandbox_events)

    def _is_own(self, span_id: str | None) -> bool:
        if span_id not in self._own:
            self._own[span_id] = not any(_is_foreign(span) for span in self._above(span_id))
        return self._own[span_id]

    def _is_nested(self, span: SpanBeginEvent) -> bool:
        return any(outer.type == "solver" for outer in self._above(span.parent_id))

    def _above(self, span_id: str | None) -> Iterator[SpanBeginEvent]:
        """Give a span and all that it lies in."""
        seen = set()
        while span_id in self._spans and span_id not in seen:
            seen.add(span_id)
            yield self._spans[span_id]
            span_id = self._spans[span_id].parent_id


@dataclass(frozen=True)
class Clock:
    """Seconds since the agent began."""

    zero: datetime

    def after(self, when: datetime) -> float:
        """Return the seconds from the agent's start to a moment."""
        return round((when - self.zero).total_seconds(), 3)

    def after_epoch(self, when_s: float) -> float:
        """Return the same for a moment in seconds since 1970, as file systems tell it."""
        return round(when_s - self.zero.timestamp(), 3)


def intervals(*kinds: Sequence[ModelEvent | ToolEvent | SandboxEvent]) -> list[Interval]:
    """Return when events began and ended; where no end is known, they took no time."""
    return [(each.timestamp, each.completed or each.timestamp) for kind in kinds for each in kind]


def covered_s(spells: Sequence[Interval]) -> float:
    """Return the seconds that intervals cover together, overlaps counted once."""
    total, reached = 0.0, None
    for begin, end in sorted(spells):
        start = begin if reached is None else max(begin, reached)
        if end > start:
            total += (end - start).total_seconds()
        reached = end if reached is None else max(reached, end)
    return round(total, 3)


def _spans_of_tools(events: Sequence[Event]) -> Iterator[tuple[str | None, str]]:
    """Pair each tool event with the span that was opened for it.

    The event itself lies in the span around it: Inspect makes it first, and puts it into the
    transcript as soon as the tool's own span is open.
    """
    opened: dict[str, list[str]] = {}
    for event in events:
        if isinstance(event, SpanBeginEvent) and event.type == _TOOL:
            opened.setdefault(event.name, []).append(event.id)
        elif isinstance(event, ToolEvent) and opened.get(event.function):
            yield event.uuid, opened[event.function].pop()


def _is_foreign(span: SpanBeginEvent) -> bool:
    if span.type == "solver":
        return span.name.rpartition("/")[2] == _SETUP
    return span.type in _NOT_THE_AGENT
