"""Text and comma-separated tables within limits."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, BinaryIO, Self

from scorers.errors import SubmissionFault
from scorers.files.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorers.files.tree import SubmittedFile

DEFAULT = Limits()
# The time that a row takes, however short it is, in bytes of text parsed in that time.
_COST_OF_ROW = 64
# A heading below more blank rows than that is not looked for.
_MOST_BLANK = 10_000


def read_text(file: SubmittedFile, limits: Limits = DEFAULT) -> str:
    """Return a file's text as UTF-8 without what is not; a byte-order mark stays in place.

    Raises
    ------
    SubmissionFault
        The file is larger than `limits.text_bytes`, or cannot be read, or too much was read
        before.
    """
    file.charge(file.size)
    return file.read_bytes(limits.text_bytes).decode("utf-8", errors="ignore")


def read_rows(file: SubmittedFile, limits: Limits = DEFAULT) -> list[list[str]]:
    """Return all rows of a comma-separated file, blank ones (`[]`) included.

    Quoting is that of the standard library's `csv` module: double quotes, doubled inside.

    Raises
    ------
    SubmissionFault
        The file cannot be read, is malformed, or is beyond the limits on bytes, rows, columns,
        cells or the length of a cell.
    """
    if file.size > limits.text_bytes:
        raise SubmissionFault(f"{file.path} has {file.size} bytes, more than {limits.text_bytes}")
    file.charge(file.size)
    rows: list[list[str]] = []
    cells = 0
    with file.open() as opened, _text(opened) as text:
        try:
            for row in _parsed(file, text, limits):
                cells += len(row)
                if len(rows) == limits.rows:
                    raise SubmissionFault(f"{file.path} has more than {limits.rows} rows")
                if cells > limits.cells:
                    raise SubmissionFault(f"{file.path} has more than {limits.cells} cells")
                rows.append(row)
        finally:
            file.charge(len(rows) * _COST_OF_ROW)
    return rows


def read_header(file: SubmittedFile, limits: Limits = DEFAULT) -> list[str]:
    """Return the first row with a cell that is not blank, stripped; `[]` if there is none.

    Raises
    ------
    SubmissionFault
        As for `read_rows`, as far as the file is read.
    """
    file.charge(0)
    with file.open() as opened, _text(opened) as text:
        try:
            for number, row in enumerate(_parsed(file, text, limits)):
                cells = [cell.strip() for cell in row]
                if any(cells):
                    return cells
                if number >= _MOST_BLANK or opened.tell() > limits.text_bytes:
                    raise SubmissionFault(f"{file.path} starts with too many blank rows")
        finally:
            file.charge(opened.tell())
    return []


def _text(opened: BinaryIO) -> io.TextIOWrapper:
    return io.TextIOWrapper(opened, "utf-8", errors="ignore", newline="")


def _parsed(file: SubmittedFile, text: io.TextIOWrapper, limits: Limits) -> Iterator[list[str]]:
    lines = _Lines(file, text, limits)
    try:
        for row in csv.reader(lines):
            if len(row) > limits.columns:
                raise SubmissionFault(f"{file.path} has more than {limits.columns} columns")
            # A cell is no longer than the lines that it stands in.
            if (
                lines.length > limits.cell_chars
                and max(map(len, row), default=0) > limits.cell_chars
            ):
                most = limits.cell_chars
                raise SubmissionFault(f"{file.path} has a cell of more than {most} characters")
            lines.length = 0
            yield row
    except csv.Error as fault:
        raise SubmissionFault(f"{file.path} is no table: {fault}") from fault
    except OSError as fault:
        raise SubmissionFault(f"cannot read {file.path}: {fault.strerror}") from fault


class _Lines:
    """The lines of a text, none too long; `length` adds up those that were given out."""

    def __init__(self, file: SubmittedFile, text: io.TextIOWrapper, limits: Limits) -> None:
        self._file = file
        self._text = text
        self._longest = limits.columns * 64 + limits.cell_chars
        self.length = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        line = self._text.readline(self._longest + 1)
        if not line:
            raise StopIteration
        if len(line) > self._longest:
            raise SubmissionFault(
                f"{self._file.path} has a line of more than {self._longest} characters"
            )
        self.length += len(line)
        return line
