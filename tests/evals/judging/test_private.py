"""Nothing private is in any prompt of any task that ships."""

from __future__ import annotations

import re
import shutil
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from evals.assets import assets
from evals.data.recipe import Recipe
from evals.edition import open_edition
from evals.judging.case import Case, chosen
from evals.judging.rubrics import open_checklist, selection_of
from scorers.canary import PATTERN, SUITE
from scorers.rubric.gathering.building import evidence_of
from scorers.specification import load_rubric, load_spec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scorers.specification import Rubric

TASKS = sorted(path.parent for path in (assets() / "tasks" / "biaa").glob("*/task_spec.yaml"))
SECRET = "reference-value-731.4159"
CANARY = "evals-canary-01234567-89ab-cdef-0123-456789abcdef"


@cache
def checklist() -> Any:
    return open_checklist(None)


def submission_in(folder: Path, task: Path) -> Path:
    """Write a small submission with files under the names that the task asks for."""
    folder.mkdir(parents=True)
    for deliverable in load_spec(task).deliverables:
        name = deliverable.filename_pattern.replace("*", "result")
        columns = ",".join(deliverable.required_columns) or "a,b"
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{columns}\n1,2\n", encoding="utf-8")
    (folder / "analysis.py").write_text("print('analysed')\n", encoding="utf-8")
    (folder / "report.md").write_text("# Report\nAll was measured.\n", encoding="utf-8")
    return folder


def prompts_of(task: Path, submission: Path) -> Iterator[str]:
    """Give every prompt of a task: the rules, the evidence and the items of each call."""
    spec, rubric = load_spec(task), load_rubric(task)
    evidence = evidence_of(task, submission)
    case = Case(
        instruction=spec.task_logic.basic_instructions,
        evidence=evidence,
        figures=chosen(evidence.figures, "all"),
        anchors=rubric.vlm_anchors,
    )
    items = checklist().items_for(selection_of(rubric))
    assert items
    for start in range(0, len(items), 2):
        for message in case.messages(items[start : start + 2]):
            yield message.text


def private_texts(rubric: Rubric, task: Path) -> set[str]:
    """Return the texts of a rubric that the agent's part and the checklist do not hold too."""
    told = [rubric.metric_config, *(rubric.model_extra or {}).values()]
    if rubric.evaluation_metadata is not None:
        told.append(rubric.evaluation_metadata.model_dump())
    public = (task / "task_spec.yaml").read_text(encoding="utf-8").casefold()
    public += (assets() / "tasks" / "biaa" / "checklist.yaml").read_text().casefold()
    found = {part for text in _strings(told) for part in re.split(r"(?<=[.:;])\s+", text)}
    return {part for part in found if len(part) > 9 and part.casefold() not in public}


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield " ".join(value.split())
    elif isinstance(value, dict):
        for name, part in value.items():
            yield str(name)
            yield from _strings(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _strings(part)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_no_prompt_holds_what_is_private(task: Path, tmp_path: Path) -> None:
    capsule = tmp_path / task.name
    (capsule / "evaluation").mkdir(parents=True)
    for name in ("task_spec.yaml", "evaluation_rubric.yaml"):
        shutil.copy(task / name, capsule / name)
    rubric_file = capsule / "evaluation_rubric.yaml"
    rubric_file.write_text(f"# {CANARY}\n# {SUITE}\n{rubric_file.read_text()}")
    (capsule / "evaluation" / "secret_truth_731.csv").write_text(f"value\n{SECRET}\n")
    private = private_texts(load_rubric(capsule), capsule)
    private |= {SECRET, "secret_truth_731", "evaluation/", "evaluation_rubric"}
    prompts = list(prompts_of(capsule, submission_in(tmp_path / "submission", capsule)))
    for prompt in prompts:
        line = " ".join(prompt.split())
        assert not [text for text in private if text in line]
        assert not PATTERN.search(line)


def test_private_texts_are_found_where_they_are(tmp_path: Path) -> None:
    golgi = next(task for task in TASKS if "golgi" in task.name)
    private = private_texts(load_rubric(golgi), golgi)
    assert any("Mann-Whitney" in text for text in private)
    assert "expect_significant" in private


@pytest.mark.slow
def test_no_value_of_a_made_reference_is_in_a_prompt(tmp_path: Path, own_cache: Path) -> None:
    [capsule] = open_edition(tasks="*golgi*", recipe=Recipe(seed=7))
    assert capsule.evaluation_dir is not None
    [table] = capsule.evaluation_dir.glob("*.csv")
    values = {
        cell for cell in re.split(r"[,\s]+", table.read_text()) if re.match(r"0\.\d{4}", cell)
    }
    assert len(values) > 50
    submission = submission_in(tmp_path / "submission", capsule.path)
    assert capsule.rubric.vlm_anchors
    said = "\n".join(prompts_of(capsule.path, submission))
    assert not [value for value in values if value in said]
    assert table.stem not in said
