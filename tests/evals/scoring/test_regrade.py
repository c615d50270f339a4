from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog, read_eval_log
from typer.testing import CliRunner

from evals import edition as editions
from evals.cli import app

Run = Callable[..., EvalLog]
Edition = Callable[..., Path]
SetGrader = Callable[[float], None]
CSV = {"counts.csv": "image,count\na,1\n"}


@pytest.fixture(autouse=True)
def grader(set_grader: SetGrader) -> None:
    set_grader(0.25)


@pytest.fixture
def regrade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Give the command, as if in a process of its own: no capsule is open yet."""

    def run(log: EvalLog, *more: str, code: int = 0) -> str:
        monkeypatch.setattr(editions, "_opened", {})
        submissions = str(tmp_path / "submissions")
        arguments = ["regrade", log.location, "--submissions", submissions, *more]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == code, result.output
        return result.output

    return run


def regraded(log: EvalLog) -> EvalLog:
    path = Path(log.location)
    return read_eval_log(str(path.parent / "regraded" / path.name))


def outcome_of(log: EvalLog, name: str = "dots") -> float:
    sample = next(sample for sample in log.samples or [] if sample.id == name)
    assert sample.scores
    value = sample.scores["grade"].value
    assert isinstance(value, dict)
    return float(value["outcome"] or 0)


def mean_of(log: EvalLog) -> float:
    assert log.results is not None
    score = next(score for score in log.results.scores if score.name == "outcome")
    return score.metrics["evals/mean"].value


def test_a_changed_grader_gives_new_scores_in_a_new_log(
    make_edition: Edition, run_biaa: Run, set_grader: SetGrader, regrade: Callable[..., str]
) -> None:
    log = run_biaa(make_edition(dots="good"), CSV)
    set_grader(0.75)
    told = regrade(log)
    assert "0.2500" in told
    assert "0.7500" in told
    assert (outcome_of(log), mean_of(log)) == (0.25, 0.25)
    again = regraded(log)
    assert (outcome_of(again), mean_of(again)) == (0.75, 0.75)


def test_folders_may_be_given_as_seen_from_here(
    make_edition: Edition,
    run_biaa: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = run_biaa(make_edition(dots="good"), CSV)
    monkeypatch.chdir(tmp_path)
    name = Path(log.location).name
    arguments = ["regrade", f"logs/{name}", "--submissions", "submissions"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert Path("logs/regraded", name).is_file()


def test_the_new_log_keeps_the_old_score_as_history(
    make_edition: Edition, run_biaa: Run, set_grader: SetGrader, regrade: Callable[..., str]
) -> None:
    log = run_biaa(make_edition(dots="good"), CSV)
    set_grader(0.75)
    regrade(log)
    [sample] = regraded(log).samples or []
    history = (sample.scores or {})["grade"].history
    assert [edit.value["outcome"] for edit in history if isinstance(edit.value, dict)] == [
        0.25,
        0.75,
    ]
    assert sample.store["Graded:grade"]["outcome"] == 0.75


def test_a_missing_submission_is_told_and_keeps_its_score(
    make_edition: Edition, run_biaa: Run, set_grader: SetGrader, regrade: Callable[..., str]
) -> None:
    log = run_biaa(make_edition(dots="good"), CSV, options={"keep": "none"})
    Path(log.location).parents[1].joinpath("submissions").mkdir()
    set_grader(0.75)
    told = json.loads(regrade(log, "--json", code=1))
    [entry] = told["samples"]
    assert (entry["before"], entry["after"]) == (0.25, None)
    assert "no submission was kept" in entry["note"]
    assert outcome_of(regraded(log)) == 0.25


def test_a_submission_that_was_changed_is_told_and_not_graded(
    make_edition: Edition,
    run_biaa: Run,
    set_grader: SetGrader,
    regrade: Callable[..., str],
    tmp_path: Path,
) -> None:
    log = run_biaa(make_edition(dots="good"), CSV)
    [kept] = tmp_path.glob("submissions/*/counts.csv")
    kept.write_text("image,count\na,2\n", encoding="utf-8")
    set_grader(0.75)
    assert "other bytes" in " ".join(regrade(log, code=1).split())
    assert outcome_of(regraded(log)) == 0.25


def test_a_capsule_that_has_changed_since_is_told_and_not_graded(
    make_edition: Edition, run_biaa: Run, regrade: Callable[..., str]
) -> None:
    edition = make_edition(dots="good")
    log = run_biaa(edition, CSV)
    (edition / "dots" / "evaluation" / "a.csv").write_text("good other", encoding="utf-8")
    told = regrade(log, "--json", code=1)
    assert "data hash" in json.loads(told)["samples"][0]["note"]


def test_a_log_made_with_another_revision_is_told_and_not_graded(
    make_capsule: Callable[..., Path],
    own_cache: Path,
    run_biaa: Run,
    regrade: Callable[..., str],
) -> None:
    for revision in ("v1.0", "v1.1"):
        folder = make_capsule(own_cache / "data" / revision, "dots")
        (folder / "evaluation" / "a.csv").write_text(f"good {revision}", encoding="utf-8")
        manifest = own_cache / "data" / revision / "manifest.json"
        manifest.write_text('{"tasks": {"dots": {}}}', encoding="utf-8")
    log = run_biaa(Path("v1.0"), CSV)
    assert log.eval.metadata
    assert log.eval.metadata["data"]["revision"] == "v1.0"
    told = json.loads(regrade(log, "--edition", "v1.1", "--json", code=1))
    note = told["samples"][0]["note"]
    assert "expected the data that the log was made with, of the edition 'v1.0'" in note


def test_an_edition_that_has_moved_is_found_by_its_new_place(
    make_edition: Edition,
    run_biaa: Run,
    set_grader: SetGrader,
    regrade: Callable[..., str],
    tmp_path: Path,
) -> None:
    edition = make_edition(dots="good")
    log = run_biaa(edition, CSV)
    edition.rename(tmp_path / "moved")
    set_grader(0.75)
    regrade(log, "--edition", str(tmp_path / "moved"))
    assert outcome_of(regraded(log)) == 0.75


def test_a_mended_grader_heals_a_sample_that_failed_by_it(
    make_edition: Edition,
    run_biaa: Run,
    regrade: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    set_grader: SetGrader,
) -> None:
    edition = make_edition(dots="good", other="good")
    set_grader("1 / 0 if 'dots' in task else 0.5")
    log = run_biaa(edition, CSV)
    assert [sample.error is None for sample in log.samples or []] == [False, True]
    set_grader(0.75)
    regrade(log)
    again = regraded(log)
    assert outcome_of(again, "dots") == 0.75
    assert [sample.error for sample in again.samples or []] == [None, None]
    assert again.results is not None
    assert again.results.completed_samples == 2


def test_an_old_log_is_never_written_over(
    make_edition: Edition, run_biaa: Run, regrade: Callable[..., str]
) -> None:
    log = run_biaa(make_edition(dots="good"), CSV)
    before = Path(log.location).read_bytes()
    assert "exists already" in regrade(log, "--output", log.location, code=1)
    assert Path(log.location).read_bytes() == before
