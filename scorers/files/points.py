"""Tables of point coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorers.files.limits import Limits
from scorers.files.tables import read_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorers.files.tree import SubmittedFile

DEFAULT = Limits()
_X_NAMES = frozenset({"x", "x_coord", "col", "column"})
_Y_NAMES = frozenset({"y", "y_coord", "row"})


def read_points(file: SubmittedFile, limits: Limits = DEFAULT) -> NDArray[np.float64]:
    """Read points from a comma-separated file, by the published rules.

    Returns
    -------
    NDArray
        Columns x and y, float64, shape (n, 2); `nan` and `inf` are values like others.

    Raises
    ------
    SubmissionFault
        As for `read_rows`.
    """
    return parse_points(read_rows(file, limits))


def parse_points(rows: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """Take x and y from the rows of a table.

    The first row that is not blank is a heading if none of its cells is a number. The heading
    names the columns (the last fitting one counts); if it lacks one of the two, or there is no
    heading, they are the first two. Rows that are too short or hold no numbers there are skipped.
    """
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    x, y = 0, 1
    if filled and not any(_number(cell) is not None for cell in filled[0]):
        x, y = _columns(filled[0])
        filled = filled[1:]
    pairs = ((_number(row[x]), _number(row[y])) for row in filled if len(row) > max(x, y))
    return np.array([pair for pair in pairs if None not in pair], dtype=np.float64).reshape(-1, 2)


def _columns(heading: Sequence[str]) -> tuple[int, int]:
    names = [cell.strip().lower() for cell in heading]
    x = [index for index, name in enumerate(names) if name in _X_NAMES]
    y = [index for index, name in enumerate(names) if name in _Y_NAMES]
    return (x[-1], y[-1]) if x and y else (0, 1)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
