"""Text and comma-separated tables within limits."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, BinaryIO

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
        for row in _parsed(file, text, limits):
            cells += len(row)
            if len(rows) == limits.rows:
                raise SubmissionFault(f"{file.path} has more than {limits.rows} rows")
            if cells > limits.cells:
                raise SubmissionFault(f"{file.path} has more than {limits.cells} cells")
            rows.append(row)
    return rows


def read_header(file: SubmittedFile, limits: Limits = DEFAULT) -> list[str]:
    """Return the first row with a cell that is not blank, stripped; `[]` if there is none.

    Raises
    ------
    SubmissionFault
        As for `read_rows`, as far as the file is read.
    """
    with file.open() as opened, _text(opened) as text:
        try:
            for number, row in enumerate(_parsed(file, text, limits)):
                cells = [cell.strip() for cell in row]
                if any(cells):
                    return cells
                if number > limits.rows or opened.tell() > limits.text_bytes:
                    raise SubmissionFault(f"{file.path} starts with too many blank rows")
        finally:
            file.charge(opened.tell())
    return []


def _text(opened: BinaryIO) -> io.TextIOWrapper:
    return io.TextIOWrapper(opened, "utf-8", errors="ignore", newline="")


def _parsed(file: SubmittedFile, text: io.TextIOWrapper, limits: Limits) -> Iterator[list[str]]:
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


def _lines(file: SubmittedFile, text: io.TextIOWrapper, limits: Limits) -> Iterator[str]:
    longest = limits.columns * 64 + limits.cell_chars
    while line := text.readline(longest + 1):
        if len(line) > longest:
            raise SubmissionFault(f"{file.path} has a line of more than {longest} characters")
        yield line
