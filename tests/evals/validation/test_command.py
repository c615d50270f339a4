"""`evals validate`: what a path is, what is told of it, and how it ends."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from evals.assets import assets
from evals.cli import app

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

COUNTING = "fluo-cell-counting-2d-cellfmcount"


def validate(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["validate", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """A copy of a shipped task's folder."""
    return shutil.copytree(assets() / "tasks" / "biaa" / COUNTING, tmp_path / "tasks" / COUNTING)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A submission with one table, and nothing that says what it is for."""
    folder = tmp_path / "submission"
    folder.mkdir()
    (folder / "0.csv").write_text("X,Y\n1,2\n", encoding="utf-8")
    return folder


def test_nothing_is_wrong_with_the_shipped_tasks() -> None:
    printed = validate(assets() / "tasks" / "biaa").stdout
    assert printed == "16 checked: 0 errors, 0 warnings.\n"


def test_a_fault_is_printed_and_ends_with_1(task: Path) -> None:
    spec = task / "task_spec.yaml"
    text = spec.read_text(encoding="utf-8")
    spec.write_text(text.replace("deliverables:", "deliverable:"), encoding="utf-8")
    printed = validate(task.parent, code=1).stdout
    assert "error: task_spec.yaml: expected only the keys" in printed
    assert "did you mean 'deliverables'?" in printed


def test_a_warning_alone_ends_well(task: Path) -> None:
    with (task / "task_spec.yaml").open("a", encoding="utf-8") as spec:
        spec.write("\nshelf: 7\n")
    assert "warning: task_spec.yaml" in validate(task).stdout


def test_keywords_are_looked_for_in_the_checklist_that_ships(task: Path) -> None:
    rubric = task / "evaluation_rubric.yaml"
    text = rubric.read_text(encoding="utf-8")
    rubric.write_text(text.replace("- general_evaluation", "- generel"), encoding="utf-8")
    assert "'generel'" in validate(task, code=1).stdout


def test_the_manifest_of_an_edition_is_checked_too(task: Path) -> None:
    (task.parent / "manifest.json").write_text('{"tasks": {}}', encoding="utf-8")
    [edition, capsule] = json.loads(validate(task.parent, "--json").stdout)
    assert (edition["kind"], edition["findings"][0]["where"]) == ("edition", f"{COUNTING}/")
    assert (capsule["kind"], capsule["findings"]) == ("capsule", [])


def test_a_submission_is_checked_against_the_task_that_is_named(table: Path, task: Path) -> None:
    for named in (COUNTING, task):
        printed = validate(table, "--task", named).stdout
        assert "centroids_per_image (required, *.csv): 1 file" in printed


def test_a_submission_without_its_deliverable_ends_with_1(table: Path) -> None:
    (table / "0.csv").write_text("x only\n1\n", encoding="utf-8")
    [told] = json.loads(validate(table, "--task", COUNTING, "--json", code=1).stdout)
    assert told["sound"] is False
    assert told["deliverables"][0]["rejected"] == [
        {"file": "0.csv", "reason": "lacks the required columns X, Y"}
    ]


def test_a_packed_submission_names_its_task(
    tmp_path: Path, make_submission: Callable[..., Path]
) -> None:
    folder = make_submission(tmp_path / "packed", task_id=COUNTING, agent_version=None)
    table = folder / "artifacts" / "counts" / "a.csv"
    table.write_text("X,Y\n1,2\n", encoding="utf-8")
    printed = validate(folder, code=1).stdout
    assert "1 file" in printed
    assert "got agent_version: missing" in printed


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nowhere"], "expected a folder, got nothing"),
        (["."], "give its task with --task"),
        ([".", "--task", "fluo-cell-counting"], f"did you mean '{COUNTING}'"),
    ],
)
def test_what_cannot_be_checked_is_an_error_with_its_mend(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told in validate(*arguments, code=1).output
