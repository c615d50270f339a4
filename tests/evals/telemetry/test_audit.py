from __future__ import annotations

from typing import Any

from evals.telemetry.audit import HARNESS, MOST_ATTEMPTS, Audit, audit
from evals.telemetry.calls import calls_of
from evals.telemetry.work import Work


def found(script: Any, *, local: bool = False, hosted: bool = False) -> Audit:
    work = Work(script.events)
    return audit(work, calls_of(work), None, local=local, hosted=hosted)


def test_flags_come_with_rule_tool_and_place(script: Any) -> None:
    script.model(("Bash", {"command": "ls\npip install cellpose"}))
    [attempt] = found(script).attempts
    assert attempt.model_dump() == {
        "flag": "network",
        "rule": "package installation",
        "tool": "Bash",
        "snippet": "pip install cellpose",
    }


def test_a_bridged_call_and_one_of_inspect_are_read_alike(script: Any) -> None:
    [call] = script.model(("bash", {"command": "cat /proc/1/environ"}))
    script.tool(call)
    script.model(("Read", {"file_path": "/capsule/task_spec.yaml"}))
    told = found(script)
    assert told.flags == ["outside_workspace"]
    assert told.counts["outside_workspace"] == 2
    assert told.calls_examined == 2


def test_prose_of_the_agent_is_not_an_attempt(script: Any) -> None:
    script.model()
    script.events[-1].output.choices[0].message.content = "I could curl https://zenodo.org."
    assert found(script).flags == []


def test_the_instruction_is_not_an_attempt(script: Any) -> None:
    script.history[0].content = "Never import evals. The data are BBBC014 from https://doi.org/1."
    script.model(("Bash", {"command": "ls"}))
    assert found(script).flags == []


def test_of_many_attempts_a_few_different_ones_are_shown(script: Any) -> None:
    for index in (0, 0, 0, 1, 2, 3, 4):
        script.model(("Bash", {"command": f"pip install x{index}"}))
    told = found(script)
    assert told.counts["network"] == 7
    assert [each.snippet for each in told.attempts] == [
        f"pip install x{index}" for index in range(MOST_ATTEMPTS)
    ]


def test_a_long_or_hostile_line_is_told_in_bounds(script: Any) -> None:
    script.model(("x" * 5000, {"command": "a" * 400 + "; pip install \x1b[2J" + "b" * 5000}))
    [attempt] = found(script).attempts
    assert attempt.snippet.isprintable()
    assert len(attempt.snippet) <= 200
    assert len(attempt.tool) <= 80


def test_what_a_harness_runs_for_a_model_without_tools_is_read(script: Any) -> None:
    script.model()
    script.command("python3 -", input="import scorers")
    [attempt] = found(script).attempts
    assert (attempt.flag, attempt.tool) == ("private_parts", HARNESS)


def test_a_program_that_a_harness_writes_for_a_model_is_read(script: Any) -> None:
    script.model()
    script.command("", action="write_file", file="/tmp/run.py", input="import scorers")
    script.command("", action="write_file", file="/tmp/task.md", input="import evals")
    assert found(script).counts["private_parts"] == 1


def test_a_run_without_a_model_tries_nothing(script: Any) -> None:
    script.command("pip install cellpose")
    assert found(script).flags == []


def test_this_machine_as_a_sandbox_is_told(script: Any) -> None:
    assert "local" in found(script, local=True).not_isolated
    assert found(script).not_isolated == ""


def test_a_harness_on_the_host_is_told(script: Any) -> None:
    assert "adapter" in found(script, hosted=True).not_isolated


def test_arguments_of_any_shape_do_no_harm(script: Any) -> None:
    script.model(
        ("bash", {"command": None, "code": 3, "path": {"a": []}, "paths": [1, None, "/capsule/x"]})
    )
    assert found(script).flags == ["outside_workspace"]
