"""Look for submissions in a folder or an archive."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from evals.errors import DataMissingError
from evals.submissions.claims import MANIFEST_BYTES, Manifest, read_manifest
from evals.submissions.submission import Submission
from evals.submissions.zips import SubmissionRefused, Zip, ZipLimits, open_zip
from evals.workspace.take import shown
from scorers.files.opening import FILE_FLAGS
from scorers.grading import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DEEPEST = 8
_MOST_FOLDERS = 100_000
# `<agent>__<session>__<task>.zip` as exported, `<task>__<agent>__<run>.zip` as taken in.
_JOINT = "__"


@dataclass
class Finds:
    """What was found.

    Attributes
    ----------
    refused
        Archives that were not opened, each with the reason.
    """

    submissions: list[Submission] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)


def find_in_folder(root: Path, limits: ZipLimits) -> Finds:
    """Return the submissions below a folder; links are not followed.

    Raises:
        DataMissingError: A folder cannot be read, or there are too many.
    """
    finds = Finds()
    for parent, folders, files in _walk(root):
        name = parent.relative_to(root).as_posix()
        if MANIFEST in files:
            folders.clear()
            finds.submissions.append(_told_of(parent.name if name == "." else name, parent))
            continue
        for file in files:
            # Deeper down, a zip that is not called as exported may be somebody's deliverable.
            if file.casefold().endswith(".zip") and (name == "." or _JOINT in file):
                inner = file if name == "." else f"{name}/{file}"
                _look_into(parent / file, inner, limits, finds)
    if not any(each.place == root for each in finds.submissions):
        finds.submissions += _plain_folders(root, finds)
    return finds


def find_in_zip(path: Path, limits: ZipLimits) -> Finds:
    """Return the submissions in an archive, or why it is not opened."""
    finds = Finds()
    _look_into(path, path.name, limits, finds)
    return finds


def _walk(root: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    for number, (parent, folders, files) in enumerate(os.walk(root, onerror=_unreadable)):
        if number >= _MOST_FOLDERS:
            raise DataMissingError(
                f"{root}: expected a folder of submissions, got more than {_MOST_FOLDERS} folders."
                " Mend: give the folder that holds the submissions."
            )
        folders.sort()
        yield Path(parent), folders, sorted(files)
        if len(Path(parent).relative_to(root).parts) >= _DEEPEST:
            folders.clear()


def _unreadable(error: OSError) -> None:
    raise DataMissingError(
        f"{error.filename}: expected a readable folder, got {error.strerror}. Mend: chmod u+rx"
        f" '{error.filename}'."
    ) from error


def _plain_folders(root: Path, finds: Finds) -> list[Submission]:
    """Return the folders right below `root` in which nothing else was found."""
    names = [each.name for each in finds.submissions] + [name for name, _ in finds.refused]
    known = {name.partition("/")[0] for name in names}
    plain = [path for path in sorted(root.iterdir()) if path.is_dir() and not path.is_symlink()]
    return [
        Submission(path.name, (path.name,), path)
        for path in plain
        if path.name not in known and not path.name.startswith(".")
    ]


def _look_into(path: Path, name: str, limits: ZipLimits, finds: Finds) -> None:
    """Add the submissions in an archive."""
    try:
        archive = open_zip(path, limits)
    except SubmissionRefused as fault:
        finds.refused.append((shown(name), fault.message))
        return
    roots = _roots(archive.files)
    inside = [_told_of(f"{name}/{root}".rstrip("/"), archive, root) for root in roots]
    if "" not in roots:
        taken = {root.partition("/")[0] for root in roots}
        tops = {file.partition("/")[0] for file in archive.files if "/" in file}
        inside += [
            Submission(shown(f"{name}/{top}"), (top,), archive, top) for top in sorted(tops - taken)
        ]
    finds.submissions += inside or [Submission(name, _parts(path.stem), archive)]


def _roots(files: Iterable[str]) -> list[str]:
    """Return the folders with a manifest that lie in no other such folder."""
    paths = [file.rpartition("/") for file in files]
    roots: list[str] = []
    for folder in sorted(folder for folder, _, name in paths if name == MANIFEST):
        if not any(root == "" or folder.startswith(f"{root}/") for root in roots):
            roots.append(folder)
    return roots


def _told_of(name: str, place: Path | Zip, inside: str = "") -> Submission:
    """Return a submission with what its manifest tells."""
    try:
        manifest, faults = read_manifest(_manifest_bytes(place, inside))
    except SubmissionRefused as fault:
        manifest, faults = Manifest(), (fault.message,)
    called = inside.rpartition("/")[2] or (place.path if isinstance(place, Zip) else place).stem
    task_ids = (manifest.task_id,) if manifest.task_id else _parts(called)
    return Submission(shown(name), task_ids, place, inside, manifest, faults)


def _manifest_bytes(place: Path | Zip, inside: str) -> bytes:
    """Return a manifest, unless it is a link, no file, or large."""
    if isinstance(place, Zip):
        return place.read(f"{inside}/{MANIFEST}".lstrip("/"), MANIFEST_BYTES)
    try:
        descriptor = os.open(place / MANIFEST, FILE_FLAGS | os.O_NOFOLLOW)
    except OSError as fault:
        raise SubmissionRefused(f"{MANIFEST} cannot be opened: {fault.strerror}") from fault
    with os.fdopen(descriptor, "rb") as content:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise SubmissionRefused(f"{MANIFEST} is not a regular file")
        raw = content.read(MANIFEST_BYTES + 1)
    if len(raw) > MANIFEST_BYTES:
        raise SubmissionRefused(f"{MANIFEST} has more than {MANIFEST_BYTES} bytes")
    return raw


def _parts(stem: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys([stem, *filter(None, stem.split(_JOINT))]))
