"""What was pulled: kept beside the data, so that it can be verified without the hub.

`REVISION/.pulled/revision.json` tells the commit and lists the repository's files at it;
`REVISION/.pulled/tasks/TASK.json` tells size and SHA-256 of every file of a task that was pulled.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from evals.errors import DataMissingError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Part = Literal["public", "private"]
Files = dict[str, tuple[int, str]]

FOLDER = ".pulled"
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Remote:
    """A file of the repository: its path and size, and its SHA-256 or its git blob's id."""

    path: str
    size: int
    sha256: str | None = None
    blob: str | None = None


@dataclass(frozen=True)
class Revision:
    """A revision as it was when its first part was pulled.

    Attributes:
        commit: What the name stood for; everything comes from it, whatever the name means later.
        manifest_sha256: Of the data set's own manifest, where it has one.
    """

    repo: str
    revision: str
    commit: str
    files: tuple[Remote, ...]
    manifest_sha256: str | None = None

    @property
    def by_path(self) -> dict[str, Remote]:
        """Its files by their path."""
        return {file.path: file for file in self.files}


def read_revision(root: Path) -> Revision | None:
    """Return the record of a revision's folder, or None if nothing was pulled into it."""
    told = _read(root / FOLDER / "revision.json")
    if told is None:
        return None
    try:
        files = tuple(Remote(**file) for file in told.pop("files"))
        return Revision(files=files, **told)
    except (TypeError, KeyError, AttributeError) as error:
        raise _broken(root / FOLDER / "revision.json", error) from error


def write_revision(root: Path, revision: Revision) -> None:
    """Keep the record of a revision."""
    _write(root / FOLDER / "revision.json", asdict(revision))


def read_task(root: Path, task: str) -> dict[Part, Files]:
    """Return what was pulled of a task: for each part its files with size and SHA-256."""
    path = root / FOLDER / "tasks" / f"{task}.json"
    try:
        told = _read(path) or {}
        return {
            part: {name: (int(size), str(sha)) for name, (size, sha) in told[part].items()}
            for part in ("public", "private")
            if part in told
        }
    except (TypeError, ValueError, AttributeError) as error:
        raise _broken(path, error) from error


def write_task(root: Path, task: str, parts: Mapping[Part, Files]) -> None:
    """Keep the record of a task."""
    _write(root / FOLDER / "tasks" / f"{task}.json", parts)


def forget_task(root: Path, task: str) -> None:
    """Remove the record of a task."""
    (root / FOLDER / "tasks" / f"{task}.json").unlink(missing_ok=True)


def pulled_tasks(root: Path) -> list[str]:
    """Return the tasks of which something was pulled."""
    return sorted(path.stem for path in (root / FOLDER / "tasks").glob("*.json"))


def is_whole(folder: Path, files: Files) -> bool:
    """Return whether all files of a part are there, each with its size; nothing is read."""
    for name, (size, _) in files.items():
        try:
            facts = (folder / name).lstat()
        except OSError:
            return False
        if not stat.S_ISREG(facts.st_mode) or facts.st_size != size:
            return False
    return bool(files)


def revision_facts(root: Path) -> dict[str, Any]:
    """Return what a log tells of a revision: repository, name, commit, digest of its manifest."""
    from evals.data.hashing import file_hash

    manifest = root / MANIFEST
    facts: dict[str, Any] = {
        "revision": root.name,
        "manifest_sha256": file_hash(manifest) if manifest.is_file() else None,
    }
    record = read_revision(root)
    return facts if record is None else facts | {"repo": record.repo, "commit": record.commit}


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _broken(path, error) from error


def _write(path: Path, value: Any) -> None:
    """Write JSON in one step, for the owner's eyes only: digests tell of a reference, too."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        json.dump(value, stream, indent=1)
    os.replace(temporary, path)


def _broken(path: Path, error: Exception) -> DataMissingError:
    return DataMissingError(
        f"{path}: expected the record of what was pulled, got {error!r}. Mend: remove the "
        "revision with `evals data rm` and pull it again."
    )
