"""Fetching one file: what has arrived is kept, gone on from, and checked before it is used."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from evals.data.hub.client import CutOffError, FetchFailedError
from evals.errors import DataMissingError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evals.data.hub.client import Hub
    from evals.data.hub.records import Remote

_CHUNK = 2**20


def fetch(
    hub: Hub, remote: Remote, commit: str, place: Path, arrived: Callable[[int], None]
) -> None:
    """Fetch a file to `place`, which exists only once it is whole and its digest right.

    Args:
        hub: Where it is fetched from.
        remote: The file, its size and its digest.
        commit: The commit that it is taken at.
        place: Where it goes. Beside it lies what has arrived, `place` with `.part`.
        arrived: Is told how many bytes of it are there.

    Raises:
        FetchFailedError: It could not be fetched, or is not what it should be.
    """
    if place.is_file():
        arrived(remote.size)
        return
    part = place.with_name(f"{place.name}.part")
    part.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    resumed = _size(part) > 0
    _complete(hub, remote, commit, part, arrived)
    fault = _fault(part, remote)
    if fault is not None and resumed:
        # What an earlier call left may be at fault, so it gets one try from the start.
        part.unlink()
        _complete(hub, remote, commit, part, arrived)
        fault = _fault(part, remote)
    if fault is not None:
        part.unlink()
        arrived(0)
        raise FetchFailedError(
            f"{remote.path}: {fault}. Mend: call the same command again; if it stays so, the file "
            "on the hub is not the one that the release states."
        )
    os.replace(part, place)


def _complete(
    hub: Hub, remote: Remote, commit: str, part: Path, arrived: Callable[[int], None]
) -> None:
    if _size(part) > remote.size:
        part.unlink()
    part.touch(mode=0o600)

    def go_on() -> None:
        if _size(part) < remote.size:
            _append(hub, remote, commit, part, arrived)

    hub.patiently(remote.path, go_on, lambda: _size(part))
    arrived(remote.size)


def _append(
    hub: Hub, remote: Remote, commit: str, part: Path, arrived: Callable[[int], None]
) -> None:
    # Unbuffered, so that a kill loses nothing that has arrived.
    with (
        hub.open(remote.path, commit, _size(part)) as answer,
        part.open("r+b", buffering=0) as out,
    ):
        out.truncate(answer.start)
        count = out.seek(answer.start)
        for chunk in answer.chunks:
            hub.check_stopped()
            _write(out, chunk[: remote.size + 1 - count])
            count += len(chunk)
            arrived(min(count, remote.size))
            if count > remote.size:
                raise FetchFailedError(
                    f"{remote.path}: expected {remote.size} bytes, got more. Mend: the file on "
                    "the hub is not the one that it lists; try again later."
                )
    if count < remote.size:
        raise CutOffError(f"it ended after {count} of {remote.size} bytes")


def _write(out: object, chunk: bytes) -> None:
    view = memoryview(chunk)
    while view:
        view = view[out.write(view) :]  # type: ignore[attr-defined]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _fault(part: Path, remote: Remote) -> str | None:
    """Return in what the file differs from its digest, or None."""
    if remote.sha256 is not None:
        kind, expected, digest = "SHA-256", remote.sha256.lower(), hashlib.sha256()
    elif remote.blob is not None:
        kind, expected, digest = "git id", remote.blob, hashlib.sha1(usedforsecurity=False)
        digest.update(f"blob {remote.size}\0".encode())
    else:
        return None
    try:
        with part.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        raise DataMissingError(f"{part}: cannot be read back, {error.strerror}.") from error
    got = digest.hexdigest()
    return None if got == expected else f"expected the {kind} {expected}, got {got}"
