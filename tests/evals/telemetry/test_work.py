from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from evals.telemetry.own_steps import OWN_STEP
from evals.telemetry.work import Work, covered_s

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def sample(script: Any) -> Any:
    """Write the spans of a sample: its setup, a harness from second 10 to 30, its scorers."""
    script.begin("solvers", "solvers", when=1)
    script.begin("setup", "solver", "evals/prepare_workspace", "solvers", when=2)
    script.command("probe", "setup")
    script.end("setup", when=9)
    script.begin("harness", "solver", "evals/react", "solvers", when=10)
    script.begin("agent", "agent", "react", "harness", when=11)
    script.model(span_id="agent", when=12)
    script.end("harness", when=30)
    script.end("solvers", when=30)
    script.begin("scorers", "scorers", when=40)
    script.begin("judge", "scorer", "process", "scorers", when=40)
    return script


def test_the_agent_begins_after_setup_and_ends_with_its_solver(script: Any) -> None:
    work = Work(sample(script).events)
    assert (work.started, work.ended) == (at(10), at(30))


def test_commands_of_the_setup_are_not_the_agents(script: Any) -> None:
    assert Work(sample(script).events).sandbox_events == []


def test_calls_during_scoring_are_not_the_agents(script: Any) -> None:
    sample(script).model(span_id="judge", when=41)
    assert len(Work(script.events).generations) == 1


def test_calls_of_a_judge_are_not_the_agents_wherever_they_are(script: Any) -> None:
    sample(script).model(span_id="agent", role="grader")
    assert len(Work(script.events).generations) == 1


def test_an_attempt_scored_in_the_middle_is_not_the_agents(script: Any) -> None:
    sample(script).begin("inner", "scorer", "grade", "agent")
    script.model(span_id="inner")
    assert len(Work(script.events).generations) == 1


def test_events_in_an_unknown_span_are_the_agents(script: Any) -> None:
    sample(script).model(span_id="a background task")
    assert len(Work(script.events).generations) == 2


def test_without_spans_the_events_tell_begin_and_end(script: Any) -> None:
    script.model(when=3)
    script.command("true", when=8)
    work = Work(script.events)
    assert (work.started, work.ended) == (at(3), at(9))


def test_no_events_have_no_begin(script: Any) -> None:
    work = Work([])
    assert (work.started, work.ended) == (None, None)


def test_a_solver_that_did_not_end_ends_with_its_last_event(script: Any) -> None:
    script.begin("solvers", "solvers")
    script.begin("harness", "solver", "evals/react", "solvers", when=10)
    script.model(span_id="harness", when=12)
    assert Work(script.events).ended == at(14)


def test_failed_and_pending_calls_are_no_generations(script: Any) -> None:
    script.model(error="overloaded")
    script.model(pending=True)
    assert Work(script.events).generations == []


def test_steps_of_the_harness_itself_are_no_work_of_the_agent(script: Any) -> None:
    script.begin("step", OWN_STEP, "step of the harness")
    script.command("mktemp -d", "step")
    script.command("python3 agent.py")
    assert [event.cmd for event in Work(script.events).harness_commands] == ["python3 agent.py"]


def test_a_command_of_a_tool_is_not_the_harnesss_own(script: Any) -> None:
    [call] = script.model(("bash", {"command": "ls"}))
    script.begin("tool", "tool", "bash")
    script.tool(call)
    script.command("bash -c ls", "tool")
    script.command("mktemp")
    work = Work(script.events)
    assert [event.cmd for event in work.harness_commands] == ["mktemp"]
    assert [event.cmd for event in work.commands_of(work.tool_events[0])] == ["bash -c ls"]


def test_overlapping_times_count_once() -> None:
    spells = [(at(0), at(4)), (at(2), at(6)), (at(3), at(5)), (at(10), at(11))]
    assert covered_s(spells) == 7.0


def test_spans_in_a_circle_come_to_an_end(script: Any) -> None:
    script.begin("a", "agent", parent="b")
    script.begin("b", "agent", parent="a")
    script.model(span_id="a")
    assert len(Work(script.events).generations) == 1


def test_commands_of_parallel_tools_are_kept_apart(script: Any) -> None:
    first, second = script.model(("bash", {"command": "a"}), ("bash", {"command": "b"}))
    for call, span in ((first, "one"), (second, "two")):
        script.begin(span, "tool", "bash")
        script.tool(call)
    script.command("b", "two")
    script.command("a", "one")
    work = Work(script.events)
    told = [[event.cmd for event in work.commands_of(tool)] for tool in work.tool_events]
    assert told == [["a"], ["b"]]
