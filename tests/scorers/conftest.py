"""Shared by the tests of the graders: capsules and submissions in temporary folders."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from scorers.files.limits import Limits
from scorers.files.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]

SPEC = """\
task_id: {task_id}
input: {{spatial_dimensions: "{dimensions}"}}
task_logic: {{basic_instructions: Find the cells., expert_instructions: Find the cells.}}
deliverables:
{deliverables}
"""
DELIVERABLE = """\
  - {{id: {id}, description: An output., filename_pattern: "{pattern}", {more}}}
"""
RUBRIC = "metric_config: {{primary_metric: dice{config}}}\n{grader}"


class MakeCapsule(Protocol):
    """Writes a task folder and returns it."""

    def __call__(
        self,
        *,
        task_id: str = ...,
        grader: str | None = ...,
        dimensions: str = ...,
        deliverables: list[tuple[str, str, str]] | None = ...,
        config: str = ...,
    ) -> Path:
        """Write it."""
        ...


@pytest.fixture
def make_capsule(tmp_path: Path) -> MakeCapsule:
    """Write a task folder; deliverables are (id, pattern, further YAML)."""

    def make(
        *,
        task_id: str = "my-nuclei",
        grader: str | None = "instance",
        dimensions: str = "2D",
        deliverables: list[tuple[str, str, str]] | None = None,
        config: str = "",
    ) -> Path:
        folder = tmp_path / "capsules" / task_id
        (folder / "evaluation").mkdir(parents=True)
        wanted = deliverables or [
            ("segmentation_masks", "*.tif", "multi: true, format: instance labels")
        ]
        lines = "".join(
            DELIVERABLE.format(id=name, pattern=pattern, more=more)
            for name, pattern, more in wanted
        )
        spec = SPEC.format(task_id=task_id, dimensions=dimensions, deliverables=lines)
        (folder / "task_spec.yaml").write_text(spec, encoding="utf-8")
        rubric = RUBRIC.format(config=config, grader=f"grader: {grader}\n" if grader else "")
        (folder / "evaluation_rubric.yaml").write_text(rubric, encoding="utf-8")
        return folder

    return make


@pytest.fixture
def submission(tmp_path: Path) -> Path:
    """An empty folder for what an agent left."""
    folder = tmp_path / "submission"
    folder.mkdir()
    return folder


@pytest.fixture
def tree_of() -> Iterator[Callable[[Path], Tree]]:
    """List a folder as an untrusted tree; closed at the end of the test."""
    opened: list[Tree] = []

    def of(folder: Path, limits: Limits | None = None) -> Tree:
        opened.append(Tree(folder, limits or Limits()))
        return opened[-1]

    yield of
    for tree in opened:
        tree.close()


@pytest.fixture
def released_task(tmp_path: Path) -> Callable[[str, Path | None], Path]:
    """Copy a shipped task's specification and rubric, with a reference folder beside them."""

    def build(task_id: str, reference: Path | None) -> Path:
        source = ROOT / "tasks" / "biaa" / task_id
        folder = tmp_path / "tasks" / task_id
        folder.mkdir(parents=True)
        for name in ("task_spec.yaml", "evaluation_rubric.yaml"):
            shutil.copy(source / name, folder / name)
        if reference is not None:
            shutil.copytree(reference, folder / "evaluation")
        return folder

    return build
