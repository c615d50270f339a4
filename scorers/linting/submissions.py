"""Which deliverables a submission has, and why the others are not there; nothing is scored.

Only the specification is read, which the agent knows, and the names of the input files: neither
the rubric nor the reference is opened.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scorers.files.deliverables import resolve
from scorers.grading import open_submission
from scorers.linting.findings import Finding
from scorers.linting.submitted import check_deliverable
from scorers.listing import Listing
from scorers.specification import load_spec

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from scorers.files.deliverables import Resolution
    from scorers.files.limits import Limits
    from scorers.specification import Deliverable

_MOST_LISTED = 50
_IMAGES = frozenset({".tif", ".tiff", ".png", ".jpg", ".jpeg", ".bmp", ".lsm", ".czi"})


@dataclass(frozen=True)
class Delivered:
    """What there is of one deliverable: `found` and `rejected` list the first files each."""

    id: str
    pattern: str
    required: bool
    count: int
    found: tuple[str, ...]
    rejected: tuple[dict[str, str], ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON-able mapping."""
        return {
            "id": self.id,
            "pattern": self.pattern,
            "required": self.required,
            "count": self.count,
            "found": list(self.found),
            "rejected": list(self.rejected),
        }


@dataclass(frozen=True)
class Checked:
    """What a check of a submission tells.

    Attributes
    ----------
    complete
        Whether each required deliverable has a file.
    findings
        What is wrong and how to mend it.
    """

    task_id: str
    complete: bool
    deliverables: tuple[Delivered, ...]
    findings: list[Finding] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON-able mapping."""
        return {
            "task_id": self.task_id,
            "complete": self.complete,
            "deliverables": [entry.to_json() for entry in self.deliverables],
            "findings": [finding.to_json() for finding in self.findings],
        }


def check_submission(task_dir: Path, submission_dir: Path, limits: Limits) -> Checked:
    """Check a submission as it lies, or its `artifacts/` where it holds a `submission.json`.

    Raises
    ------
    CapsuleFault
        The task's specification cannot be loaded.
    NotADirectoryError
        One of the folders does not exist.
    """
    for folder in (task_dir, submission_dir):
        if not folder.is_dir():
            raise NotADirectoryError(f"expected a folder, got {str(folder)!r}")
    spec = load_spec(task_dir)
    inputs = _images_in(task_dir / "input")
    with open_submission(submission_dir.resolve(), limits) as tree:
        resolution = resolve(spec, tree, limits)
        findings = [
            finding
            for deliverable in spec.deliverables
            for finding in check_deliverable(deliverable, resolution, tree, inputs)
        ]
        findings += [
            Finding(
                entry.path,
                "a plain file or folder",
                entry.reason,
                "put a regular file in its place, or remove it; it is not read",
                "warning",
            )
            for entry in tree.refused[:_MOST_LISTED]
        ]
        return Checked(
            spec.task_id,
            not resolution.missing,
            tuple(_delivered(spec.deliverables, resolution, limits)),
            findings,
        )


def _delivered(
    deliverables: Sequence[Deliverable], resolution: Resolution, limits: Limits
) -> list[Delivered]:
    room = Listing(limits.listed_bytes)
    told = []
    for deliverable in deliverables:
        files = resolution.found[deliverable.id]
        rejected = [
            {"file": row["file"], "reason": row["reason"]}
            for row in resolution.rejected
            if row["deliverable"] == deliverable.id
        ]
        told.append(
            Delivered(
                deliverable.id,
                deliverable.filename_pattern,
                deliverable.required,
                len(files),
                tuple(room.take(str(file.path) for file in files[:_MOST_LISTED])),
                tuple(room.take(rejected[:_MOST_LISTED])),
            )
        )
    return told


def _images_in(folder: Path) -> int:
    if not folder.is_dir():
        return 0
    return sum(path.suffix.lower() in _IMAGES for path in folder.rglob("*"))
