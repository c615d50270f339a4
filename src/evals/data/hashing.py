"""One digest over the names and bytes of a capsule, so that runs on equal data can be told."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING

from evals.data.places import cache_root
from evals.errors import DataMissingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from rich.progress import Progress

_PROGRESS_FROM_BYTES = 200_000_000


def tree_hash(root: Path, paths: Iterable[Path]) -> str:
    """Return the SHA-256 over the names (relative to `root`) and bytes of files.

    The digest of each file is remembered by its size and time of change in the cache folder, so
    that gigabytes are read once. A cache that cannot be written is done without.

    Raises:
        DataMissingError: A file cannot be read.
    """
    remembered = _recall(root)
    stamps = {path: _stamp(path) for path in sorted(paths)}
    digests: dict[str, dict[str, str]] = {}
    fresh = [path for path, stamp in stamps.items() if stamp not in remembered.get(str(path), {})]
    paced = _with_progress(fresh)
    computed = {path: file_hash(path) for path in paced}
    whole = hashlib.sha256()
    for path, stamp in stamps.items():
        digest = computed.get(path) or remembered[str(path)][stamp]
        digests[str(path)] = {stamp: digest}
        whole.update(f"{path.relative_to(root).as_posix()}\0{digest}\n".encode())
    if fresh:
        _remember(root, digests)
    return whole.hexdigest()


def file_hash(path: Path) -> str:
    """Return the SHA-256 of one file's bytes."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise DataMissingError(
            f"{path}: expected a readable file, got {error.strerror}. Mend: check the disk and "
            "the file's permissions."
        ) from error


def _stamp(path: Path) -> str:
    facts = path.stat()
    return f"{facts.st_size}-{facts.st_mtime_ns}-{facts.st_ino}"


def _with_progress(paths: list[Path]) -> Iterator[Path]:
    total = sum(path.stat().st_size for path in paths)
    if total < _PROGRESS_FROM_BYTES:
        yield from paths
        return
    with _bar() as bar:
        task = bar.add_task("Reading the data once for their checksum", total=total)
        for path in paths:
            yield path
            bar.advance(task, path.stat().st_size)


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    return Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)


def _memory(root: Path) -> Path:
    name = hashlib.sha256(str(root).encode()).hexdigest()[:32]
    return cache_root() / "digests" / f"{name}.json"


def _recall(root: Path) -> dict[str, dict[str, str]]:
    try:
        known = json.loads(_memory(root).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _remember(root: Path, digests: dict[str, dict[str, str]]) -> None:
    memory = _memory(root)
    # A lost memory costs time only, so a full or read-only cache must not stop a run.
    with suppress(OSError):
        memory.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=memory.parent, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(digests, stream)
        os.replace(temporary, memory)
