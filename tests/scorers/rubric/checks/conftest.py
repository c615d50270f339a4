"""Submissions for checks: a task's specification, its input and what was handed in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest
import yaml

from scorers.files.limits import Limits
from scorers.files.tree import Tree
from scorers.rubric.checks.scene import Scene
from scorers.specification import TaskSpec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class MakeScene(Protocol):
    """Opens what lies in the folders `out` and `input`."""

    def __call__(self, *deliverables: dict[str, Any], **told: Any) -> Scene:
        """Open it."""
        ...


def asks(pattern: str, form: str = "", **more: Any) -> dict[str, Any]:
    """Declare a deliverable."""
    known = {"id": "output", "description": "An output.", "filename_pattern": pattern}
    return known | {"format": form, "multi": True} | more


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An empty folder for what an agent left."""
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """An empty folder for the input."""
    folder = tmp_path / "input"
    folder.mkdir()
    return folder


@pytest.fixture
def scene(out: Path, given: Path) -> Iterator[MakeScene]:
    """Open the submission as it is when this is called."""
    opened: list[Scene | Tree] = []

    def make(*deliverables: dict[str, Any], **told: Any) -> Scene:
        logic = {
            "basic_instructions": "Find the cells.",
            "expert_instructions": told.pop("instruction", "Find the cells."),
            "primary_task": told.pop("primary_task", "segmentation"),
            "sub_tasks": told.pop("sub_tasks", []),
        }
        after = told.pop("input_after", None)
        content = {
            "task_id": "cells",
            "input": {"spatial_dimensions": "2D", "temporal_dimension": "static"} | told,
            "task_logic": logic,
            "deliverables": list(deliverables),
        }
        spec = TaskSpec.model_validate(yaml.safe_load(yaml.safe_dump(content)))
        tree = Tree(out, Limits())
        found = Scene(spec, tree, given, Limits(), after)
        opened.extend([found, tree])
        return found

    yield make
    for each in opened:
        each.__exit__()
