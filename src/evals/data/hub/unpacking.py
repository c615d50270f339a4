"""Making a task's part out of what was fetched, in a folder aside, and putting it in its place."""

from __future__ import annotations

import os
import shutil
import tarfile
import uuid
import zlib
from typing import IO, TYPE_CHECKING

from evals.data import canary
from evals.data.hashing import file_hash
from evals.data.hub.client import FetchFailedError
from evals.errors import DataMissingError
from evals.submissions.zips import SubmissionRefused, ZipLimits, open_zip
from evals.workspace.take import Taker
from scorers.specification import RUBRIC_FILE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evals.data.hub.pieces import Archive, Piece
    from evals.data.hub.records import Files

# A release is trusted further than a submission: volumes of sparse labels shrink a thousandfold.
LIMITS = ZipLimits(members=2_000_000, harmless_bytes=64 * 2**30)
# Kept free beside what an archive says it unpacks to.
_SPARE_BYTES = 50_000_000


class _Watched(Taker):
    """A taker that takes all or raises, and that can be stopped between two files."""

    def __init__(self, dest: Path, check: Callable[[], None]) -> None:
        super().__init__(dest, None, LIMITS.total_bytes, LIMITS.members)
        self._check = check

    def file(self, path: str, size: int, content: IO[bytes]) -> None:
        self._check()
        super().file(path, size, content)

    def drop(self, path: str, reason: str) -> None:
        raise SubmissionRefused(f"member {path!r}: {reason}")


def build(
    piece: Piece, fetched: Callable[[str], Path], stage: Path, check: Callable[[], None]
) -> Files:
    """Make a part of a task in a folder and return its files with size and SHA-256.

    Args:
        piece: The part.
        fetched: Gives the place of a fetched file by its path in the repository.
        stage: The folder.
        check: Raises if the work is to stop.

    Raises:
        FetchFailedError: An archive is broken or holds what it should not.
        DataMissingError: The disk has no room for it.
    """
    files: Files = {}
    for archive in piece.archives:
        place = fetched(archive.remote.path)
        try:
            files |= _unpacked(archive, place, stage, check)
        except SubmissionRefused as error:
            # Whatever is wrong with it, the next pull must not find it again.
            place.unlink()
            raise FetchFailedError(
                f"{archive.remote.path}: {error.message}. Nothing of it is kept. Mend: call the "
                "same command again; if it stays so, the release is broken."
            ) from error
    for name, remote in piece.files:
        check()
        place = stage / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(fetched(remote.path), place)
        files[name] = (place.stat().st_size, file_hash(place))
    if piece.canary:
        files |= _with_canary(piece, stage)
    _protect(piece, files, stage)
    return files


def publish(stage: Path, names: list[str], place: Path, trash: Path) -> None:
    """Move what was made to its place: a new task in one step, else part by part.

    Of an existing task, folders go before files, so that its rubric comes last: without it no
    reader takes the task for whole.
    """
    if not place.exists():
        os.rename(stage, place)
        return
    for name in sorted(names, key=lambda name: ((stage / name).is_file(), name == RUBRIC_FILE)):
        target = place / name
        if target.is_symlink() or target.exists():
            trash.mkdir(parents=True, exist_ok=True)
            os.rename(target, trash / uuid.uuid4().hex)
        os.rename(stage / name, target)


def _unpacked(archive: Archive, place: Path, stage: Path, check: Callable[[], None]) -> Files:
    dest = stage / archive.into
    dest.mkdir(parents=True, exist_ok=True)
    taker = _Watched(dest, check)
    if place.name.endswith(".zip"):
        packed = open_zip(place, LIMITS)
        _check_room(stage, packed.total_bytes, archive.remote.path)
        outside = [name for name in packed.files if not name.startswith(f"{archive.root}/")]
        if outside:
            raise SubmissionRefused(
                f"member {outside[0]!r}: expected all of them in {archive.root}/"
            )
        packed.take(archive.root, taker)
    else:
        _take_tar(place, archive.root, taker)
    prefix = f"{archive.into}/" if archive.into else ""
    found = {f"{prefix}{one.path}": (one.size, one.sha256) for one in taker.done().kept}
    if not found:
        raise SubmissionRefused("it is empty")
    return found


def _take_tar(place: Path, root: str, taker: Taker) -> None:
    try:
        with tarfile.open(place, "r|gz") as packed:
            for member in packed:
                name = member.name.removeprefix("./")
                if member.isdir():
                    continue
                if not member.isreg():
                    raise SubmissionRefused(f"member {name!r}: it is a link or a device")
                if not name.startswith(f"{root}/"):
                    raise SubmissionRefused(f"member {name!r}: expected all of them in {root}/")
                content = packed.extractfile(member)
                assert content is not None
                taker.file(name[len(root) + 1 :], member.size, content)
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise SubmissionRefused(f"it is no sound tar archive ({error})") from error


def _check_room(folder: Path, wanted: int, name: str) -> None:
    free = shutil.disk_usage(folder).free
    if free < wanted + _SPARE_BYTES:
        raise DataMissingError(
            f"{name} unpacks to {wanted:,} bytes: expected room for it in {folder}, got {free:,} "
            "bytes. Mend: free some, or name another disk's folder in EVALS_DATA."
        )


def _with_canary(piece: Piece, stage: Path) -> Files:
    """Plant a canary that is the same on every machine, and return the files it changed."""
    decisive = "".join(remote.sha256 or remote.blob or "" for remote in piece.remotes)
    own = canary.own_canary(piece.task, int(decisive or "0", 16))
    canary.plant(stage, own)
    changed = (f"evaluation/{canary.FILE}", RUBRIC_FILE)
    return {name: ((stage / name).stat().st_size, file_hash(stage / name)) for name in changed}


def _protect(piece: Piece, files: Files, stage: Path) -> None:
    """Leave private parts to their owner, and let everybody read the rest."""
    private = piece.part == "private"
    for top in sorted({name.split("/")[0] for name in files}):
        entry = stage / top
        for path in [entry, *entry.rglob("*")]:
            folder = path.is_dir()
            path.chmod((0o700 if folder else 0o600) if private else (0o755 if folder else 0o644))
