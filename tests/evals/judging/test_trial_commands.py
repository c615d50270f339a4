from __future__ import annotations

import base64
import csv
import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from inspect_ai import eval
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.solver import Generate, Solver, TaskState, solver
from typer.testing import CliRunner

from evals.biaa.task import biaa
from evals.cli import app
from evals.judging.doctoring import DOCTORINGS
from evals.judging.protocol import Judge
from tests.evals.judging.trials import (
    CHECKLIST,
    gather_here,
    small_capsule,
    small_submission,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]

Kit = Any


@solver
def idle() -> Solver:
    """Do nothing."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return state

    return solve


@pytest.fixture
def script(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give the script of the judge that --model names."""
    played = kit.Script()
    monkeypatch.setattr("evals.judging.trial.named_judge", lambda name: Judge(name, played.model()))
    return played


@pytest.fixture
def run(tmp_path: Path, make_capsule: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Give a verb of `evals judge` in a folder with a task, a submission and a checklist."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr("evals.judging.subjects.gather_folder", gather_here)
    (tmp_path / "list.yaml").write_text(yaml.safe_dump(CHECKLIST, sort_keys=False), "utf-8")
    small_capsule(tmp_path, make_capsule)
    small_submission(tmp_path / "left")

    def invoke(*words: str, code: int = 0) -> Result:
        arguments = ["judge", *words, "--model", "mockllm/model"]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == code, result.output
        return result

    return invoke


OWN = ("--submission", "left", "--task", "dots", "--edition", "edition", "--checklist", "list.yaml")


def test_an_attack_shows_what_each_doctoring_gained(run: Run, script: Any) -> None:
    output = run("attack", *OWN, "--hybrid").stdout
    assert "dots, 4 items" in output
    for doctoring in DOCTORINGS:
        [line] = [one for one in output.splitlines() if one.startswith(f"{doctoring.name} ")]
        assert line.split()[3] == "+0.000"
    assert f"0 of {len(DOCTORINGS)} doctored submissions gained." in output
    assert "Items that checks decide and that moved: none." in output


def test_an_attack_is_written_as_json_and_as_a_table(run: Run, script: Any, tmp_path: Path) -> None:
    result = run("attack", *OWN, "--only", "order_in_t*", "--output", "told", "--json")
    told = json.loads(result.stdout)
    assert [one["doctoring"] for one in told["attempts"]] == ["order_in_text", "order_in_tags"]
    assert told["judge"] == "mockllm/model"
    assert json.loads((tmp_path / "told" / "attack.json").read_text("utf-8")) == told
    with (tmp_path / "told" / "attack.csv").open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert [row["moved_by_checks"] for row in rows] == ["0", "0"]
    assert "addresses_judge:" in rows[0]["flags"]


def test_an_attack_in_which_checks_decide_otherwise_fails(
    run: Run, script: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evals.judging.attacking._moved", lambda before, after: ("chk_0001_x",))
    result = run("attack", *OWN, "--only", "order_in_text", code=1)
    assert "This must not be" in result.stderr
    assert "order_in_text: checks decide otherwise on chk_0001_x" in result.stderr


def test_stability_shows_the_spread_and_each_item(run: Run, script: Any) -> None:
    output = run("stability", *OWN, "--repeats", "3", "--shuffle").stdout
    assert script.calls == 6 * 2
    assert "judged 3 times in either order by mockllm/model: 12 calls" in output
    assert "score 1.000, sd 0.000, from 1.000 to 1.000; 100% of the items never change" in output
    assert "Shuffling moves the mean score by +0.000 and the commonest answer of 0 of 4" in output
    assert output.count("pass 3") == 8


def test_stability_is_written_as_json_and_as_a_table(run: Run, script: Any, tmp_path: Path) -> None:
    result = run("stability", *OWN, "--repeats", "2", "--output", "told", "--json")
    told = json.loads(result.stdout)
    assert told["plain"]["score"]["n"] == 2
    assert told["shuffled"] is None
    assert json.loads((tmp_path / "told" / "stability.json").read_text("utf-8")) == told
    with (tmp_path / "told" / "stability.csv").open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert [row["answers"] for row in rows] == ["pass pass"] * 4


def test_a_stopped_command_says_what_is_kept_and_goes_on_there(run: Run, script: Any) -> None:
    def say(ids: list[str], call: int) -> None:
        if call == 3:
            raise KeyboardInterrupt

    script.say = say
    result = run("stability", *OWN, "--repeats", "2", code=130)
    assert "Stopped. Answers that were complete are kept" in result.stderr
    before = script.calls
    script.say = lambda ids, call: None
    run("stability", *OWN, "--repeats", "2")
    assert script.calls - before == 2


@pytest.fixture
def log(tmp_path: Path, edition: Path, kit: Kit, monkeypatch: pytest.MonkeyPatch) -> str:
    """Give a log that keeps the evidence of one sample of two epochs, long parts of it apart."""
    figure = kit.figure("figure:1")
    figure["data"] = base64.b64encode(base64.b64decode(figure["data"]) + bytes(9000)).decode()

    async def gather_evidence(state: Any, workspace: Any) -> Any:
        return kit.evidence(figures=[figure])

    monkeypatch.setattr("evals.judging.dossier.gather_evidence", gather_evidence)
    task = biaa(
        edition=str(edition),
        sandbox="local",
        evidence=True,
        submissions=str(tmp_path / "submissions"),
    )
    [ran] = eval(
        task,
        model="none/none",
        solver=idle(),
        epochs=2,
        log_dir=str(tmp_path / "logs"),
        display="none",
    )
    assert ran.status == "success"
    return ran.location


def test_a_sample_of_a_log_is_judged_as_the_run_would_judge_it(
    log: str, script: Any, checklist: Path
) -> None:
    arguments = ["judge", "stability", log, "--sample", "dots:2", "--checklist", str(checklist)]
    result = CliRunner().invoke(app, [*arguments, "--repeats", "2", "--model", "a/b", "--json"])
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["sample"] == "dots:2"
    # The task selects four items of the checklist.
    assert len(told["plain"]["items"]) == 4
    assert script.calls == 2 * 2
    assert "Count the dots." in script.texts[0]
    assert "count = 1" in script.texts[0]
    assert "Only whole dots count." in script.texts[0]
    assert script.images[0] == 1


def test_evidence_that_somebody_changed_is_told(log: str, script: Any) -> None:
    changed = read_eval_log(log)
    for sample in changed.samples or []:
        sample.store["Dossier:evidence"]["files_total"] = -1
    write_eval_log(changed, log)
    arguments = ["judge", "stability", log, "--sample", "dots:1", "--model", "a/b"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1
    assert "does not hold to its form" in result.stderr


@pytest.mark.parametrize(
    ("sample", "message"),
    [(["--sample", "dost"], "expected one of: dots:1, dots:2"), ([], "of: dots:1, dots:2")],
)
def test_a_log_of_several_samples_needs_one_named(
    log: str, script: Any, sample: list[str], message: str
) -> None:
    result = CliRunner().invoke(app, ["judge", "stability", log, *sample, "--model", "a/b"])
    assert result.exit_code == 1
    assert message in result.stderr
    assert script.calls == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["stability"], "either a log or --submission FOLDER, got neither"),
        (["stability", "x.eval", *OWN], "got both"),
        (["stability", "x.eval"], "There is no file x.eval"),
        (["stability", "--submission", "left"], "add --task ID"),
        (["attack", *OWN[2:], "--submission", "lfet"], "there is no such folder"),
        (["attack", *OWN, "--only", "order_in_txt"], "did you mean 'order_in_text'"),
        (["attack", *OWN, "--images", "some"], "Unknown value of images 'some'"),
        (["attack", *OWN[2:]], "comes without a solution"),
    ],
)
def test_wrong_options_get_a_hint_and_no_traceback(
    run: Run, script: Any, words: list[str], message: str
) -> None:
    result = run(*words, code=1)
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_a_model_that_does_not_exist_is_told(run: Run) -> None:
    arguments = ["judge", "attack", *OWN, "--model", "nobody/nothing"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1
    assert "--model nobody/nothing: the judge's model cannot be used" in result.stderr


@pytest.mark.slow
def test_the_own_solution_of_a_task_is_attacked(
    script: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evals.judging.subjects.gather_folder", gather_here)
    arguments = ["judge", "attack", "--model", "a/b", "--only", "order_in_file_name", "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    [attempt] = json.loads(result.stdout)["attempts"]
    assert attempt["task"] == "fluo-cell-counting-2d-cellfmcount"
    assert "solve.py" in script.texts[0]
    assert attempt["moved_by_checks"] == []
