"""Zip archives of submissions: looked at as a whole before anything is unpacked."""

from __future__ import annotations

import errno
import os
import stat
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evals.errors import EvalsError
from evals.scoring.verdict import printable
from evals.workspace.take import MAX_FILES, name_fault, shown
from scorers.files.opening import FILE_FLAGS, stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from evals.workspace.take import Taker

_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_ENCRYPTED = 0x1 | 0x40 | 0x2000
# The directory is read at once; members are read in smaller pieces.
_AT_ONCE = 8 << 20
_OURS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE})
# macOS puts a shadow of each file there.
_SHADOWS = "__MACOSX/"


class SubmissionRefused(EvalsError, ValueError):
    """A submission that is not opened; the message is the reason."""


@dataclass(frozen=True)
class ZipLimits:
    """What an archive may hold.

    Attributes
    ----------
    members
        Files and folders.
    total_bytes
        Size of all members once unpacked.
    harmless_bytes, inflation
        By how much all members together may outgrow the archive, once they are more than is
        harmless. Empty masks shrink a thousandfold, so small archives may do that.
    """

    members: int = 16 * MAX_FILES
    total_bytes: int = 200 * 2**30
    harmless_bytes: int = 2**30
    inflation: int = 200


LIMITS = ZipLimits()


@dataclass(frozen=True)
class Zip:
    """An archive whose members were all found fit.

    Attributes
    ----------
    files
        Paths of its regular files, in order.
    total_bytes
        Size of these once unpacked.
    """

    path: Path
    limits: ZipLimits
    files: tuple[str, ...]
    total_bytes: int

    def read(self, name: str, most: int) -> bytes:
        """Return a file's content.

        Raises:
            SubmissionRefused: It is larger than `most` or broken.
        """
        with _opened(self.path) as archive:
            info = archive.getinfo(name)
            if info.file_size > most:
                raise SubmissionRefused(
                    f"{shown(name)} has {info.file_size} bytes, at most {most} are read"
                )
            return archive.read(info)

    def take(self, folder: str, taker: Taker) -> None:
        """Hand a folder's files (all of them where it is empty) to a taker.

        Raises:
            SubmissionRefused: A file is broken, or the archive is another by now.
        """
        start = f"{folder}/" if folder else ""
        with _opened(self.path) as archive:
            for info in _checked(archive, self.path.stat().st_size, self.limits):
                if info.filename.startswith(start):
                    with archive.open(info) as content:
                        taker.file(info.filename[len(start) :], info.file_size, content)


def open_zip(path: Path, limits: ZipLimits = LIMITS) -> Zip:
    """Return an archive, all of its members checked.

    Raises:
        SubmissionRefused: It is no archive, or one of its members is not what a submission holds.
    """
    with _opened(path) as archive:
        infos = _checked(archive, path.stat().st_size, limits)
        names = tuple(sorted(info.filename for info in infos))
        return Zip(path, limits, names, sum(info.file_size for info in infos))


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        descriptor = os.open(path, FILE_FLAGS)
    except OSError as fault:
        raise SubmissionRefused(f"it cannot be opened: {fault.strerror}") from fault
    status = os.fstat(descriptor)
    with stream(descriptor, status.st_size, _AT_ONCE) as content, _told():
        if not stat.S_ISREG(status.st_mode):
            raise SubmissionRefused("it is not a regular file")
        with zipfile.ZipFile(content) as archive:
            yield archive


@contextmanager
def _told() -> Iterator[None]:
    """Make whatever a broken archive raises one kind of error; a full disk is not its fault."""
    try:
        yield
    except (SubmissionRefused, MemoryError):
        raise
    except Exception as fault:
        if isinstance(fault, OSError) and fault.errno in _OURS:
            raise
        reason = printable(f"{type(fault).__name__}: {fault}")[:200]
        raise SubmissionRefused(f"it is no sound zip archive ({reason})") from fault


def _checked(archive: zipfile.ZipFile, size: int, limits: ZipLimits) -> Sequence[zipfile.ZipInfo]:
    """Return the regular files of an archive, or raise with what is wrong with it."""
    members = archive.infolist()
    if len(members) > limits.members:
        raise SubmissionRefused(f"it has {len(members)} members, more than {limits.members}")
    seen: set[str] = set()
    for info in members:
        reason = _fault(info)
        if reason is None and info.filename in seen:
            reason = "it has this name twice"
        if reason is not None:
            raise SubmissionRefused(f"member {shown(info.orig_filename)!r}: {reason}")
        seen.add(info.filename)
    total = sum(info.file_size for info in members)
    if total > limits.total_bytes:
        raise SubmissionRefused(f"it unpacks to {total} bytes, more than {limits.total_bytes}")
    if total > max(limits.harmless_bytes, limits.inflation * size):
        raise SubmissionRefused(
            f"it unpacks to {total} bytes, more than {limits.inflation} times its size"
        )
    files = [info for info in members if not info.is_dir()]
    return [info for info in files if not info.filename.startswith(_SHADOWS)]


def _fault(info: zipfile.ZipInfo) -> str | None:
    """Return why a member is no plain file or folder, or None."""
    # `filename` ends at the first zero byte; the name as stored does not.
    name = info.orig_filename.removesuffix("/")
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "it is a link" if kind == stat.S_IFLNK else "it is not a regular file"
    if info.flag_bits & _ENCRYPTED:
        return "it is encrypted"
    if info.compress_type not in _METHODS:
        return "it is compressed by another method than deflate"
    return name_fault(name)
