from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from inspect_ai.log import read_eval_log
from typer.testing import CliRunner

from evals.cli import app
from evals.demo import view_command

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

COUNTING = "fluo-cell-counting-2d-cellfmcount"


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result


def test_the_tasks_are_listed_as_text_and_as_json() -> None:
    listed = json.loads(run("tasks", "--json").stdout)
    assert COUNTING in [entry["task_id"] for entry in listed]
    assert all(entry["suite"] == "biaa" for entry in listed)
    assert COUNTING in run("tasks").stdout


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["demo", "--sandbox", "dcoker"], "did you mean 'docker'"),
        (["make", "--scale", "quik"], "did you mean 'quick'"),
        (["make", "--tasks", "fluo-cell-counting"], f"did you mean '{COUNTING}'"),
        (["regrade", "missing.eval"], "There is no log missing.eval"),
    ],
)
def test_wrong_names_get_a_hint_and_no_traceback(arguments: list[str], hint: str) -> None:
    output = run(*arguments, code=1).output
    assert hint in output
    assert "Traceback" not in output


def test_the_command_starts_without_heavy_imports() -> None:
    code = (
        "import sys, evals.cli; print(sorted({'inspect_ai', 'numpy', 'scipy'} & set(sys.modules)))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert printed.stdout == "[]\n"


def test_make_prints_the_capsules_and_copies_them(own_cache: Path, tmp_path: Path) -> None:
    output = tmp_path / "made"
    printed = run("make", "--tasks", COUNTING, "--output", str(output)).stdout.split()
    assert printed == [str(output / COUNTING)]
    assert (output / COUNTING / "task_spec.yaml").is_file()
    again = run("make", "--tasks", COUNTING, "--output", str(output), code=1)
    assert "exists already" in again.output


def test_the_view_command_names_a_program_that_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    program, *rest = view_command(Path("logs")).split()
    assert Path(program).name == "inspect"
    assert Path(program).exists()
    assert rest == ["view", "--log-dir", "logs"]


def test_the_view_command_is_short_where_inspect_is_on_the_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    assert view_command(Path("my logs")) == "inspect view --log-dir 'my logs'"


@pytest.mark.slow
def test_the_demonstration_scores_ceiling_middle_and_floors(
    own_cache: Path, tmp_path: Path
) -> None:
    logs = tmp_path / "logs"
    result = run("demo", "--tasks", COUNTING, "--log-dir", str(logs), "--json")
    told = json.loads(result.stdout)
    outcome = {row["agent"]: row["outcome"] for row in told["rows"]}
    assert outcome["oracle"] == 1.0
    assert outcome["naive(empty)"] == 0.0
    assert outcome["naive(bluff)"] == 0.0
    assert outcome["naive(blank)"] < outcome["baseline"] < 1.0
    assert told["failed"] == 0
    assert f"inspect view --log-dir {logs}" in result.stderr
    assert len(list(logs.glob("*.eval"))) == len(outcome)


@pytest.mark.slow
def test_the_demonstration_fails_if_a_sample_errs(
    own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspect_ai.solver import Generate, Solver, TaskState, solver

    @solver
    def crash() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            raise RuntimeError("out of order")

        return solve

    agents: Callable[[], dict[str, Callable[[], Solver]]] = lambda: {"crash": crash}  # noqa: E731
    monkeypatch.setattr("evals.demo.agents", agents)
    logs = tmp_path / "logs"
    result = run("demo", "--tasks", COUNTING, "--log-dir", str(logs), code=1)
    assert "out of order" in result.output
    assert "Scored 0 of 1 samples" in result.output
    [log] = logs.glob("*.eval")
    assert read_eval_log(str(log)).status == "success"
