"""Opening files below a folder without following a link, waiting, or handing anything on."""

from __future__ import annotations

import errno
import io
import os
import stat
import weakref
from typing import TYPE_CHECKING, BinaryIO, cast

from scorers.errors import SubmissionFault

if TYPE_CHECKING:
    from pathlib import Path, PurePosixPath

# A FIFO opened for reading waits for a writer unless the call is told not to.
FILE_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
DIR_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Folder:
    """An open folder, below which files are opened; it is given back when nothing needs it."""

    def __init__(self, path: Path, *, follow_links: bool) -> None:
        self._link = 0 if follow_links else os.O_NOFOLLOW
        try:
            self._descriptor = os.open(path, DIR_FLAGS | self._link)
        except OSError as fault:
            raise SubmissionFault(f"cannot read the folder {path.name}: {said(fault)}") from fault
        self.close = weakref.finalize(self, os.close, self._descriptor)

    def descriptor(self, path: PurePosixPath, flags: int = FILE_FLAGS) -> int:
        """Open a path component by component, each relative to the one before."""
        *folders, name = path.parts or (".",)
        if not self.close.alive:
            # By now the number may stand for another file.
            raise OSError(errno.EBADF, "the folder was given back")
        here = os.dup(self._descriptor)
        try:
            for folder in folders:
                below = os.open(folder, DIR_FLAGS | self._link, dir_fd=here)
                os.close(here)
                here = below
            return os.open(name, flags | self._link, dir_fd=here)
        finally:
            os.close(here)


class _Reader(io.RawIOBase):
    """A descriptor that is read but never handed on.

    Libraries that are given a real file look beside it for further ones (multi-file OME-TIFF,
    MicroManager); without a `fileno` and a name they cannot.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]  # the stub asks for typeshed's own Buffer type
        return os.readv(self._descriptor, [buffer])

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        return os.lseek(self._descriptor, offset, whence)

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()


class _Stream(io.BufferedReader):
    """A buffered stream that makes room for no more than the file has.

    Python makes room for all that is asked for before it reads; a few bytes of a file can ask for
    terabytes.
    """

    def __init__(self, descriptor: int, size: int, most: int) -> None:
        super().__init__(_Reader(descriptor), 1 << 16)
        self._size = size
        self._most = most

    def read(self, size: int | None = -1, /) -> bytes:
        left = max(0, self._size - self.tell())
        wanted = left if size is None or size < 0 else min(size, left)
        if wanted > self._most:
            raise SubmissionFault(f"asks for {wanted} bytes at once, more than {self._most}")
        return super().read(wanted)


def stream(descriptor: int, size: int, most: int | None = None) -> BinaryIO:
    """Return a buffered stream of a descriptor, which it closes in the end.

    Parameters
    ----------
    descriptor
        Of a regular file.
    size
        Bytes that are read of it at most.
    most
        Bytes that may be read at once; asking for more raises `SubmissionFault`.
    """
    return cast("BinaryIO", _Stream(descriptor, size, size if most is None else most))


def identity(status: os.stat_result) -> tuple[int, ...]:
    """Return what stays equal as long as a file is the same and unchanged."""
    kind = stat.S_IFMT(status.st_mode)
    return (kind, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def said(fault: OSError) -> str:
    """Return the reason without the path, which may be one of the host."""
    return fault.strerror or type(fault).__name__
