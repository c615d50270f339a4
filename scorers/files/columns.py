"""Comma-separated tables by column, as Python's `csv.DictReader` takes them apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.files.limits import Limits
from scorers.files.tables import read_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from scorers.files.tree import SubmittedFile

DEFAULT = Limits()


@dataclass(frozen=True)
class Columns:
    """A table whose first row names the columns.

    Attributes
    ----------
    names
        As written, blanks at the ends removed.
    rows
        Those below the first that are not blank; each may be shorter or longer than `names`.
    """

    names: list[str]
    rows: list[list[str]]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def overlong(self) -> bool:
        """Whether a row has more cells than there are names, over which some readers fall."""
        return any(len(row) > len(self.names) for row in self.rows)

    def place(self, *names: str, any_case: bool = True) -> int | None:
        """Return the position of the first of these names that the table has.

        Of columns with one name the last counts, as when a mapping is filled. With `any_case` the
        names asked for must be lower-case.
        """
        present = {name.lower() if any_case else name: at for at, name in enumerate(self.names)}
        return next((present[name] for name in names if name in present), None)

    def cells(self, place: int) -> list[str | None]:
        """Return a column, None where a row is too short to have it."""
        return [row[place] if place < len(row) else None for row in self.rows]

    def texts(self, place: int | None) -> list[str]:
        """Return a column without blanks at the ends, empty where there is no cell or column."""
        if place is None:
            return [""] * len(self.rows)
        return [(cell or "").strip() for cell in self.cells(place)]

    def numbers(self, place: int | None) -> NDArray[np.float64]:
        """Return a column as numbers, shape (rows,), `nan` where a cell holds none."""
        if place is None:
            return np.full(len(self.rows), math.nan)
        return parsed(self.cells(place))


def read_columns(file: SubmittedFile, limits: Limits = DEFAULT) -> Columns:
    """Read a table; one of zero bytes has no names and no rows.

    Raises
    ------
    SubmissionFault
        As for `read_rows`.
    """
    return as_columns(read_rows(file, limits))


def as_columns(rows: Sequence[list[str]]) -> Columns:
    """Take rows as a table whose first row names the columns."""
    names = [cell.strip() for cell in rows[0]] if rows else []
    return Columns(names, [row for row in rows[1:] if row])


def parsed(cells: Iterable[str | None]) -> NDArray[np.float64]:
    """Return what Python's `float` makes of each cell, `nan` where it is no number."""
    return np.array([number(cell) for cell in cells], np.float64)


def number(cell: str | None) -> float:
    """Return what Python's `float` makes of a cell, `nan` where it is no number."""
    try:
        return float(cell or "")
    except ValueError:
        return math.nan
