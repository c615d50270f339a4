"""What a colocalization submission holds: coefficients of cells, p-values of pairs."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from scorers.errors import SubmissionFault
from scorers.files.columns import Columns, as_columns, read_columns
from scorers.files.deliverables import SUPPORTING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorers.contract import Job
    from scorers.files.limits import Limits
    from scorers.files.tree import SubmittedFile

_MOST_CONDITIONS = 10_000
PAIRWISE = "*pairwise*.csv"
_CONDITION = ("condition", "group", "stage", "sample", "label", "cond")
_COEFFICIENT = (
    "spearman",
    "coloc",
    "colocal",
    "coefficient",
    "coeff",
    "correlation",
    "rho",
    "value",
)
_PAIRS = (("condition_1", "condition_2"), ("group_1", "group_2"), ("group1", "group2"))
_P = (
    "holm_corrected_p",
    "corrected_p",
    "adjusted_p",
    "uncorrected_p",
    "p_value",
    "p-value",
    "pvalue",
    "p",
)
_IMAGE = ("image", "filename", "file", "image_name", "file_name", "image_file", "cell", "cell_id")
_VERSUS = re.compile(r"\svs\.?\s", re.IGNORECASE)

Pair = tuple[str, str]


class AbsentCondition(ValueError):
    """A row of p-values is too short to name its conditions; the published reader falls over it."""


@dataclass(frozen=True)
class Cells:
    """One coefficient a cell.

    Attributes
    ----------
    condition
        Of each cell, as written.
    value
        In [-1, 1], shape (n,).
    image
        What the table calls each cell's image; empty where it says nothing.
    invalid
        How many values beyond [-1, 1] were discarded.
    """

    condition: list[str]
    value: NDArray[np.float64]
    image: list[str]
    invalid: int = 0

    def by_condition(self) -> dict[str, NDArray[np.float64]]:
        """Return the values of each condition, in order of first appearance."""
        places: dict[str, list[int]] = {}
        for place, name in enumerate(self.condition):
            places.setdefault(name, []).append(place)
        return {name: self.value[own] for name, own in places.items()}


NO_CELLS = Cells([], np.zeros(0), [])


def plain(name: str) -> str:
    """Return a condition's name with single blanks and in lower case, to compare it."""
    return " ".join(name.split()).lower()


def read_cells(file: SubmittedFile, limits: Limits) -> Cells:
    """Read a table of single cells by the published rules.

    The columns are found by their names; a table of two columns without such names is read as
    condition and value from its first row on. What is no finite number is left out.

    Raises
    ------
    SubmissionFault
        The file cannot be read within the limits.
    """
    table = read_columns(file, limits)
    condition = table.place(*_CONDITION)
    value = _holding(table.names, _COEFFICIENT)
    if (condition is None or value is None) and len(table.names) == 2:
        table = as_columns([[], table.names, *table.rows])
        condition, value = 0, 1
    if condition is None or value is None:
        return NO_CELLS
    values = table.numbers(value)
    finite = np.isfinite(values)
    valid = finite & (np.abs(np.where(finite, values, 0)) <= 1)
    conditions, images = table.texts(condition), table.texts(table.place(*_IMAGE))
    kept = np.flatnonzero(valid).tolist()
    if len({conditions[row] for row in kept}) > _MOST_CONDITIONS:
        raise SubmissionFault(f"{file.path} names more than {_MOST_CONDITIONS} conditions")
    return Cells(
        [conditions[row] for row in kept],
        values[valid],
        [images[row] for row in kept],
        int((finite & ~valid).sum()),
    )


def reported_p(job: Job) -> dict[Pair, float]:
    """Return the p-values of all pairwise tables of a submission, the first of each ordered pair.

    Tables are found by their names alone and need no particular columns; what cannot be read
    within the limits is passed over.

    Raises
    ------
    AbsentCondition
        See there.
    """
    reported: dict[Pair, float] = {}
    for file in job.submission.files:
        names = file.name.lower(), str(file.path).lower()
        if file.path.parts[0] == SUPPORTING or not any(fnmatchcase(n, PAIRWISE) for n in names):
            continue
        try:
            table = read_columns(file, job.limits)
        except SubmissionFault:
            continue
        for pair, p in _pairs(table):
            reported.setdefault(pair, p)
    return reported


def _pairs(table: Columns) -> list[tuple[Pair, float]]:
    place = table.place(*_P)
    if place is None:
        return []
    values = table.numbers(place).tolist()
    written = table.texts(place)
    found: list[tuple[Pair, float]] = []
    for row, sides in enumerate(_sides(table)):
        # A p-value may be `nan`, if the table says so; a cell without a number is none.
        if math.isnan(values[row]) and written[row].lower().lstrip("+-") != "nan":
            continue
        if None in sides:
            raise AbsentCondition("a row of the pairwise table ends before its conditions")
        if len(sides) == 2:
            found.append(((plain(sides[0] or ""), plain(sides[1] or "")), values[row]))
    return found


def _sides(table: Columns) -> list[list[str | None]]:
    """Return what each row compares: two names if all is well, None where it is too short."""
    for names in _PAIRS:
        left, right = (table.place(name) for name in names)
        if left is not None and right is not None:
            pairs = zip(table.cells(left), table.cells(right), strict=True)
            return [list(pair) for pair in pairs]
    place = table.place("comparison")
    if place is None:
        return [[]] * len(table)
    told = table.cells(place)
    return [[None] if cell is None else [*_VERSUS.split(cell, maxsplit=2)] for cell in told]


def _holding(names: Sequence[str], fragments: Sequence[str]) -> int | None:
    """Return the first column that holds the first fragment that any column holds."""
    lower = [name.lower() for name in names]
    for fragment in fragments:
        for place, name in enumerate(lower):
            if fragment in name:
                return place
    return None
