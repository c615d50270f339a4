"""Find out what a path is, and check it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evals.assets import assets
from evals.errors import CapsuleInvalidError, DataMissingError, EvalsError
from evals.names import unknown
from scorers.errors import CapsuleFault
from scorers.grading import MANIFEST as SUBMISSION
from scorers.linting.capsules import CHECKLIST_FILE, check_capsule
from scorers.linting.editions import capsules_in, check_manifest, is_capsule
from scorers.linting.findings import Finding
from scorers.specification import RUBRIC_FILE, SPEC_FILE, load_spec

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from scorers.linting.submissions import Checked


@dataclass(frozen=True)
class Report:
    """What was checked, and what is wrong with it.

    Attributes:
        name: The folder's own name.
        kind: `capsule`, `edition` or `submission`.
        checked: Of a submission: which deliverables are found.
    """

    name: str
    kind: str
    findings: Sequence[Finding]
    checked: Checked | None = None

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong that breaks the task or loses a required deliverable."""
        complete = self.checked is None or self.checked.complete
        return complete and all(finding.severity != "error" for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Return the report as a JSON-able mapping."""
        told = {
            "name": self.name,
            "kind": self.kind,
            "sound": self.sound,
            "findings": [finding.to_json() for finding in self.findings],
        }
        if self.checked is not None:
            told["deliverables"] = [entry.to_json() for entry in self.checked.deliverables]
        return told


def validate(path: Path, task: str | None = None) -> list[Report]:
    """Check a capsule, a folder of capsules, or a submission.

    Args:
        path: The folder.
        task: Id of a shipped task, or folder of a task, that `path` is a submission to. A
            submission with a `submission.json` needs none if its task ships.

    Raises:
        DataMissingError: There is no such folder, or nothing in it that could be checked.
        UnknownNameError: There is no such task.
    """
    if not path.is_dir():
        kind = "a file" if path.exists() else "nothing"
        raise DataMissingError(
            f"{path}: expected a folder, got {kind}. Mend: give a capsule, a folder of capsules, "
            "or a submission."
        )
    path = path.resolve()
    if task is not None or (path / SUBMISSION).is_file():
        return [_submission(path, task)]
    if is_capsule(path):
        return [_capsule(path)]
    folders = capsules_in(path)
    if not folders:
        raise DataMissingError(
            f"{path}: expected {SPEC_FILE} and {RUBRIC_FILE}, folders with them, or a "
            f"{SUBMISSION}, got none. Mend: for a submission without {SUBMISSION} give its task "
            "with --task."
        )
    manifest = check_manifest(path)
    first = [Report(path.name, "edition", manifest)] if manifest else []
    return first + [_capsule(folder) for folder in folders]


def _capsule(folder: Path) -> Report:
    # Users' capsules are judged with the checklist of the suite.
    checklist = assets() / "tasks" / "biaa" / CHECKLIST_FILE
    return Report(folder.name, "capsule", check_capsule(folder, checklist))


def _submission(folder: Path, task: str | None) -> Report:
    found, told = _manifest(folder)
    place = _task_folder(task or told)
    checked = _check(place, folder)
    return Report(folder.name, "submission", [*found, *checked.findings], checked)


def _check(task: Path, folder: Path) -> Checked:
    """Check a submission in a process with limits: nobody knows who wrote its files."""
    import anyio

    from evals.scoring.run_grader import GRADER_TIMEOUT, ask_child
    from evals.validation.told import CHECK, MOST_BYTES, read_check

    try:
        task_id = load_spec(task).task_id
    except CapsuleFault as fault:
        raise CapsuleInvalidError(str(fault)) from fault

    async def ask() -> str:
        return await ask_child(
            [*CHECK], task, folder, task_id, timeout=GRADER_TIMEOUT, most_bytes=MOST_BYTES
        )

    return read_check(anyio.run(ask), task_id)


def _manifest(folder: Path) -> tuple[list[Finding], str | None]:
    """Return what is wrong with a `submission.json`, and which task it names."""
    from evals.submissions.finding import find_in_folder
    from evals.submissions.zips import ZipLimits

    if not (folder / SUBMISSION).is_file():
        return [], None
    [submission] = [
        each for each in find_in_folder(folder, ZipLimits()).submissions if each.place == folder
    ]
    found = [
        Finding(SUBMISSION, "what the published schema asks for", fault, "correct the field")
        for fault in submission.faults
    ]
    return found, submission.manifest.task_id


def _task_folder(task: str | None) -> Path:
    from pathlib import Path

    if task is None:
        raise EvalsError("A submission whose task is not told. Mend: give it with --task.")
    given = Path(task).expanduser()
    if is_capsule(given):
        return given.resolve()
    shipped = {path.parent.name: path.parent for path in assets().glob(f"tasks/*/*/{SPEC_FILE}")}
    if task not in shipped:
        raise unknown("task id", task, shipped)
    return shipped[task]
