"""The tables of a nuclear pore submission and of its reference, by the cells they are of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.deliverables import SUPPORTING
from scorers.files.kinetics import METRICS, TIME, fits, parse_kinetics
from scorers.files.limits import MIB
from scorers.files.tables import read_header, read_rows
from scorers.files.tree import reference_tree
from scorers.files.workbook_writing import write_workbook
from scorers.files.workbooks import read_workbook

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scorers.contract import Job
    from scorers.files.kinetics import Kinetics
    from scorers.files.limits import Limits
    from scorers.files.tree import SubmittedFile
    from scorers.files.workbooks import Sheet

DELIVERABLE = "kinetics_per_cell"
_CELL = re.compile(r"cell[\s_-]*([0-9]{1,3})(?![0-9])", re.IGNORECASE)
_DATE = re.compile(r"[0-9]{6}")
_LARGEST_CSV = 50 * MIB


@dataclass(frozen=True)
class Key:
    """What a name says of a cell.

    Attributes
    ----------
    cell
        `cell7`, None if the name holds no such word.
    date
        Six digits, None if it holds none.
    """

    cell: str | None
    date: str | None
    name: str

    def __str__(self) -> str:
        if self.cell is None:
            return self.name.lower()
        return f"{self.date}-{self.cell}" if self.date else self.cell

    @property
    def token(self) -> str:
        """The word that the published pairing looks for in other keys."""
        return self.cell or self.name.lower()


@dataclass(frozen=True)
class Table:
    """One cell's kinetics, and where they come from: a sheet of the reference, or a file."""

    key: Key
    kinetics: Kinetics
    source: str
    in_workbook: bool = True


def key_of(name: str, fallback: str | None = None) -> Key:
    """Return what a name says of a cell; `fallback` (a file's stem) fills in what it lacks.

    >>> str(key_of("160701-Nup107-cell-1-t6")), str(key_of("cell 2", "161111 all"))
    ('160701-cell1', '161111-cell2')
    """
    cell, date = _CELL.search(name), _DATE.search(name)
    if fallback is not None:
        if cell is None and (other := key_of(fallback)).cell is not None:
            return other
        date = date or _DATE.search(fallback)
    return Key(f"cell{int(cell[1])}" if cell else None, date[0] if date else None, name)


def reference_tables(job: Job) -> tuple[str, list[Table] | None]:
    """Return the name of the reference workbook, and the tables in it.

    None instead of the tables if the workbook cannot be read or holds none.

    Raises
    ------
    CapsuleFault
        There is no workbook.
    """
    name, sheets = _reference_sheets(job)
    limits = job.limits.for_references()
    found: list[Table] = []
    for sheet in sheets or []:
        kinetics = parse_kinetics(sheet.rows, limits.cells)
        if kinetics is not None:
            found.append(Table(key_of(sheet.name), kinetics, sheet.name))
    return name, found or None


def submitted_tables(job: Job) -> list[Table]:
    """Return all tables of a submission, workbooks before text, each file's first of each key.

    What is unreadable or no table of kinetics is passed over.
    """
    files = [file for file in job.submission.files if file.path.parts[0] != SUPPORTING]
    found: list[Table] = []
    for suffix, read in ((".xlsx", _workbook_tables), (".csv", _text_tables)):
        for file in (file for file in files if file.suffix == suffix):
            of_file: dict[str, Table] = {}
            for table in read(file, job.limits):
                of_file.setdefault(str(table.key), table)
            found += of_file.values()
    return found


def perfect(job: Job, out: Path) -> None:
    """Write each sheet of the reference as a workbook of its own, named as the sheet."""
    name, sheets = _reference_sheets(job)
    if not sheets:
        raise CapsuleFault(f"evaluation/{name}: expected a workbook of one sheet a cell")
    for sheet in sheets:
        write_workbook(out / f"{sheet.name}.xlsx", {sheet.name: sheet.rows})


def blank(job: Job, out: Path) -> None:
    """Write a workbook for each cell that holds the heading and no time."""
    _, tables = reference_tables(job)
    if tables is None:
        raise CapsuleFault("evaluation/ holds no workbook that can be read: cells are not known")
    names = [names[0] for names in METRICS.values()]
    heading = ["time point", TIME, *(f"{name}_{nucleus}" for name in names for nucleus in (1, 2))]
    for table in tables:
        write_workbook(out / f"{table.source}.xlsx", {table.source: [heading]})


def _reference_sheets(job: Job) -> tuple[str, list[Sheet] | None]:
    if job.reference_dir is None:
        raise CapsuleFault("evaluation/ is missing: expected a workbook of one sheet a cell")
    files = reference_tree(job.reference_dir, job.limits).files
    books = [file for file in files if file.path.suffix == ".xlsx"]
    if not books:
        raise CapsuleFault("evaluation/ holds no *.xlsx: expected a workbook of one sheet a cell")
    try:
        return str(books[0].path), read_workbook(books[0], job.limits.for_references())
    except SubmissionFault:
        return str(books[0].path), None


def _workbook_tables(file: SubmittedFile, limits: Limits) -> Iterator[Table]:
    try:
        sheets = read_workbook(file, limits)
    except SubmissionFault:
        return
    for sheet in sheets:
        try:
            kinetics = parse_kinetics(sheet.rows, limits.cells)
        except SubmissionFault:
            continue
        if kinetics is not None:
            yield Table(key_of(sheet.name, file.stem), kinetics, str(file.path))


def _text_tables(file: SubmittedFile, limits: Limits) -> Iterator[Table]:
    if file.size > _LARGEST_CSV:
        return
    try:
        # Most other tables of a submission are told by their first line.
        if not fits(read_header(file, limits)):
            return
        kinetics = parse_kinetics(read_rows(file, limits), limits.cells)
    except SubmissionFault:
        return
    if kinetics is not None:
        yield Table(key_of(file.stem), kinetics, str(file.path), in_workbook=False)


def cell_match(reference: Key, submitted: Key) -> bool:
    """Return whether two names are of one cell: the same number, and no other date."""
    if reference.cell is None or submitted.cell is None:
        return str(reference) == str(submitted)
    dates = {reference.date, submitted.date} - {None}
    return reference.cell == submitted.cell and len(dates) < 2
