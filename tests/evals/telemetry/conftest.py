"""Events as harnesses leave them, and runs of scripted agents through `evals/biaa`."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from inspect_ai import eval
from inspect_ai.event import ModelEvent, SandboxEvent, SpanBeginEvent, SpanEndEvent, ToolEvent
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.tool import ToolCall

from evals.biaa.task import biaa

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from inspect_ai.event import Event
    from inspect_ai.log import EvalLog
    from inspect_ai.model import ChatMessage
    from inspect_ai.solver import Solver

START = datetime(2026, 1, 1, tzinfo=UTC)
USAGE = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


@dataclass
class Script:
    """Writes a sample's events one after another, at seconds of a clock."""

    events: list[Event] = field(default_factory=list)
    history: list[ChatMessage] = field(default_factory=lambda: [ChatMessageUser(content="Go.")])

    def begin(
        self, span: str, kind: str, name: str = "", parent: str | None = None, when: float = 0
    ) -> None:
        """Open a span."""
        self.events.append(
            SpanBeginEvent(
                id=span,
                name=name or span,
                type=kind,
                parent_id=parent,
                timestamp=at(when),
                working_start=0,
            )
        )

    def end(self, span: str, when: float = 0) -> None:
        """Close a span."""
        self.events.append(SpanEndEvent(id=span, timestamp=at(when), working_start=0))

    def model(
        self, *calls: tuple[str, dict[str, Any]] | ToolCall, when: float = 0, **changes: Any
    ) -> list[ToolCall]:
        """Let the model answer with tool calls; its request holds all that went before."""
        place = len(self.events)
        made = [
            call if isinstance(call, ToolCall) else ToolCall(f"call-{place}-{index}", *call)
            for index, call in enumerate(calls)
        ]
        answer = ChatMessageAssistant(content="Well.", tool_calls=made or None)
        output = ModelOutput.from_message(answer)
        output.usage = USAGE
        given: dict[str, Any] = {
            "model": "mockllm/model",
            "input": list(self.history),
            "tools": [],
            "tool_choice": "auto",
            "config": GenerateConfig(),
            "output": output,
            "timestamp": at(when),
            "completed": at(when + 2),
            "working_time": 1.5,
            "working_start": 0,
        }
        self.events.append(ModelEvent(**{**given, **changes}))
        self.history.append(answer)
        return made

    def result(self, call: ToolCall, content: Any = "done", **changes: Any) -> None:
        """Let a bridged harness hand a result to the model's next request."""
        given = {"content": content, "tool_call_id": call.id, "function": call.function}
        self.history.append(ChatMessageTool(**{**given, **changes}))

    def tool(
        self, call: ToolCall, span: str | None = None, when: float = 0, **changes: Any
    ) -> None:
        """Let Inspect run a tool."""
        given: dict[str, Any] = {
            "id": call.id,
            "function": call.function,
            "arguments": call.arguments,
            "span_id": span,
            "timestamp": at(when),
            "completed": at(when + 1),
            "working_start": 0,
        }
        self.events.append(ToolEvent(**{**given, **changes}))

    def command(self, cmd: str, span: str | None = None, when: float = 0, **changes: Any) -> None:
        """Let something run a command in the sandbox."""
        given: dict[str, Any] = {
            "action": "exec",
            "cmd": cmd,
            "result": 0,
            "span_id": span,
            "timestamp": at(when),
            "completed": at(when + 1),
            "working_start": 0,
        }
        self.events.append(SandboxEvent(**{**given, **changes}))


@pytest.fixture
def script() -> Script:
    """Give an empty script of events."""
    return Script()


Turn = str | tuple[str, dict[str, Any]]


def scripted(*turns: Turn) -> Model:
    """Return a model that plays turns: plain text, or a tool with its arguments."""
    outputs = []
    for turn in turns:
        if isinstance(turn, str):
            output = ModelOutput.from_content("mockllm/model", turn)
        else:
            output = ModelOutput.for_tool_call("mockllm/model", *turn)
        output.usage = USAGE.model_copy()
        outputs.append(output)
    return get_model("mockllm/model", custom_outputs=outputs)


@pytest.fixture
def edition(tmp_path: Path, make_capsule: Callable[..., Path], own_cache: Path) -> Path:
    """Give an edition of one small task whose source is known."""
    source = {"paper_doi": "10.1038/nmeth.2083", "repository_url": "https://x.org/data/DOTS9"}
    centres = {
        "id": "centroids_per_image",
        "description": "One CSV file an image.",
        "filename_pattern": "*.csv",
    }
    spec = {"source": source, "deliverables": [centres]}
    folder = make_capsule(tmp_path / "edition", "dots", spec)
    (folder / "evaluation" / "a.csv").write_text("X,Y\n10,10\n", encoding="utf-8")
    return tmp_path / "edition"


@pytest.fixture
def run_biaa(tmp_path: Path, edition: Path) -> Callable[..., EvalLog]:
    """Give the runner of `evals/biaa` with scripted turns or a solver of one's own."""

    def run(*turns: Turn, solver: Solver | None = None, sandbox: Any = "local") -> EvalLog:
        task = biaa(
            edition=str(edition),
            sandbox=sandbox,
            solver=solver,
            submissions=str(tmp_path / "submissions"),
        )
        [log] = eval(
            task,
            model=scripted(*turns) if turns else "none/none",
            log_dir=str(tmp_path / "logs"),
            display="none",
        )
        return log

    return run
