"""`evals export biabench`: a log's submissions and its leaderboard entry."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from evals.cli import app
from evals.submissions.claims import read_manifest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FOLDER = "submissions/react/run_20260901_080000"
CLAIMS = ["--submitter", "A", "--contact", "a@b", "--artifacts-url", "https://example.org/a"]


@pytest.fixture
def export(tmp_path: Path) -> Callable[..., str]:
    """Give the command; it writes to `out`."""

    def run(log: Path, *more: str, code: int = 0) -> str:
        kept = str(tmp_path / "kept")
        places = [str(log), str(tmp_path / "out"), "--submissions", kept]
        result = CliRunner().invoke(app, ["export", "biabench", *places, *more])
        assert result.exit_code == code, result.output
        return " ".join(result.output.split())

    return run


@pytest.fixture
def refused(export: Callable[..., str], tmp_path: Path) -> Callable[..., str]:
    """Give the command where it fails, which leaves nothing behind."""

    def run(log: Path, *more: str) -> str:
        told = export(log, *(more or ["--submissions-only"]), code=1)
        assert not (tmp_path / "out").exists()
        assert not list(tmp_path.glob(".out*"))
        return told

    return run


def entry_in(tmp_path: Path) -> Any:
    [path] = (tmp_path / "out" / "leaderboard" / "entries").iterdir()
    entry = json.loads(path.read_text(encoding="utf-8"))
    assert path.name == f"{entry['id']}.json"
    return entry


def test_a_submission_is_laid_out_as_published(
    write_log: Any, ran: Any, export: Any, tmp_path: Path
) -> None:
    files = {"a.csv": "X,Y\n", "plot.png": "p", "agent_log.txt": "l"}
    run = ran(files=files)
    export(write_log(run), "--submissions-only")
    folder = tmp_path / "out" / FOLDER / run.task
    written = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert written == [
        "artifacts/counts/a.csv",
        "artifacts/supporting/plot.png",
        "artifacts/supporting/run_metrics.json",
        "deliverable_manifest.json",
        "logs/agent_log.txt",
        "submission.json",
    ]
    listed = json.loads((folder / "deliverable_manifest.json").read_text())["deliverables"]
    assert listed == [{"id": "counts", "resolved": ["artifacts/counts/a.csv"], "present": True}]


def test_a_submission_says_who_made_it_and_how(
    write_log: Any, ran: Any, export: Any, tmp_path: Path
) -> None:
    run = ran()
    export(write_log(run), "--submissions-only")
    raw = (tmp_path / "out" / FOLDER / run.task / "submission.json").read_bytes()
    manifest, faults = read_manifest(raw)
    assert faults == ()
    assert manifest.model_dump(exclude_none=True) == {
        "schema_version": "1.0",
        "task_id": run.task,
        "agent_name": "react",
        "agent_version": "evals 0.1.0",
        "run_id": "run_20260901_080000",
        "prompt_version": "v1",
        "timestamp_utc": "2026-09-01T08:10:00Z",
        "model_name": "anthropic/claude-x",
        "runtime_seconds": 90.0,
    }


def test_an_entry_tells_the_runs_and_their_settings(
    write_log: Any, sixteen: Any, export: Any, tmp_path: Path
) -> None:
    runs = sixteen(2, {(0, 1): {"outcome": 0.75, "process": 0.9}})
    export(write_log(*runs), *CLAIMS)
    entry = entry_in(tmp_path)
    assert entry["settings"] == {
        "dataset_revision": "v1.0 (abc123)",
        "instruction_level": "brief",
        "repeats": 2,
        "judge_model": "mockllm/judge",
        "evaluator_commit": "evals 0.1.0",
        "cost_provenance": "list_price",
        "hardware": "CPUs: 4, memory: 8 GiB, GPUs: none",
    }
    assert entry["tasks"][runs[0].task]["runs"][0] == {
        "run_id": "run_20260901_080000",
        "status": "delivered",
        "outcome": 0.75,
        "process": 0.9,
        "wall_min": 1.5,
        "cost_usd": 0.25,
        "input_tokens": 60,
        "output_tokens": 5,
    }


@pytest.mark.parametrize(
    ("told", "status", "outcome"),
    [
        ({"status": "timed_out"}, "delivered", 0.5),
        ({"status": "limit", "found": {"counts": []}}, "no_deliverable", 0),
        (
            {"missing": [{"id": "masks", "reason": "not found"}], "outcome": 0.0},
            "no_deliverable",
            0,
        ),
        ({"status": "crash", "outcome": 0.5}, "crash", 0),
        ({"status": "refused", "outcome": None}, "refused", None),
    ],
)
def test_a_run_ends_in_the_leaderboards_words(
    told: dict[str, Any],
    status: str,
    outcome: float | None,
    write_log: Any,
    sixteen: Any,
    export: Any,
    tmp_path: Path,
) -> None:
    runs = sixteen(1, {(0, 1): told})
    export(write_log(*runs), *CLAIMS)
    [run] = entry_in(tmp_path)["tasks"][runs[0].task]["runs"]
    assert (run["status"], run["outcome"]) == (status, outcome)


def test_data_that_were_simulated_are_told_apart_from_the_released(
    write_log: Any, sixteen: Any, export: Any, tmp_path: Path
) -> None:
    log = write_log(*sixteen(), facts={"data": None, "edition": "synthetic"})
    assert "not for the public leaderboard" in export(log, *CLAIMS)
    assert entry_in(tmp_path)["settings"]["dataset_revision"] == "synthetic seed=3"


def test_a_log_that_lacks_a_task_makes_no_entry(write_log: Any, sixteen: Any, refused: Any) -> None:
    runs = sixteen()
    assert f"missing: {runs[-1].task}" in refused(write_log(*runs[:-1]), *CLAIMS)


def test_an_entry_needs_somebody_who_answers_for_it(
    write_log: Any, sixteen: Any, refused: Any
) -> None:
    assert "--submissions-only" in refused(write_log(*sixteen()), "--submitter", "A")


def test_the_oracles_log_is_refused(write_log: Any, ran: Any, refused: Any) -> None:
    log = write_log(ran(), solver="evals/oracle")
    assert "made from the reference" in refused(log)
    assert "no result of an agent" in refused(log, *CLAIMS, "--allow-oracle")


def test_what_the_oracle_made_is_marked_and_refused_at_second_hand(
    write_log: Any, ran: Any, export: Any, refused: Any, tmp_path: Path
) -> None:
    run = ran()
    export(write_log(run, solver="evals/oracle"), "--submissions-only", "--allow-oracle")
    [path] = (tmp_path / "out").rglob("submission.json")
    told = path.read_text(encoding="utf-8")
    assert "Made from the reference" in told
    (tmp_path / "out").rename(tmp_path / "first")
    (tmp_path / "kept").rename(tmp_path / "first-kept")
    again = ran(
        files={"submission.json": told, "artifacts/counts/a.csv": "X,Y\n"},
        found={"counts": ["counts/a.csv"]},
    )
    assert "it is the oracle's" in refused(write_log(again, solver="evals/ready"))


def test_files_with_private_text_are_refused(write_log: Any, ran: Any, refused: Any) -> None:
    log = write_log(ran(store={"canary": ["a.csv"]}))
    assert "private part's canary in a.csv" in refused(log)


def test_a_submission_that_was_changed_is_refused(
    write_log: Any, ran: Any, refused: Any, tmp_path: Path
) -> None:
    log = write_log(ran())
    [kept] = (tmp_path / "kept").glob("*/a.csv")
    kept.write_text("X,Y\n2,2\n", encoding="utf-8")
    assert "other bytes" in refused(log)


def test_a_log_cannot_name_a_folder_elsewhere(
    write_log: Any, ran: Any, refused: Any, tmp_path: Path
) -> None:
    (tmp_path / "secret").mkdir()
    log = write_log(ran(store={"kept": "../secret", "kept_files": []}))
    assert "names no folder of kept submissions" in refused(log)


def test_a_run_that_kept_nothing_is_told_how_to(write_log: Any, ran: Any, refused: Any) -> None:
    assert "-T keep=" in refused(write_log(ran(store={"kept": "", "kept_files": []})))


def test_a_sample_without_a_verdict_is_refused(write_log: Any, ran: Any, refused: Any) -> None:
    assert "it was never graded" in refused(write_log(ran(store={"grade": None})))


def test_instances_of_a_task_are_refused(write_log: Any, ran: Any, refused: Any) -> None:
    assert "replicas" in refused(write_log(ran(sample_id="task-s1")))


def test_nothing_is_written_over(write_log: Any, ran: Any, export: Any, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine", encoding="utf-8")
    log = write_log(ran())
    assert "nothing is written over" in export(log, "--submissions-only", code=1)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


def test_a_graded_file_that_the_layout_packs_as_a_log_is_told(
    write_log: Any, ran: Any, export: Any
) -> None:
    run = ran(files={"cells_log.txt": "1"}, found={"counts": ["cells_log.txt"]})
    told = export(write_log(run), "--submissions-only")
    assert "cells_log.txt was graded, but the published layout" in told
