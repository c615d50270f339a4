from __future__ import annotations

import json
from typing import Any

from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, ContentToolUse
from inspect_ai.tool import ToolCall, ToolCallError

from evals.telemetry.calls import Calls, calls_of
from evals.telemetry.work import Work

LS = ("Bash", {"command": "ls"})
PICTURE = ContentImage(image="data:image/png;base64,AAAA")
OTHER = ContentImage(image="data:image/png;base64,BBBB")


def calls(script: Any) -> Calls:
    return calls_of(Work(script.events))


def test_a_call_that_inspect_ran_counts_once(script: Any) -> None:
    [call] = script.model(LS)
    script.tool(call)
    script.result(call)
    script.model()
    [made] = calls(script).made
    assert made.event is not None


def test_bridged_calls_count_once_however_often_requests_repeat_them(script: Any) -> None:
    [first] = script.model(LS)
    script.result(first)
    [second] = script.model(("Read", {"file_path": "a.txt"}))
    script.result(second)
    script.model()
    script.model()
    assert [call.name for call in calls(script).made] == ["Bash", "Read"]


def test_a_provider_that_gives_one_id_again_and_again_still_makes_two_calls(script: Any) -> None:
    for _ in range(2):
        [call] = script.model(ToolCall(id="call_0", function="Bash", arguments={"command": "ls"}))
        script.tool(call)
    found = calls(script)
    assert len(found.made) == 2
    assert not found.run_by_harness


def test_a_tool_event_that_no_model_asked_for_is_a_call(script: Any) -> None:
    script.tool(ToolCall(id="x", function="answer", arguments={}))
    assert [call.name for call in calls(script).made] == ["answer"]


def test_a_bridged_error_counts_once(script: Any) -> None:
    [call] = script.model(LS)
    script.result(call, "no such file", error=ToolCallError("unknown", "no such file"))
    script.model()
    script.model()
    found = calls(script)
    assert found.failures == ["Bash"]
    assert found.made[0].failed


def test_results_with_ids_of_the_bridges_own_count_once(script: Any) -> None:
    # The bridge for Gemini makes ids of name and arguments, so that equal calls share one.
    answer = json.dumps({"error": "exit 1"})
    for _ in range(2):
        [call] = script.model(("run_shell_command", {"command": "false"}))
        script.result(call, answer, tool_call_id="call_run_shell_command_12ab34cd")
    script.model()
    script.model()
    assert calls(script).failures == ["run_shell_command"] * 2


def test_an_exit_code_in_a_record_is_a_failure(script: Any) -> None:
    told = [{"output": "", "metadata": {"exit_code": 1}}, {"exit_code": 0}, {"output": "error: 1"}]
    for record in told:
        [call] = script.model(("shell", {"command": ["false"]}))
        script.result(call, json.dumps(record))
    script.model()
    assert len(calls(script).failures) == 1


def test_words_of_an_error_are_no_failure(script: Any) -> None:
    [call] = script.model(LS)
    script.result(call, "Error: Process exited with code 1")
    script.model()
    assert calls(script).failures == []


def test_a_command_that_failed_for_a_tool_is_a_failure(script: Any) -> None:
    [call] = script.model(("bash", {"command": "false"}))
    script.begin("tool", "tool", "bash")
    script.tool(call)
    script.command("bash -c false", "tool", result=1)
    assert calls(script).failures == ["bash"]


def test_a_call_that_could_not_be_parsed_is_a_failure(script: Any) -> None:
    script.model(ToolCall(id="x", function="Bash", arguments={}, parse_error="no JSON"))
    assert calls(script).failures == ["Bash"]


def test_pictures_in_results_count_once_each_time_they_are_shown(script: Any) -> None:
    for picture in (PICTURE, PICTURE, OTHER):
        [call] = script.model(("Read", {"file_path": "a.png"}))
        script.result(call, [ContentText(text="here"), picture])
    script.model()
    script.model()
    assert calls(script).images == 3


def test_pictures_that_a_harness_sends_as_the_user_count(script: Any) -> None:
    [call] = script.model(("view_image", {"path": "a.png"}))
    script.result(call)
    script.history.append(ChatMessageUser(content=[PICTURE]))
    script.model()
    assert calls(script).images == 1


def test_pictures_of_the_task_itself_do_not_count(script: Any) -> None:
    script.history.append(ChatMessageUser(content=[PICTURE]))
    script.model(LS)
    script.model()
    assert calls(script).images == 0


def test_a_picture_that_inspect_showed_is_not_counted_again_in_requests(script: Any) -> None:
    [call, other] = script.model(("view_image", {"path": "a.png"}), LS)
    script.tool(call, result=[PICTURE])
    script.history.append(ChatMessageUser(content=[PICTURE]))
    script.result(other)
    script.model()
    assert calls(script).images == 1


def test_a_tool_of_the_provider_is_a_call(script: Any) -> None:
    use = ContentToolUse(
        tool_type="web_search", id="s1", name="web_search", arguments='{"query": "x"}', result=""
    )
    script.model()
    script.events[-1].output.choices[0].message.content = [use]
    [call] = calls(script).made
    assert (call.name, call.arguments) == ("web_search", {"query": "x"})


def test_an_answer_without_choices_has_no_calls(script: Any) -> None:
    script.model()
    script.events[-1].output.choices = []
    assert calls(script).made == []
