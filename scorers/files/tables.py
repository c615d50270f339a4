"""Text and comma-separated tables within limits."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from scorers.errors import SubmissionFault
from scorers.files.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorers.files.tree import SubmittedFile

DEFAULT = Limits()


def read_text(file: SubmittedFile, limits: Limits = DEFAULT) -> str:
    """Return a file's text as UTF-8 without what is not; a byte-order mark stays in place.

    Raises
    ------
    SubmissionFault
        The file is larger than `limits.text_bytes`, or cannot be read.
    """
    return file.read_bytes(limits.text_bytes).decode("utf-8", errors="ignore")


def read_rows(file: SubmittedFile, limits: Limits = DEFAULT) -> list[list[str]]:
    """Return all rows of a comma-separated file, blank ones (`[]`) included.

    Quoting is that of the standard library's `csv` module: double quotes, doubled inside.

    Raises
    ------
    SubmissionFault
        The file cannot be read, is malformed, or is beyond the limits on bytes, rows, columns
        or the length of a cell.
    """
    rows: list[list[str]] = []
    for row in _parsed(file, io.StringIO(read_text(file, limits), newline=""), limits):
        if len(rows) == limits.rows:
            raise SubmissionFault(f"{file.path} has more than {limits.rows} rows")
        rows.append(row)
    return rows


def read_header(file: SubmittedFile, limits: Limits = DEFAULT) -> list[str]:
    """Return the first row with a cell that is not blank, stripped; `[]` if there is none.

    Raises
    ------
    SubmissionFault
        As for `read_rows`, as far as the file is read.
    """
    with io.TextIOWrapper(file.open(), "utf-8", errors="ignore", newline="") as text:
        for number, row in enumerate(_parsed(file, text, limits)):
            cells = [cell.strip() for cell in row]
            if any(cells):
                return cells
            if number > limits.rows or text.buffer.tell() > limits.text_bytes:
                raise SubmissionFault(f"{file.path} starts with too many blank rows")
    return []


def _parsed(
    file: SubmittedFile, text: io.StringIO | io.TextIOWrapper, limits: Limits
) -> Iterator[list[str]]:
    reader = csv.reader(_lines(file, text, limits))
    try:
        for row in reader:
            if len(row) > limits.columns:
                raise SubmissionFault(f"{file.path} has more than {limits.columns} columns")
            yield row
    except csv.Error as fault:
        raise SubmissionFault(f"{file.path} is no table: {fault}") from fault
    except OSError as fault:
        raise SubmissionFault(f"cannot read {file.path}: {fault.strerror}") from fault


def _lines(
    file: SubmittedFile, text: io.StringIO | io.TextIOWrapper, limits: Limits
) -> Iterator[str]:
    longest = limits.columns * 64 + limits.cell_chars
    while line := text.readline(longest + 1):
        if len(line) > longest:
            raise SubmissionFault(f"{file.path} has a line of more than {longest} characters")
        yield line
