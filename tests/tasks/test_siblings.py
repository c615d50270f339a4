"""Siblings with a dimension less: same scene, own instruction, own grader."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evals import assets
from evals.capsule import Capsule, job_for
from evals.data.recipe import Recipe
from evals.data.siblings import dims_of, natural_dims
from evals.edition import open_edition
from scorers.graders import family_for
from scorers.grading import grade

if TYPE_CHECKING:
    from pathlib import Path

SIBLINGS = [
    (path.parent.name, path.name.split(".")[1])
    for path in sorted((assets() / "tasks" / "biaa").glob("*/task_spec.*.yaml"))
]

pytestmark = pytest.mark.slow


@pytest.fixture(
    scope="module", params=SIBLINGS, ids=["-".join(pair) for pair in SIBLINGS], name="capsule"
)
def _capsule(request: pytest.FixtureRequest) -> Capsule:
    task, dims = request.param
    [capsule] = open_edition(tasks=task, recipe=Recipe(11, dims=dims))
    return capsule


def _graded(capsule: Capsule, name: str, folder: Path) -> tuple[float | None, float | None]:
    family = family_for(capsule.spec, capsule.rubric)
    getattr(family, name)(job_for(capsule, folder), folder)
    told = grade(capsule.path, folder, draws=False)
    return told.outcome, told.strict


def test_the_ladders_that_have_rungs_below_are_the_known_ones() -> None:
    assert {task: dims_of(assets() / "tasks" / "biaa" / task) for task, _ in SIBLINGS} == {
        "3d-confocal-puncta-quantification-sbiad1556": ("3d", "2d"),
        "3d-fluo-cell-segmentation-lateral-line-idr0079": ("3d", "2d"),
        "3d-light-sheet-brain-vessels": ("3d", "2d"),
        "5D-npc-assembly-kinetics-idr0115": ("3dt", "2dt"),
        "phase-contrast-bacteria-tracking-toiam": ("2dt", "2d"),
    }


def test_a_sibling_says_of_itself_what_it_is(capsule: Capsule) -> None:
    dims = natural_dims(capsule.spec)
    assert (capsule.task_id, dims) in SIBLINGS


def test_the_reference_of_a_sibling_scores_one(capsule: Capsule, tmp_path: Path) -> None:
    assert _graded(capsule, "perfect", tmp_path) == (1.0, pytest.approx(1.0))


def test_blank_files_for_a_sibling_score_next_to_nothing(capsule: Capsule, tmp_path: Path) -> None:
    outcome, strict = _graded(capsule, "blank", tmp_path)
    assert outcome is not None
    assert outcome <= 0.05
    assert strict is not None
    assert strict <= 0.05
