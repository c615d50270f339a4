"""What is wrong with one task folder: a capsule, or a folder that makes its own data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorers.errors import CapsuleFault
from scorers.linting.findings import Finding, findings_of
from scorers.linting.folders import check_data
from scorers.linting.programs import SIMULATOR, check_programs
from scorers.linting.rubrics import check_rubric
from scorers.linting.specs import check_spec
from scorers.rubric.checklist import load_checklist
from scorers.specification import RUBRIC_FILE, SPEC_FILE
from scorers.strict_yaml import near

if TYPE_CHECKING:
    from pathlib import Path

    from scorers.rubric.checklist import Checklist
    from scorers.specification import Rubric, TaskSpec

CHECKLIST_FILE = "checklist.yaml"
DIMENSIONS = ("2d", "3d", "2dt", "3dt")


def check_capsule(root: Path, checklist: Path | None = None) -> list[Finding]:
    """Return what is wrong with a task folder; nothing of it is run, and no image is opened.

    Parameters
    ----------
    root
        A capsule; without `input/` and `evaluation/` where it has a `simulate.py`.
    checklist
        The checklist that rubrics select from; by default `checklist.yaml` beside or in the
        folder, if there is one.
    """
    items, found = _checklist(root, checklist)
    spec, rubric, told = _pair(root, SPEC_FILE, RUBRIC_FILE, items)
    found += told
    if spec is not None:
        found += _name(root, spec)
    found += _siblings(root, items)
    found += check_programs(root)
    if not (root / SIMULATOR).is_file() or (root / "input").is_dir():
        found += check_data(root, rubric)
    # A rubric that serves a sibling as well is told of once.
    return list(dict.fromkeys(found))


def _checklist(root: Path, path: Path | None) -> tuple[Checklist | None, list[Finding]]:
    places = [path] if path is not None else [root / CHECKLIST_FILE, root.parent / CHECKLIST_FILE]
    present = [place for place in places if path is not None or place.is_file()]
    if not present:
        return None, []
    try:
        return load_checklist(present[0]), []
    except CapsuleFault as fault:
        return None, findings_of(fault, root.parent)


def _pair(
    root: Path, spec_file: str, rubric_file: str, checklist: Checklist | None
) -> tuple[TaskSpec | None, Rubric | None, list[Finding]]:
    spec, found = check_spec(root / spec_file, root)
    rubric, told = check_rubric(root / rubric_file, root, spec, checklist)
    return spec, rubric, found + told


def _name(root: Path, spec: TaskSpec) -> list[Finding]:
    """Tell a folder whose name is not the task's, a digest or a seed after it aside."""
    name = root.resolve().name
    if name == spec.task_id or name.startswith(f"{spec.task_id}-"):
        return []
    where, expected = f"{SPEC_FILE}: task_id", f"the folder's name, {name!r}"
    mend = "rename the folder or the task"
    return [Finding(where, expected, repr(spec.task_id), mend, "warning")]


def _siblings(root: Path, checklist: Checklist | None) -> list[Finding]:
    found: list[Finding] = []
    specs = _by_dimensions(root, SPEC_FILE)
    rubrics = _by_dimensions(root, RUBRIC_FILE)
    for dims, name in specs.items():
        if dims not in DIMENSIONS:
            expected = f"a sibling's dimensions: {', '.join(DIMENSIONS)}"
            mend = f"rename the file{near(dims, DIMENSIONS)}"
            found.append(Finding(name, expected, repr(dims), mend))
            continue
        if not (root / SIMULATOR).is_file():
            mend = f"add {SIMULATOR}, or remove the sibling"
            found.append(Finding(name, f"a {SIMULATOR} that makes the sibling", "none", mend))
        found += _pair(root, name, rubrics.get(dims, RUBRIC_FILE), checklist)[2]
    for dims, name in rubrics.items():
        if dims not in specs:
            wanted = SPEC_FILE.replace(".", f".{dims}.", 1)
            mend = f"add {wanted} or remove the rubric, which nothing reads"
            found.append(Finding(name, f"{wanted} beside it", "none", mend))
    return found


def _by_dimensions(root: Path, name: str) -> dict[str, str]:
    stem, suffix = name.rsplit(".", 1)
    return {
        path.name.removeprefix(f"{stem}.").removesuffix(f".{suffix}"): path.name
        for path in sorted(root.glob(f"{stem}.*.{suffix}"))
    }
