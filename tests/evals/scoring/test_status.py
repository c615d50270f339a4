from __future__ import annotations

from typing import Any

import pytest
from inspect_ai.event import Event, ModelEvent
from inspect_ai.model import GenerateConfig, ModelOutput

from evals.scoring.status import has_refused, status_of

DELIVERED = {"deliverables": {"found": {"masks": ["a.tif"]}}}
NOTHING: dict[str, Any] = {"deliverables": {"found": {"masks": []}}}
SILENT = ModelOutput(model="none/none")


def said(stop: Any = "stop", *, error: str | None = None, role: str | None = None) -> ModelEvent:
    return ModelEvent(
        model="mockllm/model",
        role=role,
        input=[],
        tools=[],
        tool_choice="auto",
        config=GenerateConfig(),
        output=ModelOutput.from_content("mockllm/model", "Words.", stop_reason=stop),
        error=error,
    )


@pytest.mark.parametrize(
    ("grade", "facts", "status"),
    [
        (DELIVERED, {}, "delivered"),
        (NOTHING, {}, "no_deliverable"),
        (NOTHING, {"refused": True}, "refused"),
        (DELIVERED, {"refused": True}, "delivered"),
        (NOTHING, {"refused": True, "limit": "message"}, "refused"),
        (NOTHING, {"refused": True, "crashed": True}, "refused"),
        (DELIVERED, {"refused": True, "limit": "token"}, "limit"),
        (DELIVERED, {"limit": "time"}, "timed_out"),
        (DELIVERED, {"limit": "working"}, "timed_out"),
        (NOTHING, {"limit": "output"}, "limit"),
        (NOTHING, {"limit": "cost", "crashed": True}, "crash"),
        (NOTHING, {"failed": True}, "crash"),
        (DELIVERED, {"failed": True}, "delivered"),
        (NOTHING, {"failed": True, "limit": "time"}, "timed_out"),
    ],
)
def test_what_stopped_a_run_counts_before_what_it_left_and_a_refusal_needs_nothing_left(
    grade: dict[str, Any], facts: dict[str, Any], status: str
) -> None:
    told = {"refused": False, "limit": None, "crashed": False, **facts}
    assert status_of(grade, **told) == status


@pytest.mark.parametrize(
    ("events", "refused"),
    [
        ([], False),
        ([said()], False),
        ([said(), said("content_filter")], True),
        ([said("content_filter"), said()], False),
        ([said("content_filter"), said(role="grader")], True),
        ([said(), said("content_filter", role="grader")], False),
        ([said(error="400: ResponsibleAIPolicyViolation")], True),
        ([said(error="Output blocked by content filtering policy")], True),
        ([said(error="connection refused")], False),
        ([said(error="429: you exceeded your current quota")], False),
    ],
)
def test_a_refusal_is_the_last_word_of_the_agents_own_model(
    events: list[Event], refused: bool
) -> None:
    assert has_refused(SILENT, events) is refused


def test_an_output_without_a_call_may_be_a_refusal() -> None:
    assert has_refused(said("content_filter").output, [])
