"""What is wrong with the declared deliverables of a specification."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from scorers.files.deliverables import SUPPORTING
from scorers.linting.findings import Finding

if TYPE_CHECKING:
    from scorers.specification import Deliverable, TaskSpec

_ONE = re.compile(r"\b(one|single|aggregated|a table)\b", re.IGNORECASE)
_CATCHES_ALL = frozenset({"*", "**", "*.*", "**/*", "*/*"})
# Columns are looked for in the first row of text; in such files there is none.
_NO_TEXT = (".tif", ".tiff", ".png", ".jpg", ".jpeg", ".bmp", ".npy", ".npz", ".xlsx", ".xls")
_NOT_INSIDE = ("artifacts", "output", "workspace")


def check_deliverables(name: str, spec: TaskSpec) -> list[Finding]:
    """Return what is wrong with the deliverables in a specification file of this name."""
    if not spec.deliverables:
        mend = "add at least one; a submission is graded by the files that are declared"
        return [Finding(f"{name}: deliverables", "a list of deliverables", "none", mend)]
    found = []
    first: dict[str, int] = {}
    for index, deliverable in enumerate(spec.deliverables):
        where = f"{name}: deliverables[{index}]"
        found += _pattern(f"{where}.filename_pattern", deliverable.filename_pattern)
        found += _columns(where, deliverable)
        found += _number(where, deliverable)
        pattern = deliverable.filename_pattern.lower()
        if first.setdefault(pattern, index) != index:
            found.append(
                Finding(
                    f"{where}.filename_pattern",
                    "a pattern of its own",
                    f"that of deliverables[{first[pattern]}], {pattern!r}",
                    "tell the files apart by a word in their names",
                )
            )
    return found


def _pattern(where: str, pattern: str) -> list[Finding]:
    expected, mend = _objection(pattern)
    if expected:
        return [Finding(where, expected, repr(pattern), mend)]
    if pattern in _CATCHES_ALL:
        mend = "add a word or an ending, as in *_seg.tif"
        return [
            Finding(where, "a pattern that some files do not fit", repr(pattern), mend, "warning")
        ]
    return []


def _objection(pattern: str) -> tuple[str, str]:
    """Return what would be expected of a pattern that can fit no file, and the mend."""
    parts = PurePosixPath(pattern).parts
    if pattern.startswith("/") or "\\" in pattern or ".." in parts:
        return "a path inside the output folder", "write it relative, with '/' between folders"
    if parts[0].lower() == SUPPORTING:
        return (
            f"a path outside {SUPPORTING}/, where no deliverable is looked for",
            "leave that folder out",
        )
    if len(parts) > 1 and parts[0].lower() in _NOT_INSIDE:
        return "a path from inside the output folder", f"leave {parts[0]!r} out"
    if "{" in pattern:
        return "a pattern of *, ? and [...]", "put * in the place of the braces"
    if pattern.count("[") != pattern.count("]"):
        return "brackets in pairs", "close the bracket or remove it"
    return "", ""


def _columns(where: str, deliverable: Deliverable) -> list[Finding]:
    ending = deliverable.filename_pattern.lower().rstrip("*?")
    if not deliverable.required_columns or not ending.endswith(_NO_TEXT):
        return []
    return [
        Finding(
            f"{where}.required_columns",
            "columns only for text tables such as *.csv",
            f"columns for {deliverable.filename_pattern!r}, so that every file would be rejected",
            "remove required_columns and describe them in the description, or ask for a CSV",
        )
    ]


def _number(where: str, deliverable: Deliverable) -> list[Finding]:
    """Tell a single required file of which the agent is not told that it is a single one."""
    told = f"{deliverable.description} {deliverable.format or ''}"
    if deliverable.multi or not deliverable.required or _ONE.search(told):
        return []
    return [
        Finding(
            f"{where}.description",
            "words that say that one file is wanted",
            "a description without 'one' or 'single', of which only the first match is read",
            "say how many files, or set multi: true",
            "warning",
        )
    ]
