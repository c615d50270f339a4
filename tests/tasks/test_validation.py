"""Nothing is wrong with the tasks that ship, their siblings, and the capsules they make."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from evals import assets
from evals.data.siblings import dims_of
from scorers.contract import Job
from scorers.files.limits import Limits
from scorers.files.tree import Tree
from scorers.graders import GRADER_OF_TASK, GRADERS
from scorers.grading import evaluate
from scorers.linting.capsules import check_capsule
from scorers.linting.reading import deliverables_read
from scorers.linting.submissions import check_submission
from scorers.specification import load_rubric, load_spec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evals.data.recipe import Dims
    from tests.tasks.conftest import Made

TASKS = assets() / "tasks" / "biaa"
NAMES = sorted(path.parent.name for path in TASKS.glob("*/task_spec.yaml"))
SIBLINGS = [(name, dims) for name in NAMES for dims in dims_of(TASKS / name)[1:]]


@pytest.mark.parametrize("task", NAMES)
def test_nothing_is_wrong_with_a_task_that_ships(task: str) -> None:
    assert check_capsule(TASKS / task) == []


def test_what_each_grader_reads_is_known() -> None:
    rubric = load_rubric(TASKS / "fluo-helacytonuc-cell-segmentation")
    assert all(deliverables_read(grader, rubric) for grader in GRADERS)


@pytest.mark.slow
@pytest.mark.parametrize(("task", "dims"), [*((name, None) for name in NAMES), *SIBLINGS])
def test_nothing_is_wrong_with_what_is_made(
    task: str, dims: Dims | None, make: Callable[..., Made]
) -> None:
    made = make(task, dims)
    assert check_capsule(made.capsule, TASKS / "checklist.yaml") == []
    checked = check_submission(made.capsule, made.submission("perfect"), Limits())
    assert checked.complete
    assert checked.findings == []


@pytest.mark.slow
@pytest.mark.parametrize("task", NAMES)
def test_a_grader_reads_the_deliverables_that_are_asked_for(
    task: str, make: Callable[..., Made]
) -> None:
    capsule, submission = make(task).capsule, make(task).submission("perfect")
    rubric = load_rubric(capsule)
    for wanted in deliverables_read(rubric.grader or GRADER_OF_TASK[task], rubric):
        assert f"reads a deliverable '{wanted}'" in fault_without(wanted, capsule, submission)


def fault_without(deliverable: str, capsule: Path, submission: Path) -> str:
    """Grade with a specification that does not declare a deliverable, and return the fault."""
    spec = load_spec(capsule)
    kept = tuple(entry for entry in spec.deliverables if entry.id != deliverable)
    limits = Limits()
    with Tree(submission, limits) as tree:
        job = Job(
            task_dir=capsule,
            spec=spec.model_copy(update={"deliverables": kept}),
            rubric=load_rubric(capsule),
            submission=tree,
            reference_dir=capsule / "evaluation",
            input_dir=capsule / "input",
            limits=limits,
        )
        return evaluate(replace(job, draws=False)).fault or ""
