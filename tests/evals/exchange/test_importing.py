"""`evals import biabench`: submissions of others, brought in for `evals/ready`."""

from __future__ import annotations

import os
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from evals.cli import app
from evals.submissions.collection import collect

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RUN = "run_20260901_080000"


@pytest.fixture
def bring(tmp_path: Path) -> Callable[..., str]:
    """Give the command; it writes to `in`."""

    def run(source: Path, *more: str, code: int = 0) -> str:
        arguments = ["import", "biabench", str(source), str(tmp_path / "in"), *more]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == code, result.output
        return " ".join(result.output.split())

    return run


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("packed", [False, True])
def test_submissions_come_in_by_agent_run_and_task(
    packed: bool, bring: Any, make_submission: Any, make_zip: Any, tmp_path: Path
) -> None:
    source = make_submission(tmp_path / "all" / "x" / "dots")
    if packed:
        source = make_zip(tmp_path / f"counter__{RUN}__dots.zip", [(source, "")])
    bring(source if packed else tmp_path / "all")
    assert files_in(tmp_path / "in") == [
        f"counter/{RUN}/dots/artifacts/counts/a.csv",
        f"counter/{RUN}/dots/artifacts/supporting/notes.csv",
        f"counter/{RUN}/dots/submission.json",
    ]
    [run] = collect(tmp_path / "in").runs_of("dots")
    assert (run.faults, run.agent) == ((), "counter/some-model")


def test_of_a_run_handed_in_twice_the_newest_comes_in(
    bring: Any, make_submission: Any, tmp_path: Path
) -> None:
    make_submission(tmp_path / "all" / "dots")
    newer = make_submission(tmp_path / "all" / "dots_2", timestamp_utc="2026-09-02T00:00:00Z")
    (newer / "artifacts" / "counts" / "a.csv").write_text("newer", encoding="utf-8")
    bring(tmp_path / "all")
    [table] = (tmp_path / "in").rglob("a.csv")
    assert table.read_text(encoding="utf-8") == "newer"


def test_a_submission_that_names_no_task_is_refused_and_others_come_in(
    bring: Any, make_submission: Any, tmp_path: Path
) -> None:
    make_submission(tmp_path / "all" / "dots")
    make_submission(tmp_path / "all" / "odd", task_id=None)
    told = bring(tmp_path / "all", code=1)
    assert "Refused odd: it does not say which task it is for: task_id: missing" in told
    assert "Brought 1 submissions" in told


@pytest.mark.parametrize("task_id", ["../../out", "a/b", ".."])
def test_a_name_that_leads_elsewhere_is_refused(
    task_id: str, bring: Any, make_submission: Any, tmp_path: Path
) -> None:
    make_submission(tmp_path / "all" / "dots")
    make_submission(tmp_path / "all" / "odd", task_id=task_id)
    assert "Refused odd" in bring(tmp_path / "all", code=1)
    assert len(list(tmp_path.rglob("submission.json"))) == 3


def test_an_agents_name_stays_one_folder(bring: Any, make_submission: Any, tmp_path: Path) -> None:
    make_submission(tmp_path / "all" / "dots", agent_name="../../x", run_id="..")
    bring(tmp_path / "all")
    [path] = (tmp_path / "in").rglob("submission.json")
    assert path.relative_to(tmp_path / "in").parts[:3] == ("_.._x", "unnamed", "dots")


def test_links_stay_behind_and_are_told(bring: Any, make_submission: Any, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("secret", encoding="utf-8")
    folder = make_submission(tmp_path / "all" / "dots")
    os.symlink(tmp_path / "secret.csv", folder / "artifacts" / "counts" / "b.csv")
    assert "left out artifacts/counts/b.csv" in bring(tmp_path / "all")
    assert not list((tmp_path / "in").rglob("b.csv"))


def test_an_archive_with_a_name_that_leads_out_is_refused(
    bring: Any, make_submission: Any, make_zip: Any, tmp_path: Path
) -> None:
    folder = make_submission(tmp_path / "dots")
    make_zip(tmp_path / "all" / "good.zip", [(folder, "")])
    bad = make_zip(tmp_path / "all" / "bad.zip", [(folder, "")])
    with zipfile.ZipFile(bad, "a") as archive:
        archive.writestr("../out.csv", "x")
    assert "Refused bad.zip" in bring(tmp_path / "all", code=1)
    assert not list(tmp_path.rglob("out.csv"))


def test_where_nothing_can_be_brought_in_no_folder_is_made(
    bring: Any, make_submission: Any, tmp_path: Path
) -> None:
    make_submission(tmp_path / "all" / "odd", task_id=None)
    assert "got none that can be brought in" in bring(tmp_path / "all", code=1)
    assert not (tmp_path / "in").exists()


def test_of_several_agents_one_is_chosen(bring: Any, make_submission: Any, tmp_path: Path) -> None:
    make_submission(tmp_path / "all" / "one")
    make_submission(tmp_path / "all" / "two", agent_name="other")
    assert "Option agent" in bring(tmp_path / "all", code=1)
    bring(tmp_path / "all", "--agent", "other")
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["other"]


def test_a_run_that_left_nothing_comes_in_with_its_empty_folder(
    bring: Any, make_submission: Any, tmp_path: Path
) -> None:
    folder = make_submission(tmp_path / "all" / "dots")
    for path in (folder / "artifacts").rglob("*.csv"):
        path.unlink()
    assert "there is nothing in artifacts/" in bring(tmp_path / "all")
    assert (tmp_path / "in" / "counter" / RUN / "dots" / "artifacts").is_dir()
