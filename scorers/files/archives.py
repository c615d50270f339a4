"""Zip archives, unpacked piece by piece and only as far as the limits allow."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Self

from scorers.errors import SubmissionFault
from scorers.files.limits import MIB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorers.files.limits import Limits
    from scorers.files.tree import SubmittedFile

_ENTRY = b"PK\x01\x02"
_PIECE = 1 << 16
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_ENCRYPTED = 1


class Archive:
    """A zip archive in memory, as it is stored.

    Parameters
    ----------
    file
        Read whole, within `limits.text_bytes`.
    limits
        `members` bounds the directory, `workbook_bytes` all that is unpacked together, and
        `inflation` the ratio of one member. What is unpacked counts as text of the submission.

    Raises
    ------
    SubmissionFault
        The file is no archive, or beyond the limits; also while members are unpacked.
    """

    def __init__(self, file: SubmittedFile, limits: Limits) -> None:
        content = file.read_bytes(limits.text_bytes)
        # The directory is not parsed before its length is known.
        if content.count(_ENTRY) > limits.members:
            raise SubmissionFault(f"{file.path} has more than {limits.members} members")
        self._file = file
        self._name = str(file.path)
        self._limits = limits
        self._left = limits.workbook_bytes
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except Exception as fault:
            raise self._told(fault) from fault
        self.names = frozenset(self._zip.namelist())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def pieces(self, name: str) -> Iterator[bytes]:
        """Unpack one member, a piece at a time; of members of one name the last counts."""
        try:
            info = self._zip.getinfo(name)
            self._check(info)
            size = 0
            with self._zip.open(info) as member:
                while piece := member.read(_PIECE):
                    size += len(piece)
                    self._left -= len(piece)
                    if self._left < 0:
                        raise self._too_large()
                    self._file.charge(len(piece), markup=True)
                    if size > MIB and size > self._limits.inflation * info.compress_size:
                        raise SubmissionFault(
                            f"{self._name} inflates more than {self._limits.inflation}-fold"
                        )
                    yield piece
        except Exception as fault:
            raise self._told(fault) from fault

    def _check(self, info: zipfile.ZipInfo) -> None:
        if info.flag_bits & _ENCRYPTED:
            raise SubmissionFault(f"{self._name} is encrypted")
        if info.compress_type not in _METHODS:
            raise SubmissionFault(f"{self._name} is compressed by another method than deflate")
        if info.file_size > self._left:
            raise self._too_large()

    def _too_large(self) -> SubmissionFault:
        return SubmissionFault(
            f"{self._name} unpacks to more than {self._limits.workbook_bytes} bytes"
        )

    def _told(self, fault: Exception) -> Exception:
        # What zipfile and zlib raise of a broken archive is of many kinds and means one thing.
        # That memory is exhausted is not the file's fault: what can be foreseen is refused.
        if isinstance(fault, SubmissionFault | MemoryError):
            return fault
        reason = f"{type(fault).__name__}: {fault}"[:200]
        return SubmissionFault(f"{self._name} is unreadable: {reason}")
