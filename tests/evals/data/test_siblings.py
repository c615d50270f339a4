"""Siblings of tasks with a dimension less."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from evals.data.recipe import Recipe
from evals.data.siblings import dims_of, natural_dims
from evals.edition import open_edition
from evals.errors import UnknownNameError
from scorers.specification import load_spec

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("own_cache")

SIMULATE = """\
from pathlib import Path


def simulate(out, *, seed, difficulty=0.5, dims=None, scale="quick"):
    for folder in ("input", "evaluation"):
        (Path(out) / folder).mkdir()
        (Path(out) / folder / "dims.txt").write_text(str(dims), encoding="utf-8")
"""


@pytest.fixture(name="tasks")
def _tasks(tmp_path: Path, make_task: Any) -> Path:
    """Give two 3D tasks, of which one has a 2D sibling."""
    solid = {"input": {"spatial_dimensions": "3D", "temporal_dimension": "static"}}
    for name in ("cells", "vessels"):
        task = make_task(tmp_path, name, solid)
        (task / "simulate.py").write_text(SIMULATE, encoding="utf-8")
    spec = yaml.safe_load((tmp_path / "cells" / "task_spec.yaml").read_text("utf-8"))
    spec["input"]["spatial_dimensions"] = "2D"
    (tmp_path / "cells" / "task_spec.2d.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")
    return tmp_path


def test_a_sibling_is_offered_by_a_specification_of_its_own(tasks: Path) -> None:
    assert dims_of(tasks / "cells") == ("3d", "2d")
    assert dims_of(tasks / "vessels") == ("3d",)


def test_a_sibling_comes_with_its_specification_and_the_simulator_is_asked_for_it(
    tasks: Path,
) -> None:
    [capsule] = open_edition(tasks_root=tasks, tasks="cells", recipe=Recipe(dims="2d"))
    assert natural_dims(capsule.spec) == "2d"
    assert (capsule.input_dir / "dims.txt").read_text("utf-8") == "2d"


def test_tasks_without_the_sibling_are_left_out_of_a_run_of_all(tasks: Path) -> None:
    assert [
        capsule.task_id for capsule in open_edition(tasks_root=tasks, recipe=Recipe(dims="2d"))
    ] == ["cells"]


def test_the_dimensions_that_a_task_has_anyway_are_the_task_itself(tasks: Path) -> None:
    capsules = open_edition(tasks_root=tasks, recipe=Recipe(dims="3d"))
    assert [(each.input_dir / "dims.txt").read_text("utf-8") for each in capsules] == ["None"] * 2


@pytest.mark.parametrize(("names", "dims"), [("vessels", "2d"), (None, "2dt")])
def test_a_sibling_that_a_named_task_or_no_task_has_is_told(
    tasks: Path, names: str | None, dims: Any
) -> None:
    with pytest.raises(UnknownNameError, match=r"vessels has 3d.*Mend"):
        open_edition(tasks_root=tasks, tasks=names, recipe=Recipe(dims=dims))


def test_what_a_specification_says_of_time_and_space_is_understood(tasks: Path) -> None:
    spec = load_spec(tasks / "cells")
    moving = spec.model_copy(update={"input": {"temporal_dimension": "time-lapse"}})
    assert natural_dims(moving) == "2dt"
