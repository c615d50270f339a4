"""What is on this machine: listed, verified against its record, removed."""

from __future__ import annotations

import os
import shutil
import stat
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evals.data.hashing import file_hash
from evals.data.hub import records
from evals.data.hub.lock import alone
from evals.data.hub.records import FOLDER, MANIFEST
from evals.data.hub.sources import SOURCES
from evals.errors import DataMissingError
from evals.names import select, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from evals.data.hub.records import Files
    from evals.data.hub.sources import Source


@dataclass(frozen=True)
class Held:
    """A revision on this machine.

    Attributes:
        commit: None if it was not pulled but put there.
        whole, inputs_only: Tasks with and without their private part.
        bytes: Size of what was pulled.
    """

    source: str
    revision: str
    path: Path
    commit: str | None
    whole: tuple[str, ...]
    inputs_only: tuple[str, ...]
    bytes: int


def held_revisions() -> list[Held]:
    """Return what is on this machine of all sources."""
    found = []
    for source in SOURCES.values():
        places = sorted(source.home.iterdir()) if source.home.is_dir() else []
        found += [
            _held(source, place)
            for place in places
            if (place / FOLDER).is_dir() or (source.layout == "zips" and _is_release(place))
        ]
    return found


def place_of(source: Source, revision: str) -> Path:
    """Return the folder of a revision that is on this machine.

    Raises:
        UnknownNameError: It is not.
    """
    place = source.place(revision)
    if not (place / FOLDER).is_dir() and not _is_release(place):
        here = [held.revision for held in held_revisions() if held.source == source.name]
        raise unknown(f"revision of {source.name} on this machine", revision, here)
    return place


def verify(
    root: Path, tasks: Sequence[str] | None = None
) -> tuple[list[str], dict[str, list[str]]]:
    """Read all that was pulled of a revision, and compare it with its record.

    Args:
        root: The revision's folder.
        tasks: Ids or patterns of the tasks; None means all that were pulled.

    Returns:
        The tasks that were verified, and what is wrong, by task; the data set's manifest goes by
        its own name.
    """
    revision = records.read_revision(root)
    if revision is None:
        raise DataMissingError(
            f"{root}: expected the record of a pull, got none: the data were put there otherwise. "
            "Mend: pull them with `evals data pull` into another EVALS_DATA."
        )
    chosen = select("task id", tasks, records.pulled_tasks(root))
    faults = {}
    manifest = root / MANIFEST
    if revision.manifest_sha256 is not None and (
        not manifest.is_file() or file_hash(manifest) != revision.manifest_sha256
    ):
        faults[MANIFEST] = ["changed or missing"]
    for task in chosen:
        found = list(_faults(root / task, records.read_task(root, task)))
        if found:
            faults[task] = found
    return chosen, faults


def remove(root: Path, tasks: Sequence[str] | None = None) -> list[str]:
    """Remove a revision, or some of its tasks, and return what was removed.

    Raises:
        DataMissingError: A pull is going on in it, or it was not pulled.
    """
    if not (root / FOLDER).is_dir():
        raise DataMissingError(
            f"{root}: expected the record of a pull, got none: the data were put there otherwise. "
            f"Mend: if they are to go, remove the folder yourself."
        )
    with alone(root):
        if tasks is None:
            _away(root)
            return [root.name]
        chosen = select("task id", tasks, records.pulled_tasks(root))
        for task in chosen:
            records.forget_task(root, task)
            if (root / task).exists():
                _away(root / task)
        return chosen


def _away(folder: Path) -> None:
    """Remove a folder: out of sight first, so that what is half removed is never seen."""
    trash = folder.parent / ".removing"
    trash.mkdir(mode=0o700, exist_ok=True)
    os.rename(folder, trash / uuid.uuid4().hex)
    # With it goes what a removal left that was killed.
    shutil.rmtree(trash)


def _is_release(place: Path) -> bool:
    return (place / MANIFEST).is_file()


def _held(source: Source, place: Path) -> Held:
    revision = records.read_revision(place)
    whole, inputs, size = [], [], 0
    for task in records.pulled_tasks(place):
        parts = records.read_task(place, task)
        here = {part for part, files in parts.items() if records.is_whole(place / task, files)}
        size += sum(count for part in here for count, _ in parts[part].values())
        if here == {"public"} and source.layout != "archive":
            inputs.append(task)
        elif here:
            whole.append(task)
    if revision is None:
        whole = sorted(path.parent.name for path in place.glob("*/task_spec.yaml"))
    commit = None if revision is None else revision.commit
    return Held(source.name, place.name, place, commit, tuple(whole), tuple(inputs), size)


def _faults(folder: Path, parts: dict[records.Part, Files]) -> Iterator[str]:
    listed = {name: facts for files in parts.values() for name, facts in files.items()}
    for name, (size, digest) in sorted(listed.items()):
        fault = _fault(folder / name, size, digest)
        if fault is not None:
            yield f"{name}: {fault}"
    for name in sorted(_present(folder) - listed.keys()):
        yield f"{name}: was not pulled"
    for name in sorted({name.split("/")[0] for name in parts.get("private", {})}):
        path = folder / name
        if path.exists() and stat.S_IMODE(path.lstat().st_mode) & 0o077:
            yield f"{name}: others than its owner may read it"


def _fault(path: Path, size: int, digest: str) -> str | None:
    try:
        facts = path.lstat()
    except OSError:
        return "missing"
    if not stat.S_ISREG(facts.st_mode):
        return "expected a file, got a link or something else"
    if facts.st_size != size:
        return f"expected {size} bytes, got {facts.st_size}"
    got = file_hash(path)
    return None if got == digest else f"expected the SHA-256 {digest}, got {got}"


def _present(folder: Path) -> set[str]:
    return {
        os.path.relpath(os.path.join(parent, name), folder)
        for parent, _, names in os.walk(folder)
        for name in names
    }
