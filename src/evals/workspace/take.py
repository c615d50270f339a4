"""Decide file by file what of a submission reaches the host, and write it there."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MAX_FILES = 20_000
_MAX_DROPPED = 1_000
_MAX_PATH = 1_000
_MAX_NAME_BYTES = 240
_MAX_DEPTH = 32
_CHUNK = 2**20


@dataclass(frozen=True)
class KeptFile:
    """A file that came out: its path in the submission, size in bytes and SHA-256."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class DroppedFile:
    """A file that stayed behind, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class Exported:
    """What an export brought out and what it left behind."""

    kept: tuple[KeptFile, ...]
    dropped: tuple[DroppedFile, ...]


class Taker:
    """Writes the files of one submission into an empty folder that nobody else writes.

    Args:
        dest: The folder.
        wanted: Paths to take, or None for all.
        cap_bytes: Bytes to take at most.
        max_files: Files to take at most.
    """

    def __init__(
        self,
        dest: Path,
        wanted: frozenset[str] | None,
        cap_bytes: int,
        max_files: int = MAX_FILES,
    ) -> None:
        self._max_files = max_files
        self._dest = dest
        self._wanted = wanted
        self._left = cap_bytes
        self._kept: dict[str, KeptFile] = {}
        self._dropped: list[DroppedFile] = []
        self._unnamed = 0

    def done(self) -> Exported:
        """Return what came out and what did not, in order of the paths."""
        dropped = sorted(self._dropped, key=lambda one: one.path)
        if self._unnamed:
            dropped.append(DroppedFile("…", f"{self._unnamed} more are not listed"))
        return Exported(tuple(self._kept[path] for path in sorted(self._kept)), tuple(dropped))

    def drop(self, path: str, reason: str) -> None:
        """Leave a file behind."""
        if not self._is_wanted(path):
            return
        if len(self._dropped) < _MAX_DROPPED:
            self._dropped.append(DroppedFile(shown(path), reason))
        else:
            self._unnamed += 1

    def file(self, path: str, size: int, content: IO[bytes]) -> None:
        """Take a regular file, unless its name or size forbids it."""
        if not self._is_wanted(path):
            return
        reason = self._refusal(path, size)
        if reason is not None:
            self.drop(path, reason)
            return
        try:
            self._kept[path] = self._write(path, size, content)
        except FileExistsError:
            self.drop(path, "another file has this name on this system")
        except NotADirectoryError:
            self.drop(path, "one of its folders has the name of a file")

    def link(self, path: str, target: str) -> None:
        """Take a second name of a file that came out already."""
        known = self._kept.get(target)
        if known is None:
            self.drop(path, "a hard link to a file that did not come out")
            return
        with (self._dest / target).open("rb") as content:
            self.file(path, known.size, content)

    def _is_wanted(self, path: str) -> bool:
        return self._wanted is None or path in self._wanted

    def _refusal(self, path: str, size: int) -> str | None:
        if len(self._kept) >= self._max_files:
            return f"more than {self._max_files} files"
        if size > self._left:
            return f"its {size} bytes do not fit in the {self._left} that are left"
        return name_fault(path)

    def _write(self, path: str, size: int, content: IO[bytes]) -> KeptFile:
        place = self._dest / path
        place.parent.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        written = 0
        with place.open("xb") as out:
            while written < size and (chunk := content.read(min(_CHUNK, size - written))):
                digest.update(chunk)
                out.write(chunk)
                written += len(chunk)
        self._left -= written
        return KeptFile(path, written, digest.hexdigest())


def name_fault(path: str) -> str | None:
    """Return why a path is no plain name for a file below a folder, or None."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "its name leads elsewhere"
    if not path.isprintable() or "\\" in path:
        return "its name holds characters that are not plain"
    if len(path) > _MAX_PATH or len(parts) > _MAX_DEPTH:
        return "its name is too long or too deep"
    if any(len(part.encode()) > _MAX_NAME_BYTES for part in parts):
        return "its name is too long or too deep"
    return None


def shown(path: str) -> str:
    """Return a path as printable text of bounded length."""
    return (
        path[:_MAX_PATH].encode("unicode_escape").decode("ascii")
        if not path.isprintable()
        else path[:_MAX_PATH]
    )
