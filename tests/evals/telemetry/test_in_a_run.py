"""Telemetry and audit of real runs of `evals/biaa` with scripted models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from inspect_ai import score
from inspect_ai.log import read_eval_log
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox
from typer.testing import CliRunner

from evals import edition as editions
from evals.cli import app
from evals.harness.naive import naive
from evals.scoring.outcome import grade
from evals.workspace.place import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from inspect_ai.log import EvalLog
    from inspect_ai.scorer import Score

    Run = Callable[..., EvalLog]

WRITE = ("bash", {"command": "printf 'X,Y\\n10,10\\n' > workspace/output/a.csv"})
FAIL = ("bash", {"command": "exit 3"})
UNKNOWN = ("nothing", {"path": "a"})
SUBMIT = ("submit", {"answer": "done"})


def score_of(log: EvalLog) -> Score:
    [sample] = log.samples or []
    assert sample.scores, sample.error and sample.error.traceback
    return sample.scores["grade"]


def part(log: EvalLog, name: str) -> dict[str, Any]:
    found = (score_of(log).metadata or {})[name]
    assert isinstance(found, dict)
    return found


def test_an_agents_work_is_counted(run_biaa: Run) -> None:
    told = part(run_biaa(WRITE, FAIL, FAIL, UNKNOWN, SUBMIT), "telemetry")
    assert told["turns"] == 5
    assert told["tool_calls_by_name"] == {"bash": 3, "nothing": 1, "submit": 1}
    assert (told["code_executions"], told["failed_executions"]) == (3, 2)
    assert (told["repeated_calls"], told["errors"], told["images_viewed"]) == (1, 3, 0)
    assert told["tokens"]["input"] == 50
    assert told["tokens"]["output"] == 25
    assert 0 < told["tool_time_s"] <= told["agent_time_s"]


@pytest.mark.slow
def test_a_look_at_a_picture_is_counted_and_one_that_failed_is_not(run_biaa: Run) -> None:
    code = "from PIL import Image; Image.new('L', (8, 8), 9).save('workspace/output/a.png')"
    looks = [("view_image", {"path": name}) for name in ("a.png", "none.png")]
    told = part(run_biaa(("python", {"code": code}), *looks, SUBMIT), "telemetry")
    assert (told["images_viewed"], told["errors"]) == (1, 1)


def test_files_are_told_with_their_times(run_biaa: Run) -> None:
    told = part(run_biaa(WRITE, SUBMIT), "telemetry")
    [file] = told["files"]
    assert (file["path"], file["size_bytes"]) == ("a.csv", 10)
    assert -1 < file["after_s"] <= told["agent_time_s"] + 1
    assert (told["files_total"], told["files_bytes"]) == (1, 10)


def test_the_explanation_has_the_table(run_biaa: Run) -> None:
    text = score_of(run_biaa(WRITE, SUBMIT)).explanation or ""
    assert "**Telemetry**" in text
    assert "| Tool calls | 2 |" in text


def test_attempts_are_flagged_and_not_punished(run_biaa: Run) -> None:
    peep = ("bash", {"command": "cat /capsule/evaluation_rubric.yaml"})
    log = run_biaa(WRITE, peep, ("python", {"code": "open('DOTS9')"}), SUBMIT)
    told = part(log, "audit")
    assert told["flags"] == ["outside_workspace", "private_parts"]
    assert "hints, not a verdict" in (score_of(log).explanation or "")
    value = score_of(log).value
    assert isinstance(value, dict)
    assert value == score_of(run_biaa(WRITE, SUBMIT)).value


def test_the_source_of_the_task_is_known_to_the_audit(run_biaa: Run) -> None:
    code = "import requests\ntry:\n    requests.get('http://127.1.invalid/DOTS9')\nexcept: pass"
    # Only the text is read: the address does not exist.
    told = part(run_biaa(("python", {"code": code}), SUBMIT), "audit")
    assert {attempt["rule"] for attempt in told["attempts"]} == {
        "HTTP client",
        "source of the task",
    }


def test_the_local_sandbox_is_told_not_to_isolate(run_biaa: Run) -> None:
    log = run_biaa(WRITE, SUBMIT)
    assert "local" in part(log, "audit")["not_isolated"]
    assert "**Not isolated:**" in (score_of(log).explanation or "")


@solver
def two_programs() -> Solver:
    """Run two programs in the sandbox, of which one fails, without any model."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        output = state.store_as(Workspace).output_dir
        await sandbox().exec(["sh", "-c", f"echo X,Y > {output}/a.csv"])
        await sandbox().exec(["false"])
        return state

    return solve


def test_a_harness_without_a_model_has_the_same_form(run_biaa: Run) -> None:
    told = part(run_biaa(solver=two_programs()), "telemetry")
    assert (told["turns"], told["tool_calls"]) == (0, 0)
    assert (told["code_executions"], told["failed_executions"]) == (2, 1)
    assert told.keys() == part(run_biaa(WRITE, SUBMIT), "telemetry").keys()


def test_a_submission_that_nobody_worked_on_has_the_same_form(run_biaa: Run) -> None:
    log = run_biaa(solver=naive("bluff"))
    told = part(log, "telemetry")
    assert (told["turns"], told["code_executions"], told["files_total"]) == (0, 0, 3)
    assert part(log, "audit")["flags"] == []


def test_scoring_a_log_again_tells_the_same(run_biaa: Run) -> None:
    log = run_biaa(WRITE, SUBMIT)
    again = score(read_eval_log(log.location), grade(), action="overwrite", display="none")
    for name in ("telemetry", "audit"):
        assert part(again, name) == part(log, name)
    assert score_of(again).explanation == score_of(log).explanation


def test_regrading_keeps_what_was_seen(
    run_biaa: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = run_biaa(WRITE, SUBMIT)
    monkeypatch.setattr(editions, "_opened", {})
    new = tmp_path / "new.eval"
    arguments = ["--submissions", str(tmp_path / "submissions"), "--output", str(new)]
    result = CliRunner().invoke(app, ["regrade", log.location, *arguments])
    assert result.exit_code == 0, result.output
    assert part(read_eval_log(str(new)), "telemetry") == part(log, "telemetry")


@pytest.mark.docker
@pytest.mark.slow
def test_on_docker_growth_and_files_are_measured_from_outside(run_biaa: Run) -> None:
    from evals.errors import SandboxError
    from evals.workspace.images import ensure_images

    try:
        ensure_images()
    except SandboxError as error:
        pytest.skip(f"no Docker engine: {error.message}")
    command = (
        "sleep 4; head -c 300000 /dev/zero > /workspace/output/big.bin; sleep 5;"
        " echo X,Y > /workspace/output/a.csv; ln -s /etc/hostname /workspace/output/link"
    )
    log = run_biaa(("bash", {"command": command}), FAIL, SUBMIT, sandbox="docker")
    told = part(log, "telemetry")
    assert [file["path"] for file in told["files"]] == ["big.bin", "a.csv"]
    big, table = (file["after_s"] for file in told["files"])
    assert 3.5 < big < table - 4.5 < told["agent_time_s"]
    assert told["failed_executions"] == 1
    sizes = [size for _, size in told["output_growth"]]
    assert sizes[0] < 100_000 < 300_000 <= max(sizes)
    assert part(log, "audit")["not_isolated"] == ""
    assert part(log, "audit")["flags"] == []
