from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from inspect_ai import eval
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox

from evals.biaa.task import biaa
from evals.workspace.place import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from inspect_ai.log import EvalLog, EvalSample


def engine_answers() -> bool:
    if shutil.which("docker") is None:
        return False
    return subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0


pytestmark = [
    pytest.mark.docker,
    pytest.mark.slow,
    pytest.mark.skipif(not engine_answers(), reason="no Docker engine answers"),
]

SPEC = {
    "deliverables": [
        {
            "id": "centroids_per_image",
            "description": "One CSV file an image.",
            "filename_pattern": "*.csv",
            "multi": True,
        }
    ]
}


@pytest.fixture
def edition(tmp_path: Path, make_capsule: Callable[..., Path], own_cache: Path) -> Path:
    for name in ("bad", "full", "good"):
        folder = make_capsule(tmp_path / "edition", name, SPEC)
        (folder / "evaluation" / "a.csv").write_text("X,Y\n10,10\n50,50\n", encoding="utf-8")
    return tmp_path / "edition"


@solver
def count_and_harm_two_graders() -> Solver:
    """Hand in the points; kill the grader of sample `bad`, fill the disk of that of `full`."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        await sandbox().write_file("/workspace/output/a.csv", "X,Y\n10,10\n50,50\n")
        grader = state.store_as(Workspace).grader_container
        if state.sample_id == "bad":
            subprocess.run(["docker", "kill", grader], check=True, capture_output=True)
        if state.sample_id == "full":
            fill = "cat /dev/zero > /tmp/full; cat /dev/zero > /var/tmp/full; ! touch /tmp/more"
            command = ["docker", "exec", grader, "sh", "-c", fill]
            filled = subprocess.run(command, check=False, capture_output=True, text=True)
            assert filled.stderr.count("No space left on device") >= 2, filled.stderr
        return state

    return solve


@pytest.fixture
def log(edition: Path, tmp_path: Path) -> EvalLog:
    task = biaa(edition=str(edition), submissions=str(tmp_path / "submissions"))
    [log] = eval(
        task,
        model="none/none",
        solver=count_and_harm_two_graders(),
        log_dir=str(tmp_path / "logs"),
        display="none",
    )
    return log


def test_a_killed_grader_errors_its_sample_alone_and_a_full_disk_changes_no_verdict(
    log: EvalLog, tmp_path: Path
) -> None:
    samples: dict[str, EvalSample] = {str(sample.id): sample for sample in log.samples or []}
    assert log.status == "success"
    assert samples["bad"].error is not None
    assert "grader" in samples["bad"].error.message.lower()
    assert not samples["bad"].scores
    assert samples["good"].scores, samples["good"].error
    value = samples["good"].scores["grade"].value
    assert isinstance(value, dict)
    assert value["outcome"] == 1.0
    # A grader needs no disk of its own: it reads, and writes to a pipe.
    assert samples["full"].scores, samples["full"].error
    assert samples["full"].scores["grade"].value == value
    assert (tmp_path / "submissions" / str(samples["good"].uuid) / "a.csv").is_file()
