"""What a judge is sent of one sample: the rules, the evidence, and the items of one call."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ContentImage, ContentText

from scorers.rubric.fencing import harmless_line
from scorers.rubric.prompts import call_block, references, shared_block, system_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from inspect_ai.model import ChatMessage, Content

    from evals.judging.protocol import Images
    from scorers.rubric.evidence import Evidence, Figure
    from scorers.rubric.items import Item

_TOO_LARGE = "The figures are too large to be attached; what is told of them above is all there is."
# No times, tokens or costs: they say nothing of how well an analysis was done, and would make
# each run's prompts new ones.
_NUMBERS = (
    "turns", "tool_calls", "tool_calls_by_name", "repeated_calls", "errors", "code_executions",
    "failed_executions", "images_viewed", "files_total",
)  # fmt: skip
_MOST_OF_NAME = 80
_MOST_NAMES = 20


@dataclass(frozen=True)
class Case:
    """One sample as a judge sees it.

    Attributes:
        figures: The figures that are attached.
        anchors: The task's own rules for judges.
    """

    instruction: str
    evidence: Evidence
    transcript: str = ""
    telemetry: Mapping[str, Any] = field(default_factory=dict)
    figures: tuple[Figure, ...] = ()
    anchors: tuple[str, ...] = ()
    too_large: bool = False

    @property
    def refs(self) -> frozenset[str]:
        """The references that an answer may cite."""
        return references(self.evidence)

    def messages(self, items: Sequence[Item]) -> list[ChatMessage]:
        """Return a call on items; all but its last part is the same for all calls of a sample."""
        return [
            ChatMessageSystem(content=self._rules),
            ChatMessageUser(content=[*self._shared, ContentText(text=call_block(items))]),
        ]

    def digest(self, items: Sequence[Item]) -> str:
        """Return the SHA-256 of a call on items."""
        return hashlib.sha256(f"{self._shared_digest}\n{call_block(items)}".encode()).hexdigest()

    def without_figures(self) -> Case:
        """Return the case for a model that cannot take its figures."""
        return replace(self, figures=(), too_large=True)

    @cached_property
    def _rules(self) -> str:
        return system_text(self.anchors)

    @cached_property
    def _shared_digest(self) -> str:
        told = [self._rules, *(part.model_dump(mode="json") for part in self._shared)]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

    @cached_property
    def _shared(self) -> list[Content]:
        text = shared_block(
            self.instruction,
            self.evidence,
            transcript=self.transcript,
            telemetry=self.telemetry,
            attached=[figure.ref for figure in self.figures],
        )
        parts: list[Content] = [ContentText(text=text)]
        for figure in self.figures:
            parts.append(ContentText(text=figure.ref))
            parts.append(ContentImage(image=uri_of(figure)))
        close = _TOO_LARGE if self.too_large else "This is all the evidence."
        # Up to here a provider can keep what it has read for the other calls.
        return [*parts, ContentText(text=close, cache_breakpoint=True)]


def uri_of(figure: Figure) -> str:
    """Return a figure as a data URI."""
    return f"data:{figure.media_type};base64,{figure.data}"


def chosen(figures: Sequence[Figure], images: Images) -> tuple[Figure, ...]:
    """Return the figures that a protocol shows to the judge."""
    if images == "none":
        return ()
    return tuple(figure for figure in figures if images == "all" or figure.kind == "plot")


def told_numbers(telemetry: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the numbers of a run that a judge gets to see; the names of tools are the agent's."""
    numbers = {name: value for name, value in (telemetry or {}).items() if name in _NUMBERS}
    calls = numbers.get("tool_calls_by_name")
    if calls:
        # Nobody keeps an agent from calling tools that it made up.
        most_used = sorted(calls.items(), key=lambda call: -call[1])[:_MOST_NAMES]
        numbers["tool_calls_by_name"] = {
            harmless_line(str(name), _MOST_OF_NAME).text: count for name, count in most_used
        }
    return numbers
