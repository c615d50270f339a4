"""Broken task folders: each fault is told where it is, and how to mend it."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from scorers.linting.capsules import check_capsule

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SPEC, RUBRIC = "task_spec.yaml", "evaluation_rubric.yaml"


@dataclass(frozen=True)
class Broken:
    """One way to break a sound capsule, and what must be told of it."""

    fault: str
    breaks: Callable[[Path], object]
    where: str
    mend: str
    severity: str = "error"


def replaced(name: str, old: str, new: str) -> Callable[[Path], object]:
    """Return what replaces a text in a file, once."""

    def breaks(root: Path) -> None:
        text = (root / name).read_text(encoding="utf-8")
        assert old in text
        (root / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    return breaks


def added(name: str, text: str) -> Callable[[Path], object]:
    """Return what appends a text to a file, which may be new."""

    def breaks(root: Path) -> None:
        with (root / name).open("a", encoding="utf-8") as opened:
            opened.write(text)

    return breaks


def emptied(root: Path) -> None:
    for path in (root / "input").iterdir():
        path.unlink()


def linked_out(root: Path) -> None:
    outside = root.parent / "elsewhere.tif"
    shutil.move(root / "input" / "a.tif", outside)
    (root / "input" / "a.tif").symlink_to(outside)


def linked_folder(root: Path) -> None:
    shutil.move(root / "input", root.parent / "images")
    (root / "input").symlink_to(root.parent / "images")


def zipped(root: Path) -> None:
    shutil.rmtree(root / "evaluation")
    (root / "evaluation.zip").write_bytes(b"PK")


def with_pipe(root: Path) -> None:
    os.mkfifo(root / "input" / "b.tif")


def given_away(root: Path) -> None:
    shutil.copy(root / "evaluation" / "a_seg.tif", root / "input" / "hint.tif")


def renamed(old: str, new: str) -> Callable[[Path], object]:
    """Return what renames an entry of the capsule."""
    return lambda root: (root / old).rename(root / new)


DELIVERABLES = f"{SPEC}: deliverables"
CONFIG = f"{RUBRIC}: metric_config"
CANARY = "# evals-canary-6d7be0a4-3f0c-5a55-9c0e-0a1c4c8be1f7\n"
PATTERN = 'filename_pattern: "*_seg.tif*"'


def pattern(wrong: str) -> Callable[[Path], object]:
    """Return what puts another pattern in the place of the masks'."""
    return replaced(SPEC, PATTERN, f"filename_pattern: '{wrong}'")


CASES = [
    Broken("no specification", lambda root: (root / SPEC).unlink(), SPEC, "add the file"),
    Broken("no rubric", lambda root: (root / RUBRIC).unlink(), RUBRIC, "add the file"),
    Broken(
        "no YAML",
        replaced(SPEC, "task_id: my-cells", "task_id: my: cells"),
        f"{SPEC}: line 1",
        "quote",
    ),
    Broken("no mapping", lambda root: (root / SPEC).write_text("- a\n"), SPEC, "first column"),
    Broken(
        "a key twice",
        added(SPEC, "task_id: my-cells\n"),
        f"{SPEC}: line 24",
        "remove one of them",
    ),
    Broken("a missing key", replaced(SPEC, "task_id: my-cells\n", ""), "task_id", "add 'task_id:'"),
    Broken(
        "a mistyped key",
        replaced(SPEC, "deliverables:", "deliverable:"),
        SPEC,
        "did you mean 'deliverables'?",
    ),
    Broken("a strange key", added(SPEC, "colour: red\n"), SPEC, "remove 'colour'", "warning"),
    Broken(
        "an empty instruction",
        replaced(SPEC, "basic_instructions: Outline the cells.", "basic_instructions: ''"),
        f"{SPEC}: task_logic.basic_instructions",
        "write it",
    ),
    Broken(
        "scoring in the agent's file",
        added(SPEC, "metric_config: {}\n"),
        f"{SPEC}: metric_config",
        f"move it into {RUBRIC}",
    ),
    Broken(
        "the evaluation in the agent's file", added(SPEC, "evaluation: {}\n"), SPEC, "move it into"
    ),
    Broken(
        "an expected output",
        replaced(SPEC, "  sub_tasks: []", "  expected_output: masks"),
        f"{SPEC}: task_logic",
        "under deliverables",
    ),
    Broken(
        "a kind of task that is not known",
        replaced(SPEC, "primary_task: segmentation", "primary_task: segmentaton"),
        f"{SPEC}: task_logic.primary_task",
        "did you mean 'segmentation'?",
        "warning",
    ),
    Broken(
        "dimensions in other words",
        replaced(SPEC, '"2D"', "planar"),
        f"{SPEC}: input.spatial_dimensions",
        "begin with one of them",
    ),
    Broken(
        "channels in words",
        replaced(SPEC, "n_channels: 1", "n_channels: two"),
        f"{SPEC}: input.n_channels",
        "write the number",
    ),
    Broken(
        "a folder with another name",
        replaced(SPEC, "my-cells", "your-cells"),
        f"{SPEC}: task_id",
        "rename the folder or the task",
        "warning",
    ),
    Broken(
        "a word of the private part",
        replaced(SPEC, "by a watershed", "as in evaluation/a_seg.tif"),
        f"{SPEC}: task_logic.expert_instructions",
        "remove it",
    ),
    Broken("a canary that the agent sees", added(SPEC, CANARY), SPEC, "it belongs into"),
    Broken(
        "a mistyped key of a deliverable",
        replaced(SPEC, "multi: true", "mutli: true"),
        f"{DELIVERABLES}[0]",
        "did you mean 'multi'?",
    ),
    Broken(
        "one id twice",
        replaced(SPEC, "id: cell_table", "id: segmentation_masks"),
        DELIVERABLES,
        "give deliverables[1] another id",
    ),
    Broken(
        "one pattern twice",
        replaced(SPEC, '"*cells*.csv"', '"*_SEG.tif*"'),
        f"{DELIVERABLES}[1].filename_pattern",
        "tell the files apart",
    ),
    Broken("an absolute pattern", pattern("/out/*.tif"), "filename_pattern", "write it relative"),
    Broken("a pattern upwards", pattern("../*.tif"), "filename_pattern", "write it relative"),
    Broken("braces", pattern("{stem}_seg.tif"), "filename_pattern", "in the place of the braces"),
    Broken("a bracket left open", pattern("[ab_seg.tif"), "filename_pattern", "close the bracket"),
    Broken(
        "a pattern where nothing is looked for",
        pattern("supporting/*.tif"),
        "filename_pattern",
        "leave that folder out",
    ),
    Broken("the output folder", pattern("output/*.tif"), "filename_pattern", "leave 'output' out"),
    Broken("a pattern for all", pattern("*"), "filename_pattern", "add a word", "warning"),
    Broken(
        "columns of an image",
        replaced(SPEC, PATTERN, f"{PATTERN}\n    required_columns: [area]"),
        f"{DELIVERABLES}[0].required_columns",
        "remove required_columns",
    ),
    Broken(
        "one file of which nobody is told",
        replaced(
            SPEC,
            'One table of all cells.\n    filename_pattern: "*cells*.csv"\n    required: false',
            'All cells.\n    filename_pattern: "*cells*.csv"\n    required: true',
        ),
        f"{DELIVERABLES}[1].description",
        "say how many files",
        "warning",
    ),
    Broken(
        "a grader that is not known",
        replaced(RUBRIC, "grader: instance", "grader: instances"),
        f"{RUBRIC}: grader",
        "did you mean 'instance'?",
    ),
    Broken("no grader", replaced(RUBRIC, "grader: instance\n", ""), "grader", "add 'grader: …'"),
    Broken(
        "a deliverable that the grader misses",
        replaced(SPEC, "id: segmentation_masks", "id: segmentation_mask"),
        DELIVERABLES,
        "did you mean 'segmentation_mask'?",
    ),
    Broken(
        "another task's rubric",
        added(RUBRIC, "task_id: your-cells\n"),
        f"{RUBRIC}: task_id",
        "write the same id in both",
    ),
    Broken(
        "a mistyped key of the rubric",
        replaced(RUBRIC, "checklist_filter:", "checklist_filters:"),
        RUBRIC,
        "did you mean 'checklist_filter'?",
    ),
    Broken(
        "a mistyped setting",
        replaced(RUBRIC, "result_pass_threshold", "result_pass_treshold"),
        f"{CONFIG}.result_pass_treshold",
        "'result_pass_threshold' keeps its default",
    ),
    Broken(
        "a threshold in per cent",
        replaced(RUBRIC, "result_pass_threshold: 0.5", "result_pass_threshold: 50"),
        "metric_config",
        "write a number such as 0.5",
    ),
    Broken(
        "a metric that is not promised",
        replaced(RUBRIC, "primary_metric: dice", "primary_metric: dise"),
        f"{CONFIG}.primary_metric",
        "did you mean 'dice'?",
    ),
    Broken(
        "a level that is not known",
        replaced(RUBRIC, "visualization_level: basic", "visualization_level: advance"),
        f"{RUBRIC}: checklist_filter.visualization_level",
        "did you mean 'advanced'?",
    ),
    Broken(
        "a keyword that selects nothing",
        replaced(RUBRIC, "[segmentation,", "[segmentations,"),
        f"{RUBRIC}: checklist_filter.include_keywords",
        "did you mean 'segmentation'?",
    ),
    Broken(
        "a reference folder of another name",
        replaced(RUBRIC, "folder: evaluation", "folder: truth"),
        f"{RUBRIC}: evaluation_metadata.folder",
        "write evaluation",
    ),
    Broken(
        "a structure that is not known",
        replaced(RUBRIC, "pixel-aligned-labels", "pixel-aligned-label"),
        f"{RUBRIC}: evaluation_metadata.structure",
        "did you mean 'pixel-aligned-labels'?",
        "warning",
    ),
    Broken(
        "an old key",
        replaced(RUBRIC, "ground_truth_file:", "ground_truth_filename:"),
        f"{RUBRIC}: evaluation_metadata",
        "now 'ground_truth_file'",
    ),
    Broken(
        "a reference of another name",
        replaced(RUBRIC, '"*_seg.tif"', "b_seg.tif"),
        f"{RUBRIC}: evaluation_metadata.ground_truth_file",
        "did you mean 'a_seg.tif'?",
        "warning",
    ),
    Broken("an empty input", emptied, "input/", "put the images there"),
    Broken("a reference left zipped", zipped, "evaluation/", "unpack evaluation.zip"),
    Broken(
        "a folder of a near name",
        renamed("evaluation", "Evaluation"),
        "evaluation/",
        "rename the folder",
    ),
    Broken("a file that lies elsewhere", linked_out, "input/a.tif", "put a copy in its place"),
    Broken("a folder that lies elsewhere", linked_folder, "input/", "copy the data into"),
    Broken("a pipe", with_pipe, "input/b.tif", "put a plain file"),
    Broken(
        "the reference in the input", given_away, "evaluation/a_seg.tif", "take it out of input/"
    ),
    Broken(
        "a solution of another name",
        renamed("solution/solve.py", "solution/solver.py"),
        "solution/solve.py",
        "did you mean 'solver.py'?",
    ),
    Broken(
        "a solution that is no Python",
        added("solution/solve.py", "def (:\n"),
        "solution/solve.py, line 2",
        "correct it",
    ),
    Broken(
        "a simulator without its function",
        replaced("simulate.py", "def simulate(", "def simulates("),
        "simulate.py",
        "did you mean 'simulates'?",
    ),
    Broken(
        "a simulator without an option",
        replaced("simulate.py", "difficulty=", "difficult="),
        "simulate.py: simulate",
        "did you mean 'difficult'?",
    ),
    Broken(
        "a sibling of dimensions that are not known",
        lambda root: shutil.copy(root / SPEC, root / "task_spec.2dd.yaml"),
        "task_spec.2dd.yaml",
        "did you mean '2d'?",
    ),
    Broken(
        "a sibling's rubric alone",
        lambda root: shutil.copy(root / RUBRIC, root / "evaluation_rubric.2d.yaml"),
        "evaluation_rubric.2d.yaml",
        "add task_spec.2d.yaml",
    ),
    Broken(
        "a sibling that nothing makes",
        lambda root: (root / "simulate.py").rename(root / "task_spec.3d.yaml"),
        "task_spec.3d.yaml",
        "add simulate.py",
    ),
]


def test_nothing_is_wrong_with_a_sound_capsule(sound: Path) -> None:
    assert check_capsule(sound) == []


@pytest.mark.parametrize("broken", CASES, ids=lambda broken: broken.fault.replace(" ", "-"))
def test_a_fault_is_told_with_its_place_and_its_mend(sound: Path, broken: Broken) -> None:
    broken.breaks(sound)
    found = check_capsule(sound)
    told = [
        finding
        for finding in found
        if broken.where in finding.where
        and broken.mend in finding.mend
        and finding.severity == broken.severity
    ]
    assert len(told) == 1, [finding.text for finding in found]


def test_data_are_not_asked_for_where_a_simulator_makes_them(sound: Path) -> None:
    shutil.rmtree(sound / "input")
    shutil.rmtree(sound / "evaluation")
    assert check_capsule(sound) == []


def test_a_capsule_without_reference_may_say_so(sound: Path) -> None:
    shutil.rmtree(sound / "evaluation")
    text = (sound / RUBRIC).read_text(encoding="utf-8")
    (sound / RUBRIC).write_text(
        text.replace("folder: evaluation", "ground_truth_present: false"), encoding="utf-8"
    )
    assert check_capsule(sound) == []


def test_several_faults_are_told_at_once(sound: Path) -> None:
    replaced(SPEC, "n_channels: 1", "n_channels: 0")(sound)
    replaced(RUBRIC, "grader: instance", "grader: instant")(sound)
    emptied(sound)
    assert {finding.where for finding in check_capsule(sound)} == {
        f"{SPEC}: input.n_channels",
        f"{RUBRIC}: grader",
        "input/",
    }
