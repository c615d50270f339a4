"""What is wrong with the data of a capsule: `input/` and `evaluation/`."""

from __future__ import annotations

import hashlib
import os
import stat
from collections import defaultdict
from fnmatch import fnmatch
from typing import TYPE_CHECKING

from scorers.linting.findings import Finding
from scorers.specification import RUBRIC_FILE
from scorers.strict_yaml import near

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scorers.specification import Rubric

_MOST_TOLD = 10
_HEAD_BYTES = 1 << 16
# A canary's notice, and files that are as short, may well be the same twice.
_LEAST_BYTES = 512


def check_data(root: Path, rubric: Rubric | None) -> list[Finding]:
    """Return what is wrong with the files of a capsule that holds its data."""
    needed = rubric is None or rubric.needs_reference
    found = _part(root, "input", needed=True) + _part(root, "evaluation", needed=needed)
    if rubric is not None:
        found += _named_reference(root / "evaluation", rubric)
    return found + _given_away(root)


def _part(root: Path, name: str, *, needed: bool) -> list[Finding]:
    folder = root / name
    if not folder.is_dir():
        return [_missing(root, name, "nothing")] if needed else []
    if not folder.resolve().is_relative_to(root.resolve()):
        mend = "move or copy the data into the capsule; the target does not exist in a container"
        return [Finding(f"{name}/", "a folder inside the capsule", "a link out of it", mend)]
    files = sorted(_files(folder))
    if needed and not any(path.is_file() for path in files):
        return [_missing(root, name, "an empty folder")]
    faults = (_unreadable(path, root, folder.resolve()) for path in files)
    return [fault for fault in faults if fault is not None][:_MOST_TOLD]


def _missing(root: Path, name: str, got: str) -> Finding:
    what = {"input": "the files that the agent gets", "evaluation": "the reference"}[name]
    folders = [path.name for path in root.iterdir() if path.is_dir() and path.name != name]
    hint = near(name, [*folders, *(folder.lower() for folder in folders)])
    if (root / f"{name}.zip").is_file():
        mend = f"unpack {name}.zip in the capsule's folder"
    elif hint:
        mend = f"rename the folder{hint}"
    elif name == "input":
        mend = "put the images there"
    else:
        mend = f"put it there, or set ground_truth_present: false in {RUBRIC_FILE}"
    return Finding(f"{name}/", what, got, mend)


def _files(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        linked = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        closed = [name for name in folders if not os.access(os.path.join(parent, name), os.R_OK)]
        yield from (folder / parent / name for name in {*names, *linked, *closed})


def _unreadable(path: Path, root: Path, folder: Path) -> Finding | None:
    where = path.relative_to(root).as_posix()
    if path.is_symlink() and not path.resolve().is_relative_to(folder):
        mend = "put a copy in its place; the target does not exist in a container"
        return Finding(where, "a file", f"a link to {os.readlink(path)}", mend)
    if not os.access(path, os.R_OK):
        return Finding(where, "a readable file or folder", "no permission", "chmod u+rX it")
    if not stat.S_ISREG(path.stat().st_mode):
        got = "a folder link, pipe or device"
        return Finding(where, "a regular file", got, "put a plain file in its place or remove it")
    return None


def _named_reference(folder: Path, rubric: Rubric) -> list[Finding]:
    metadata = rubric.evaluation_metadata
    if metadata is None or not metadata.ground_truth_file or not folder.is_dir():
        return []
    names = [path.name for path in _files(folder)]
    where = f"{RUBRIC_FILE}: evaluation_metadata.ground_truth_file"
    return [
        Finding(
            where,
            "the name or pattern of files in evaluation/",
            f"{pattern!r}, which fits none of {len(names)} files",
            f"correct it{near(pattern, names)}",
            "warning",
        )
        for pattern in map(str.strip, metadata.ground_truth_file.split(","))
        if names and not any(fnmatch(name, pattern) for name in names)
    ]


def _given_away(root: Path) -> list[Finding]:
    """Return a finding for each file of the reference that lies in the agent's input too."""
    sized: dict[int, dict[str, list[Path]]] = defaultdict(lambda: defaultdict(list))
    for part in ("input", "evaluation"):
        for path in sorted(_files(root / part)):
            if path.is_file() and os.access(path, os.R_OK):
                sized[path.stat().st_size][part].append(path)
    found = []
    for size, parts in sized.items():
        if size < _LEAST_BYTES or len(parts) < 2:
            continue
        given = {_digest(path): path for path in parts["input"]}
        for path in parts["evaluation"]:
            same = given.get(_digest(path))
            if same is not None:
                got = f"{same.relative_to(root).as_posix()}, the same bytes"
                where = path.relative_to(root).as_posix()
                mend = "take it out of input/, which the agent reads"
                found.append(Finding(where, "a reference that the agent has not", got, mend))
    return found[:_MOST_TOLD]


def _digest(path: Path) -> bytes:
    """Return what tells files of one size apart: their first and last bytes."""
    with path.open("rb") as opened:
        head = opened.read(_HEAD_BYTES)
        opened.seek(max(0, path.stat().st_size - _HEAD_BYTES))
        return hashlib.sha256(head + opened.read()).digest()
