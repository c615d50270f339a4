"""The files of a submission, listed and opened without following anything out of its folder."""

from __future__ import annotations

import os
import stat
import unicodedata
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from scorers.errors import SubmissionFault
from scorers.files.budget import Budget
from scorers.files.opening import DIR_FLAGS, Folder, identity, said, stream

if TYPE_CHECKING:
    from pathlib import Path

    from scorers.files.limits import Limits

# Control, format, surrogate and line or paragraph separating characters.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_MOST_REFUSALS = 200
_KINDS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


_Entry = tuple[PurePosixPath, os.stat_result, int]


@dataclass(frozen=True)
class Refusal:
    """One entry of the folder that is not read, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class SubmittedFile:
    """One regular file of a tree.

    Attributes
    ----------
    path
        Relative to the tree's root.
    size
        Bytes, as seen when the tree was listed; a file that has changed since is refused.
    listed
        Position in its folder as the file system lists it, which is no order to rely on.
    budget
        What may still be read of the whole tree.
    trusted
        Whether the file is one of ours.
    """

    path: PurePosixPath
    size: int
    listed: int = field(compare=False)
    _folder: Folder = field(repr=False, compare=False)
    _identity: tuple[int, ...] = field(repr=False, compare=False)
    budget: Budget = field(repr=False, compare=False)
    trusted: bool = field(default=False, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.path.name

    @property
    def stem(self) -> str:
        """The file's own name without its last suffix."""
        return self.path.stem

    @property
    def suffix(self) -> str:
        """The last suffix, lower-cased."""
        return self.path.suffix.lower()

    def open(self, most: int | None = None) -> BinaryIO:
        """Open for reading; the result has no descriptor that a library could go on from.

        Parameters
        ----------
        most
            How many bytes may be read at once; asking for more raises `SubmissionFault`.
        """
        try:
            descriptor = self._folder.descriptor(self.path)
        except OSError as fault:
            raise SubmissionFault(f"cannot open {self.path}: {said(fault)}") from fault
        if identity(os.fstat(descriptor)) != self._identity:
            os.close(descriptor)
            raise SubmissionFault(f"{self.path} changed while it was read")
        return stream(descriptor, self.size, most)

    def charge(self, count: int, *, markup: bool = False) -> None:
        """Count bytes of text that are about to be parsed, see `Budget.parse`."""
        try:
            self.budget.parse(count, markup=markup)
        except SubmissionFault as fault:
            raise SubmissionFault(f"{self.path} {fault}") from fault

    def read_bytes(self, limit: int) -> bytes:
        """Return the content, or raise `SubmissionFault` above `limit` bytes."""
        if self.size > limit:
            raise SubmissionFault(f"{self.path} has {self.size} bytes, more than {limit}")
        try:
            with self.open() as opened:
                content = opened.read(limit + 1)
        except OSError as fault:
            raise SubmissionFault(f"cannot read {self.path}: {said(fault)}") from fault
        if len(content) > limit:
            raise SubmissionFault(f"{self.path} grew beyond {limit} bytes while it was read")
        return content


class Tree:
    """The regular files below a folder, as they are when the tree is made.

    Parameters
    ----------
    root
        A folder. Its own last component must be no link either, so resolve what is trusted.
    limits
        What is beyond them is refused with a reason.
    follow_links
        Only for folders of ours, such as references in a download cache that links its files.

    Attributes
    ----------
    files
        In ascending order of their lists of path components.
    refused
        Entries that are not read, in the same order.
    memo
        What was worked out about these files and need not be again.
    """

    def __init__(self, root: Path, limits: Limits, *, follow_links: bool = False) -> None:
        self.root = root
        self.limits = limits
        self._follow_links = follow_links
        self._folder = Folder(root, follow_links=follow_links)
        self._budget = Budget(limits, unlimited=follow_links)
        self.memo: dict[object, Any] = {}
        self.refused: list[Refusal] = []
        self.files: tuple[SubmittedFile, ...] = tuple(self._list())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the folder back; no file can be opened afterwards."""
        self._folder.close()

    def _list(self) -> list[SubmittedFile]:
        found: list[SubmittedFile] = []
        total = 0
        # The stack is kept so that entries leave it in path order, which makes the same files
        # fall to a limit on every file system.
        waiting = self._entries(PurePosixPath())
        while waiting:
            path, status, position = waiting.pop()
            reason = self._objection(path, status)
            if reason is None and stat.S_ISDIR(status.st_mode):
                waiting += self._entries(path)
                continue
            if reason is None and len(found) == self.limits.files:
                self._refuse(path, f"and what follows: more than {len(found)} files")
                break
            if reason is None and total + status.st_size > self.limits.total_bytes:
                reason = f"all files together exceed {self.limits.total_bytes} bytes"
            if reason is not None:
                self._refuse(path, reason)
                continue
            total += status.st_size
            found.append(
                SubmittedFile(
                    path,
                    status.st_size,
                    position,
                    self._folder,
                    identity(status),
                    self._budget,
                    trusted=self._follow_links,
                )
            )
        return found

    def _entries(self, folder: PurePosixPath) -> list[_Entry]:
        """Return a folder's entries in descending order of their names."""
        entries: list[_Entry] = []
        try:
            descriptor = self._folder.descriptor(folder, DIR_FLAGS)
        except OSError as fault:
            self._refuse(folder, f"a folder that cannot be read: {said(fault)}")
            return []
        try:
            with os.scandir(descriptor) as scan:
                names = [entry.name for entry in islice(scan, self.limits.files + 1)]
            if len(names) > self.limits.files:
                self._refuse(folder, f"a folder of more than {self.limits.files} entries")
                return []
            for name, position in sorted(zip(names, range(len(names)), strict=True), reverse=True):
                try:
                    status = os.stat(name, dir_fd=descriptor, follow_symlinks=self._follow_links)
                except OSError as fault:
                    self._refuse(folder / name, f"cannot be looked at: {said(fault)}")
                    continue
                entries.append((folder / name, status, position))
        finally:
            os.close(descriptor)
        return entries

    def _objection(self, path: PurePosixPath, status: os.stat_result) -> str | None:
        """Return why an entry is neither read nor descended into, or None."""
        if not _plain(path.name):
            return "a name with control characters or bytes that are not UTF-8"
        if len(str(path).encode()) > self.limits.path_bytes:
            return f"a path longer than {self.limits.path_bytes} bytes"
        if len(path.parts) > self.limits.depth:
            return f"more than {self.limits.depth} folders deep"
        if stat.S_ISDIR(status.st_mode):
            return None
        if not stat.S_ISREG(status.st_mode):
            kinds = [kind for test, kind in _KINDS if test(status.st_mode)]
            return f"{kinds[0] if kinds else 'a special file'}, not a regular file"
        if status.st_size > self.limits.file_bytes:
            return f"{status.st_size} bytes, more than {self.limits.file_bytes}"
        return None

    def _refuse(self, path: PurePosixPath, reason: str) -> None:
        if len(self.refused) < _MOST_REFUSALS:
            self.refused.append(Refusal(_printable(str(path)), reason))


def reference_tree(folder: Path, limits: Limits) -> Tree:
    """Return the files of a folder of ours, links followed, however narrow the limits are."""
    return Tree(folder, limits.for_references(), follow_links=True)


def _plain(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return not any(unicodedata.category(sign) in _HIDDEN for sign in name)


def _printable(text: str) -> str:
    escaped = text.encode("utf-8", "backslashreplace").decode()
    return "".join(
        sign.encode("unicode_escape").decode() if unicodedata.category(sign) in _HIDDEN else sign
        for sign in escaped
    )
