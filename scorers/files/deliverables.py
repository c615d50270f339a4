"""Which submitted files are which declared deliverable, by the published rules.

A file is looked for by its pattern, then by the ending of its pattern, and screened by the
columns and the kind of image that the deliverable asks for. Two differences, both so that a grade
depends on nothing but the submission: links are not followed, and of the folder names that switch
the search by ending off (`input`, `raw`, …) only those inside the submission count.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.images import open_stack
from scorers.files.limits import Limits
from scorers.files.tables import read_header
from scorers.listing import Listing

if TYPE_CHECKING:
    from scorers.files.images import Stack
    from scorers.files.tree import SubmittedFile, Tree
    from scorers.specification import Deliverable, TaskSpec

DEFAULT = Limits()
SUPPORTING = "supporting"
_NO_OUTPUT = frozenset({"input", "inputs", "raw", "raw_input", "raw_inputs"})
_FAMILIES = ((".tif", ".tiff"), (".jpg", ".jpeg"), (".npy", ".npz"))
_MASK_WORDS = ("binary", "label", "instance", "mask")
_MASK_SUFFIXES = frozenset({".tif", ".tiff", ".png", ".jpg", ".jpeg", ".bmp"})

Rejected = dict[str, str]


class MissingDeliverable(SubmissionFault):
    """A required deliverable was not delivered.

    Attributes
    ----------
    id, pattern
        Of the deliverable.
    why
        `not found`, or `no conforming file` where files were found and all screened out.
    rejected
        Those files, each with its reason.
    """

    def __init__(self, deliverable: Deliverable, rejected: list[Rejected]) -> None:
        self.id = deliverable.id
        self.pattern = deliverable.filename_pattern
        self.why = "no conforming file" if rejected else "not found"
        self.rejected = rejected
        super().__init__(f"deliverable '{self.id}' {self.why}")

    def to_json(self) -> dict[str, Any]:
        """Return what the published evaluator tells under `missing_deliverable`."""
        told: dict[str, Any] = {
            "id": self.id,
            "reason": self.why,
            "filename_pattern": self.pattern,
        }
        return told | ({"rejected": self.rejected} if self.rejected else {})


@dataclass(frozen=True)
class Resolution:
    """What was found for each deliverable of a specification.

    Attributes
    ----------
    found
        Accepted files by deliverable id, in path order; empty where there is none.
    rejected
        Screened-out files as `{file, reason, deliverable}`.
    missing
        Required deliverables without a file as `{id, reason, filename_pattern, rejected?}`.
    """

    found: dict[str, tuple[SubmittedFile, ...]] = field(default_factory=dict)
    rejected: list[Rejected] = field(default_factory=list)
    missing: list[dict[str, Any]] = field(default_factory=list)
    faults: dict[str, MissingDeliverable] = field(default_factory=dict)

    def require(self, deliverable: str) -> tuple[SubmittedFile, ...]:
        """Return the files of a deliverable; empty only if it is optional.

        Raises
        ------
        MissingDeliverable
            It is required and has no file.
        CapsuleFault
            The specification declares no such deliverable.
        """
        if deliverable in self.faults:
            raise self.faults[deliverable]
        if deliverable not in self.found:
            declared = ", ".join(self.found) or "none"
            raise CapsuleFault(
                f"task_spec.yaml: deliverables: the grader reads a deliverable {deliverable!r}, "
                f"declared: {declared}; add it, or name another grader in evaluation_rubric.yaml"
            )
        return self.found[deliverable]

    def to_json(self, tree: Tree) -> dict[str, Any]:
        """Return the resolution with the tree's refused entries, as JSON-able mapping.

        Lists end where `listed_bytes` of the tree's limits are used up; `left_out` then says how
        many entries are not told.
        """
        told = Listing(tree.limits.listed_bytes)
        listed: dict[str, Any] = {
            "found": {
                key: told.take([str(file.path) for file in files])
                for key, files in self.found.items()
            },
            "rejected": told.take(self.rejected),
            "missing": [
                entry | ({"rejected": told.take(entry["rejected"])} if "rejected" in entry else {})
                for entry in self.missing
            ],
            "refused": told.take(
                [{"file": entry.path, "reason": entry.reason} for entry in tree.refused]
            ),
        }
        return listed | ({"left_out": told.left_out} if told.left_out else {})


def resolve(spec: TaskSpec, tree: Tree, limits: Limits = DEFAULT) -> Resolution:
    """Find the files of every deliverable of a specification in a tree (once for each tree)."""
    key = ("resolution", tuple(map(repr, spec.deliverables)), limits)
    if key not in tree.memo:
        tree.memo[key] = _resolve(spec, tree, limits)
    resolution: Resolution = tree.memo[key]
    return resolution


def name_for(pattern: str, stem: str, suffix: str = ".tif") -> str:
    """Return a file name that fits a deliverable's pattern: the stem's own, if that already does.

    >>> name_for("*_seg.tif*", "a_seg"), name_for("*mask*.tif*", "a")
    ('a_seg.tif', 'a_mask.tif')
    """
    if fnmatchcase(f"{stem}{suffix}".lower(), pattern.lower()):
        return stem + suffix
    front, star, rest = pattern.partition("*")
    if not star:
        return pattern
    joint = "_" if rest[:1].isalnum() else ""
    return front + stem + joint + rest.replace("*", "").replace("?", "")


def _resolve(spec: TaskSpec, tree: Tree, limits: Limits) -> Resolution:
    resolution = Resolution()
    files = [file for file in tree.files if file.path.parts[0] != SUPPORTING]
    for deliverable in spec.deliverables:
        accepted: list[SubmittedFile] = []
        rejected: list[Rejected] = []
        for file in _candidates(deliverable, files):
            reason = _objection(deliverable, file, limits)
            if reason is None:
                accepted.append(file)
                if not deliverable.multi:
                    break
            else:
                rejected.append({"file": str(file.path), "reason": reason})
        resolution.found[deliverable.id] = tuple(accepted)
        resolution.rejected.extend(row | {"deliverable": deliverable.id} for row in rejected)
        if deliverable.required and not accepted:
            fault = MissingDeliverable(deliverable, rejected)
            resolution.faults[deliverable.id] = fault
            resolution.missing.append(fault.to_json())
    return resolution


def _candidates(deliverable: Deliverable, files: list[SubmittedFile]) -> list[SubmittedFile]:
    pattern = deliverable.filename_pattern.lower()
    by_pattern = [
        file
        for file in files
        if fnmatchcase(file.name.lower(), pattern) or fnmatchcase(str(file.path).lower(), pattern)
    ]
    if by_pattern:
        return by_pattern
    ending = PurePosixPath(pattern.rstrip("*?")).suffix
    if not ending:
        return []
    endings = next((family for family in _FAMILIES if ending in family), (ending,))
    return [
        file
        for file in files
        if file.name.lower().endswith(endings)
        and _NO_OUTPUT.isdisjoint(part.lower() for part in file.path.parts)
    ]


def _objection(deliverable: Deliverable, file: SubmittedFile, limits: Limits) -> str | None:
    lacking = _lacking_columns(deliverable, file, limits)
    if lacking:
        return f"lacks the required columns {', '.join(lacking)}"
    wants_mask = any(word in (deliverable.format or "").lower() for word in _MASK_WORDS)
    if wants_mask and file.suffix in _MASK_SUFFIXES:
        return _no_mask(file, limits)
    return None


def _lacking_columns(deliverable: Deliverable, file: SubmittedFile, limits: Limits) -> list[str]:
    if not deliverable.required_columns:
        return []
    try:
        present = {cell.lower() for cell in read_header(file, limits)}
    except SubmissionFault:
        present = set()
    return [name for name in deliverable.required_columns if name.strip().lower() not in present]


def _no_mask(file: SubmittedFile, limits: Limits) -> str | None:
    """Return why an image cannot be a mask; None also for an unreadable one, which is graded."""
    try:
        with open_stack(file, limits) as stack:
            if len(stack.shape) == 3 and stack.shape[-1] in {3, 4}:
                return "a colour image where one channel of labels is expected"
            if stack.dtype.kind == "f" and _holds_probabilities(stack):
                return "probabilities between 0 and 1 where whole labels are expected"
    except SubmissionFault:
        return None
    return None


def _holds_probabilities(stack: Stack) -> bool:
    distinct: set[float] = set()
    for plane in stack.planes():
        values = plane[np.isfinite(plane)]
        if values.size and (values.min() < 0 or values.max() > 1):
            return False
        if len(distinct) <= 2:
            distinct.update(np.unique(values).tolist()[:4])
    return len(distinct) > 2
