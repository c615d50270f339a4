"""A TIFF's directories, gone through before any library does, to see that they are bounded.

A TIFF is a chain of directories of tags, and whatever reads one believes what it says: chains that
bite their tail, tags of billions of values, tiles larger than the image. This reads nothing but
the chain, and judges size only: what is malformed is left to the library, which tells it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from scorers.errors import SubmissionFault

if TYPE_CHECKING:
    from scorers.files.limits import Limits

# Bytes of one value by the tag's type.
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}
_SIZES |= {16: 8, 17: 8, 18: 8}
_MOST_TAGS = 4096
_BIG = 43
_SUBDIRECTORIES = 330
# The counter of planes of a MetaMorph stack drives loops over as many values as it says.
_METAMORPH = 33629


@dataclass(frozen=True)
class _Layout:
    """How a directory is stored: number of tags, one tag, offset of the next directory."""

    count: struct.Struct
    tag: struct.Struct
    offset: struct.Struct


def refuse_endless(file: BinaryIO, limits: Limits) -> tuple[int, int]:
    """Refuse a TIFF whose directories are too many or too large; leave it at its start.

    Returns
    -------
    tuple of int
        The number of directories, and how many bytes all their tags hold.

    Raises
    ------
    SubmissionFault
        The chain comes back to itself; there are more directories than `limits.directories`, or
        all tags together hold more than `limits.metadata_bytes`; the file is a MetaMorph stack.
    """
    layout = _layout(file)
    found = (0, 0)
    if layout is not None:
        scan = _Scan(file, layout, limits)
        here = _number(file, layout.offset)
        while here:
            here = scan.directory(here)
        found = (scan.n_directories, limits.metadata_bytes - scan.left)
    file.seek(0)
    return found


class _Scan:
    def __init__(self, file: BinaryIO, layout: _Layout, limits: Limits) -> None:
        self._file = file
        self._layout = layout
        self._limits = limits
        self.left = limits.metadata_bytes
        self.n_directories = 0
        self._seen: set[int] = set()

    def directory(self, here: int) -> int:
        """Go through a directory and those below it; return the offset of the next, 0 at last."""
        if here in self._seen:
            raise SubmissionFault("has a chain of pages that comes back to itself")
        self._seen.add(here)
        tags, following = self._read(here)
        for tag, kind, count, place in tags:
            size = self._weigh(tag, kind, count)
            if tag == _SUBDIRECTORIES:
                for below in _offsets(self._file, size, count, place, self._layout):
                    for other in self._read(below)[0]:
                        self._weigh(*other[:3])
        return following

    def _read(self, here: int) -> tuple[list[tuple[int, int, int, int]], int]:
        """Return tag, type, count and value or offset of a directory's tags, and what follows."""
        self.n_directories += 1
        if self.n_directories > self._limits.directories:
            raise SubmissionFault(f"lists more than {self._limits.directories} pages")
        try:
            self._file.seek(here)
        except (OSError, OverflowError):
            return [], 0
        n_tags = _number(self._file, self._layout.count)
        if n_tags > _MOST_TAGS:
            return [], 0
        form = self._layout.tag
        content = self._file.read(n_tags * form.size)
        following = _number(self._file, self._layout.offset)
        return [*form.iter_unpack(content[: len(content) // form.size * form.size])], following

    def _weigh(self, tag: int, kind: int, count: int) -> int:
        """Return the size of a tag's values."""
        if tag == _METAMORPH:
            raise SubmissionFault("is a MetaMorph stack, which is not read")
        size = count * _SIZES.get(kind, 0)
        self.left -= self._layout.tag.size + (size if size > self._layout.offset.size else 0)
        if self.left < 0:
            raise SubmissionFault(f"has more than {self._limits.metadata_bytes} bytes of metadata")
        return size


def _layout(file: BinaryIO) -> _Layout | None:
    """Read the head of the file up to the offset of the first directory."""
    file.seek(0)
    head = file.read(4)
    order = {b"II": "<", b"MM": ">", b"EP": "<"}.get(head[:2])
    if order is None or len(head) < 4:
        return None
    if struct.unpack(f"{order}H", head[2:])[0] == _BIG:
        file.seek(8)
        return _Layout(*map(struct.Struct, (f"{order}Q", f"{order}HHQQ", f"{order}Q")))
    return _Layout(*map(struct.Struct, (f"{order}H", f"{order}HHII", f"{order}I")))


def _number(file: BinaryIO, form: struct.Struct) -> int:
    """Read a number, 0 at the end of the file."""
    content = file.read(form.size)
    return int(form.unpack(content)[0]) if len(content) == form.size else 0


def _offsets(file: BinaryIO, size: int, count: int, place: int, layout: _Layout) -> list[int]:
    """Return the offsets of a page's subordinate directories."""
    width = size // count if count else 0
    if width not in {4, 8}:
        return []
    order = layout.offset.format[0]
    letter = "I" if width == 4 else "Q"
    if size <= layout.offset.size:
        content = layout.offset.pack(place)[:size]
    else:
        try:
            file.seek(place)
        except (OSError, OverflowError):
            return []
        content = file.read(size)
    usable = content[: len(content) // width * width]
    return [offset for (offset,) in struct.iter_unpack(f"{order}{letter}", usable) if offset >= 8]
