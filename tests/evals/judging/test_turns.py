from __future__ import annotations

from typing import Any

from inspect_ai.event import ModelEvent, SandboxEvent, ToolEvent
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    ContentImage,
    ContentText,
    GenerateConfig,
    ModelOutput,
)
from inspect_ai.tool import ToolCall, ToolCallError

from evals.judging.turns import Done, Turn, turns_of
from evals.telemetry.work import Work

PNG = "data:image/png;base64,iVBORw0KGgo="


def said(text: str, *calls: ToolCall, input: Any = (), role: str | None = None) -> ModelEvent:
    message = ChatMessageAssistant(content=text, tool_calls=list(calls) or None)
    output = ModelOutput.from_message(message)
    return ModelEvent(
        model="mockllm/model",
        role=role,
        input=list(input),
        tools=[],
        tool_choice="auto",
        config=GenerateConfig(),
        output=output,
    )


def call(number: int, name: str = "python", **arguments: Any) -> ToolCall:
    return ToolCall(id=f"call-{number}", function=name, arguments=arguments)


def ran(of: ToolCall, result: Any, error: ToolCallError | None = None) -> ToolEvent:
    return ToolEvent(
        id=of.id, function=of.function, arguments=of.arguments, result=result, error=error
    )


def test_calls_stand_with_their_results() -> None:
    first = call(1, code="print(1)")
    events = [said("I try.", first), ran(first, "1"), said("Done.")]
    assert turns_of(Work(events), []) == [
        Turn("I try.", (Done("python", "print(1)", "1"),)),
        Turn("Done."),
    ]


def test_what_failed_and_what_was_looked_at_is_told() -> None:
    bad, look = call(1, "bash", cmd="exit 1"), call(2, "view_image", path="a.png")
    error = ToolCallError("timeout", "too slow")
    events = [
        said("", bad, look),
        ran(bad, "", error),
        ran(look, [ContentText(text="a.png"), ContentImage(image=PNG)]),
    ]
    [turn] = turns_of(Work(events), [])
    assert turn.does == (
        Done("bash", "exit 1", "too slow", failed=True),
        Done("view_image", '{"path": "a.png"}', "a.png", images=1),
    )
    assert (turn.failed, turn.images) == (True, 1)


def test_results_of_a_bridged_harness_come_from_the_next_requests() -> None:
    first, second = call(1, "Bash", command="ls"), call(2, "Read", file_path="a.py")
    back = ChatMessageTool(content="a.py", tool_call_id="call-1", function="Bash")
    more = ChatMessageTool(content="x = 1", tool_call_id="call-2", function="Read")
    history = [ChatMessageUser(content="go"), ChatMessageAssistant(content=""), back]
    events = [
        said("", first, input=history[:1]),
        said("", second, input=history),
        said("Ready.", input=[*history, more]),
    ]
    assert [[done.result for done in turn.does] for turn in turns_of(Work(events), [])] == [
        ["a.py"],
        ["x = 1"],
        [],
    ]


def test_calls_of_a_judge_are_no_turns() -> None:
    assert turns_of(Work([said("pass", role="grader"), said("I count.")]), []) == [Turn("I count.")]


def test_without_a_model_commands_and_last_words_are_the_turns() -> None:
    command = SandboxEvent(action="exec", cmd="python solve.py", output="ok", result=0)
    told = turns_of(Work([command]), [ChatMessageAssistant(content="It ended.")])
    assert told == [Turn("", (Done("command", "python solve.py", "ok"),)), Turn("It ended.")]
