"""What is wrong with the files of one deliverable, or why there are none."""

from __future__ import annotations

import difflib
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from scorers.errors import SubmissionFault
from scorers.files.deliverables import SUPPORTING, name_for
from scorers.files.images import open_stack
from scorers.files.tables import read_header
from scorers.linting.findings import Finding, Severity
from scorers.strict_yaml import near

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import PurePosixPath

    from scorers.files.deliverables import Resolution
    from scorers.files.tree import SubmittedFile, Tree
    from scorers.specification import Deliverable

_MOST_OPENED = 200
_MOST_TOLD = 20
_MOST_COLUMNS = 12
_OVERMATCH = 3
_IMAGES = frozenset({".tif", ".tiff", ".png", ".jpg", ".jpeg", ".bmp"})
_MENDS = {
    "a colour image": "save one channel with a whole number for each object, 0 for the background",
    "probabilities": "threshold them and save whole numbers, 0 for the background",
}


def check_deliverable(
    deliverable: Deliverable, resolution: Resolution, tree: Tree, inputs: int
) -> Iterator[Finding]:
    """Yield what is wrong with the files of a deliverable; `inputs` counts the input images."""
    found = resolution.found[deliverable.id]
    files = {str(file.path): file for file in tree.files}
    others = {
        str(file.path)
        for name, taken in resolution.found.items()
        for file in taken
        if name != deliverable.id
    }
    # By its ending alone the file of another deliverable is a candidate too.
    rejected = [
        row
        for row in resolution.rejected
        if row["deliverable"] == deliverable.id
        and (row["file"] not in others or _fits(files[row["file"]].path, deliverable))
    ]
    lost: Severity = "error" if deliverable.required and not found else "warning"
    for row in rejected[:_MOST_TOLD]:
        yield _rejected(deliverable, files[row["file"]], row["reason"], lost)
    if not found and not rejected and deliverable.required:
        yield _missing(deliverable, tree)
    if deliverable.required or not others.issuperset(str(file.path) for file in found):
        yield from _naming(deliverable, found)
    yield from _number(deliverable, found, tree, inputs)
    for file in found[:_MOST_OPENED]:
        yield from _content(deliverable, file, tree)


def _rejected(
    deliverable: Deliverable, file: SubmittedFile, reason: str, severity: Severity
) -> Finding:
    where = f"{deliverable.id}: {file.path}"
    if deliverable.required_columns and reason.startswith("lacks"):
        return _columns(deliverable, file, where, severity)
    mend = next((text for start, text in _MENDS.items() if reason.startswith(start)), "correct it")
    return Finding(where, "an image of labels", reason, mend, severity)


def _columns(
    deliverable: Deliverable, file: SubmittedFile, where: str, severity: Severity
) -> Finding:
    try:
        header = read_header(file)
    except SubmissionFault as fault:
        return Finding(where, "a table of text", str(fault), "write it as CSV in UTF-8", severity)
    wanted = deliverable.required_columns
    present = {cell.lower() for cell in header}
    lacking = [name for name in wanted if name.strip().lower() not in present]
    hints = "; ".join(f"{name!r}{near(name, header)}" for name in lacking)
    shown = ", ".join(cell[:40] for cell in header[:_MOST_COLUMNS]) or "none"
    more = ", …" if len(header) > _MOST_COLUMNS else ""
    expected = f"the columns {', '.join(wanted)} in the first row, parted by commas"
    return Finding(where, expected, f"{shown}{more}", f"add or rename {hints}", severity)


def _missing(deliverable: Deliverable, tree: Tree) -> Finding:
    pattern = deliverable.filename_pattern
    expected = f"a file whose name fits {pattern}"
    aside = [
        file
        for file in tree.files
        if file.path.parts[0] == SUPPORTING and _fits(file.path, deliverable)
    ]
    if aside:
        mend = f"move it out of {SUPPORTING}/, where no deliverable is looked for"
        return Finding(deliverable.id, expected, str(aside[0].path), mend)
    names = [file.name for file in tree.files]
    bare = pattern.replace("*", "").replace("?", "")
    close = difflib.get_close_matches(bare, names, n=1, cutoff=0.5)
    if not close:
        got = f"none among {len(names)} files" if names else "no file at all"
        mend = f"write it to the output folder, for example as {name_for(pattern, 'result', '')}"
        return Finding(deliverable.id, expected, got, mend)
    mend = f"rename it, if it is meant, so that it fits {pattern}"
    return Finding(deliverable.id, expected, f"at the nearest {close[0]!r}", mend)


def _naming(deliverable: Deliverable, found: Sequence[SubmittedFile]) -> Iterator[Finding]:
    pattern = deliverable.filename_pattern
    astray = [file for file in found if not _fits(file.path, deliverable)]
    if astray:
        got = f"{len(astray)} found by their ending only, such as {astray[0].path}"
        mend = "rename them, since other files of this ending are taken as well"
        yield Finding(deliverable.id, f"names that fit {pattern}", got, mend, "warning")


def _number(
    deliverable: Deliverable, found: Sequence[SubmittedFile], tree: Tree, inputs: int
) -> Iterator[Finding]:
    if found and not deliverable.multi:
        others = [
            file
            for file in tree.files
            if file != found[0]
            and file.path.parts[0] != SUPPORTING
            and _fits(file.path, deliverable)
        ]
        if others:
            got = f"{1 + len(others)}, of which only {found[0].path} is read"
            mend = f"put all into one file, or move the others to {SUPPORTING}/"
            yield Finding(deliverable.id, "one file", got, mend, "warning")
    elif inputs and len(found) > _OVERMATCH * inputs:
        mend = f"move files that are no results to {SUPPORTING}/"
        expected = f"about as many files as the {inputs} input images"
        yield Finding(deliverable.id, expected, str(len(found)), mend, "warning")


def _content(deliverable: Deliverable, file: SubmittedFile, tree: Tree) -> Iterator[Finding]:
    where = f"{deliverable.id}: {file.path}"
    if file.size == 0:
        yield Finding(where, "content", "an empty file", "write the result into it")
    elif file.suffix in _IMAGES:
        try:
            with open_stack(file, tree.limits):
                pass
        except SubmissionFault as fault:
            yield Finding(where, "an image that can be read", str(fault), "write the file anew")


def _fits(path: PurePosixPath, deliverable: Deliverable) -> bool:
    wanted = deliverable.filename_pattern.lower()
    return fnmatchcase(path.name.lower(), wanted) or fnmatchcase(str(path).lower(), wanted)
