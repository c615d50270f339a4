from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from inspect_ai.model import ModelUsage

from evals.telemetry.calls import calls_of
from evals.telemetry.files import Listed
from evals.telemetry.measure import MOST_NAMES, OTHERS, measure
from evals.telemetry.work import Work

if TYPE_CHECKING:
    from evals.telemetry.record import Telemetry

T0 = 1767225600.0  # 2026-01-01 in seconds since 1970


def told(script: Any, listed: Listed | None = None, looks: Any = ()) -> Telemetry:
    work = Work(script.events)
    return measure(work, calls_of(work), listed, looks)


def test_turns_tokens_and_cost_are_summed(script: Any) -> None:
    for _ in range(2):
        script.model()
        script.events[-1].output.usage = ModelUsage(
            input_tokens=10,
            output_tokens=7,
            total_tokens=40,
            input_tokens_cache_read=20,
            input_tokens_cache_write=3,
            reasoning_tokens=4,
            total_cost=0.25,
        )
    found = told(script)
    assert found.turns == 2
    assert found.tokens.model_dump() == {
        "input": 20,
        "cache_read": 40,
        "cache_write": 6,
        "output": 14,
        "reasoning": 8,
        "total": 80,
    }
    assert found.cost_usd == 0.5


def test_cost_that_nobody_knows_is_none(script: Any) -> None:
    script.model()
    assert told(script).cost_usd is None


def test_answers_without_usage_are_counted(script: Any) -> None:
    script.model()
    script.events[-1].output.usage = None
    assert told(script).turns_without_usage == 1


def test_answers_from_inspects_cache_cost_no_tokens(script: Any) -> None:
    script.model(cache="read")
    found = told(script)
    assert (found.turns, found.tokens.total, found.turns_without_usage) == (1, 0, 0)


def test_failed_requests_are_counted_apart(script: Any) -> None:
    script.model(error="overloaded")
    script.model()
    found = told(script)
    assert (found.turns, found.model_errors) == (1, 1)


def test_calls_are_counted_by_name_and_repeats_by_arguments(script: Any) -> None:
    ls, other = ("Bash", {"command": "ls", "timeout": 1}), ("Bash", {"command": "pwd"})
    script.model(ls, other, ("Bash", {"timeout": 1, "command": "ls"}), ("Read", {"path": "a"}))
    found = told(script)
    assert (found.tool_calls, found.repeated_calls) == (4, 1)
    assert found.tool_calls_by_name == {"Bash": 3, "Read": 1}


def test_the_rarest_of_many_names_are_summed(script: Any) -> None:
    script.model(*[(f"tool{index}", {}) for index in range(MOST_NAMES + 5)])
    by_name = told(script).tool_calls_by_name
    assert len(by_name) == MOST_NAMES + 1
    assert by_name[OTHERS] == 5


def test_a_hostile_tool_name_is_bounded_and_printable(script: Any) -> None:
    script.model(("\x1b[31m" + "x" * 10_000, {}))
    [name] = told(script).tool_calls_by_name
    assert name.isprintable()
    assert len(name) < 100


def test_calls_of_programs_are_executions_and_others_are_not(script: Any) -> None:
    script.model(
        ("bash", {"command": "ls"}),
        ("mcp__lab__python", {"code": "1"}),
        ("exec_command", {"cmd": "ls"}),
        ("Write", {"file_path": "a.py", "content": "1"}),
    )
    assert told(script).code_executions == 3


def test_without_tool_calls_the_harnesss_commands_are_executions(script: Any) -> None:
    script.command("python3 solve.py", result=1)
    script.command("python3 solve.py")
    found = told(script)
    assert (found.turns, found.code_executions, found.failed_executions, found.errors) == (
        0,
        2,
        1,
        1,
    )


def test_commands_of_a_harness_whose_model_calls_tools_are_not_executions(script: Any) -> None:
    script.command("mkdir -p ~/.claude")
    script.model(("Bash", {"command": "ls"}))
    assert told(script).code_executions == 1


def test_calls_that_open_image_files_are_looks_where_no_pictures_are_seen(script: Any) -> None:
    script.model(
        ("read_file", {"absolute_path": "/workspace/input/a.TIF"}),
        ("read", {"filePath": "b.png"}),
        ("read_file", {"absolute_path": "/workspace/input/notes.txt"}),
        ("write_file", {"file_path": "c.png"}),
    )
    assert told(script).images_viewed == 2


def test_time_is_split_between_models_and_tools(script: Any) -> None:
    [call] = script.model(("bash", {"command": "ls"}), when=0)
    script.tool(call, when=3)
    script.model(when=4)
    found = told(script)
    assert (found.agent_time_s, found.model_time_s, found.tool_time_s) == (6.0, 4.0, 1.0)
    assert found.model_working_s == 3.0


def test_time_of_tools_that_the_harness_runs_is_not_known(script: Any) -> None:
    script.model(("Bash", {"command": "ls"}))
    assert told(script).tool_time_s is None


def test_files_and_growth_are_told_from_the_agents_start(script: Any) -> None:
    script.model()
    listed = Listed(files=[("a.csv", 5, T0 + 1.5)], total=1, bytes=5, complete=True)
    found = told(script, listed, [[T0 + 3.0, 4096.0]])
    assert [file.model_dump() for file in found.files] == [
        {"path": "a.csv", "size_bytes": 5, "after_s": 1.5}
    ]
    assert (found.files_total, found.files_bytes) == (1, 5)
    assert found.output_growth == [(3.0, 4096)]


def test_a_sample_in_which_nothing_happened_has_telemetry_too(script: Any) -> None:
    found = told(script)
    assert (found.started, found.agent_time_s, found.turns) == (None, None, 0)
    assert json.loads(found.model_dump_json())["files"] == []
