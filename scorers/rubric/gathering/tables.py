"""Heads of the tables of a submission: the names of their columns and their first rows."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import TYPE_CHECKING

from scorers.errors import SubmissionFault
from scorers.files.limits import MIB
from scorers.files.tables import read_header, read_rows
from scorers.files.workbooks import read_workbook
from scorers.rubric.evidence import MOST_TABLES, Table
from scorers.rubric.gathering.telling import SHORTENED, UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scorers.files.limits import Limits
    from scorers.files.tree import SubmittedFile
    from scorers.rubric.gathering.telling import Telling

SUFFIXES = frozenset({".csv", ".tsv", ".xlsx"})
_MOST_ROWS = 12
_MOST_COLUMNS = 40
_MOST_SHEETS = 3
_LONGEST_CELL = 60
_LONGEST_HEAD = 2500
_READ_WHOLE = 8 * MIB
_HEAD_BYTES = 64 * 1024


def tables_of(
    delivered: Iterable[SubmittedFile],
    others: Iterable[SubmittedFile],
    limits: Limits,
    telling: Telling,
) -> list[Table]:
    """Return the heads of tables, delivered ones first, then others by path."""
    narrow = replace(
        limits,
        text_bytes=min(limits.text_bytes, _READ_WHOLE),
        workbook_bytes=min(limits.workbook_bytes, _READ_WHOLE),
        cells=min(limits.cells, 1_000_000),
        rows=min(limits.rows, 300_000),
    )
    tables: list[Table] = []
    left_out = 0
    for file in (*delivered, *others):
        if len(tables) >= MOST_TABLES:
            left_out += 1
            continue
        try:
            tables += _tables(file, narrow, telling)[: MOST_TABLES - len(tables)]
        except SubmissionFault as fault:
            ref = telling.ref("table", file.path)
            telling.flag(ref, UNREADABLE, telling.reason(ref, str(fault)))
    if left_out:
        telling.flag("name:tables", SHORTENED, f"{left_out} further tables are not shown")
    return tables


def _tables(file: SubmittedFile, limits: Limits, telling: Telling) -> list[Table]:
    if file.suffix == ".xlsx":
        return [
            _table(file, sheet.name, [_cells(row) for row in sheet.rows], len(sheet.rows), telling)
            for sheet in read_workbook(file, limits)[:_MOST_SHEETS]
        ]
    if file.suffix == ".csv":
        if file.size <= limits.text_bytes:
            rows = [row for row in read_rows(file, limits) if row]
            return [_table(file, "", rows, len(rows), telling)]
        return [_table(file, "", [read_header(file, limits)], None, telling)]
    return [_table(file, "", _first_lines(file), None, telling)]


def _first_lines(file: SubmittedFile) -> list[list[str]]:
    """Return the first lines of a text whose columns tabs or blanks part."""
    file.charge(_HEAD_BYTES)
    with file.open() as opened:
        text = opened.read(_HEAD_BYTES).decode("utf-8", errors="ignore")
    lines = [line for line in text.splitlines()[: _MOST_ROWS + 1] if line.strip()]
    sign = next((sign for sign in ("\t", ",", ";") if lines and sign in lines[0]), None)
    return [line.split(sign) for line in lines]


def _cells(row: Sequence[object]) -> list[str]:
    return ["" if cell is None else str(cell) for cell in row]


def _table(
    file: SubmittedFile, part: str, rows: list[list[str]], count: int | None, telling: Telling
) -> Table:
    ref = telling.ref("table", file.path, part)
    first = rows[0] if rows else []
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for row in rows[: _MOST_ROWS + 1]:
        writer.writerow([_short(cell) for cell in row[:_MOST_COLUMNS]])
    head = stream.getvalue()
    if len(head) > _LONGEST_HEAD:
        head = f"{head[:_LONGEST_HEAD]} […]"
    if len(first) > _MOST_COLUMNS:
        telling.flag(ref, SHORTENED, f"{_MOST_COLUMNS} of {len(first)} columns are shown")
    return Table(
        ref=ref,
        path=telling.path(file.path) + (f" [{telling.reason(ref, part)}]" if part else ""),
        columns=[telling.reason(ref, _short(cell)) for cell in first[:_MOST_COLUMNS]],
        rows=None if count is None else max(0, count - 1),
        head=telling.text(ref, head),
    )


def _short(cell: str) -> str:
    return cell if len(cell) <= _LONGEST_CELL else f"{cell[:_LONGEST_CELL]}…"
