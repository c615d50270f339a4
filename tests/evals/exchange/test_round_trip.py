"""A run, exported, brought in again and scored: the same scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml
from inspect_ai import eval
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox
from typer.testing import CliRunner

from evals.biaa.task import biaa
from evals.cli import app
from evals.harness.ready import ready
from evals.workspace.place import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from inspect_ai.log import EvalLog

CELLS = ["17,93", "40,40", "60,20", "80,80"]
DELIVERABLE = {
    "id": "centroids_per_image",
    "description": "One CSV file of cell centres for each image.",
    "filename_pattern": "*.csv",
}
# Cells that are found in each task, by epoch; None leaves nothing.
FOUND: dict[str, tuple[int | None, int | None]] = {"one": (4, 3), "two": (1, None)}
Outcome = tuple[str, int, dict[str, float], str]


@pytest.fixture
def edition(make_capsule: Any, tmp_path: Path, own_cache: Path) -> Path:
    """Give two capsules whose four cells are to be found."""
    for name in FOUND:
        folder = make_capsule(tmp_path / "edition", name, {"deliverables": [DELIVERABLE]})
        text = "\n".join(["X,Y", *CELLS, ""])
        (folder / "evaluation" / "a.csv").write_text(text, encoding="utf-8")
        rubric = {"grader": "counting", "metric_config": {"distance_threshold_px": 10}}
        (folder / "evaluation_rubric.yaml").write_text(yaml.safe_dump(rubric), encoding="utf-8")
    return tmp_path / "edition"


@solver
def find_some() -> Solver:
    """Leave a table with as many cells as the test wants, and a note."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        output = state.store_as(Workspace).output_dir
        found = FOUND[str(state.sample_id)][state.epoch - 1]
        await sandbox().write_file(f"{output}/notes.txt", "some")
        if found is not None:
            text = "\n".join(["X,Y", *CELLS[:found], ""])
            await sandbox().write_file(f"{output}/tables/a.csv", text)
        return state

    return solve


def run(edition: Path, tmp_path: Path, harness: Solver, kept: str) -> EvalLog:
    task = biaa(
        edition=str(edition),
        sandbox="local",
        solver=harness,
        submissions=str(tmp_path / kept),
        keep="all",
    )
    logs = str(tmp_path / "logs")
    [log] = eval(task, model="none/none", display="none", log_dir=logs, epochs=2)
    assert log.status == "success", log.error
    return log


def outcomes(log: EvalLog) -> Sequence[Outcome]:
    found: list[Outcome] = []
    for sample in log.samples or []:
        assert sample.error is None
        score = (sample.scores or {})["grade"]
        assert isinstance(score.value, dict)
        metadata = score.metadata or {}
        value: Any = score.value
        found.append((str(sample.id), sample.epoch, value, metadata["status"]))
    return sorted(found, key=lambda each: each[:2])


def command(*arguments: str | Path) -> None:
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exit_code == 0, result.output


@pytest.mark.slow
def test_what_is_exported_and_brought_in_scores_the_same_twice_over(
    edition: Path, tmp_path: Path
) -> None:
    log = run(edition, tmp_path, find_some(), "kept0")
    first = outcomes(log)
    assert len({value["outcome"] for _, _, value, _ in first}) == 4
    for turn in (1, 2):
        out, back = tmp_path / f"out{turn}", tmp_path / f"back{turn}"
        kept = tmp_path / f"kept{turn - 1}"
        command(
            "export", "biabench", log.location, out, "--submissions", kept, "--submissions-only"
        )
        command("import", "biabench", out, back)
        assert len(list(back.rglob("submission.json"))) == 4
        log = run(edition, tmp_path, ready(str(back)), f"kept{turn}")
        assert outcomes(log) == first
