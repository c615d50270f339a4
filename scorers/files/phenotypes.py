"""Tables of cells with their classes, one row a cell and frame."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.files.limits import Limits
from scorers.files.tables import read_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from scorers.files.tree import SubmittedFile

DEFAULT = Limits()
CLASSES = ("round", "amoeboid", "ramified")
_SYNONYMS = {"stratified": "ramified"}

# What a column may be called, in the order in which a row's cells are looked at.
SUBMITTED = {
    "frame": (
        "frame",
        "image_index",
        "frame_index",
        "image",
        "timepoint",
        "time_index",
        "t",
    ),
    "x": ("x", "centroid_x", "col", "column", "x_px"),
    "y": ("y", "centroid_y", "row", "y_px"),
    "label": (
        "predicted_phenotype",
        "predicted_label",
        "phenotype",
        "label",
        "class",
        "predicted_class",
    ),
}
ANNOTATED = {"frame": ("axis-0",), "x": ("axis-2",), "y": ("axis-1",), "label": ("label",)}


class InfiniteFrame(ValueError):
    """A frame number is infinite, at which the published reader gives up the table."""


@dataclass(frozen=True)
class CellTable:
    """Cells of a movie.

    Attributes
    ----------
    frame
        Shape (n,), whole numbers.
    place
        Columns x (column) and y (row) in pixels, shape (n, 2); may hold `nan` and `inf`.
    kind
        Position in `CLASSES`, -1 for none of them, int64, shape (n,).
    """

    frame: NDArray[np.float64]
    place: NDArray[np.float64]
    kind: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.frame)


def read_cells(
    file: SubmittedFile, columns: Mapping[str, Sequence[str]], limits: Limits = DEFAULT
) -> CellTable:
    """Read a table of cells by the published rules.

    Names of columns are compared without case and surrounding blanks; of several fitting ones a
    row's first filled cell counts. Rows without a number as frame, x or y are skipped.

    Parameters
    ----------
    file
        A comma-separated table; its first row is the heading.
    columns
        `SUBMITTED` or `ANNOTATED`.
    limits
        Bounds on what is read.

    Raises
    ------
    InfiniteFrame
        See there.
    SubmissionFault
        As for `read_rows`.
    """
    rows = read_rows(file, limits)
    return parse_cells(rows, columns)


def parse_cells(rows: Sequence[Sequence[str]], columns: Mapping[str, Sequence[str]]) -> CellTable:
    """Take cells from the rows of a table whose first row is its heading; see `read_cells`."""
    # As when a mapping is filled: of columns with one name the last counts.
    named = {cell.strip().lower(): index for index, cell in enumerate(rows[0] if rows else [])}
    places = {
        field: [named[name] for name in names if name in named] for field, names in columns.items()
    }
    taken = (_column(rows[1:], places[field]) for field in ("frame", "x", "y", "label"))
    numbers: list[tuple[float, float, float]] = []
    kinds: list[int] = []
    for *cells, label in zip(*taken, strict=True):
        frame, x, y = map(_number, cells)
        if frame is None or x is None or y is None or math.isnan(frame):
            continue
        if math.isinf(frame):
            raise InfiniteFrame("a frame number is infinite")
        numbers.append((frame, x, y))
        kinds.append(class_of(label))
    table = np.array(numbers, np.float64).reshape(-1, 3)
    return CellTable(np.trunc(table[:, 0]), table[:, 1:], np.array(kinds, np.int64))


def class_of(label: str) -> int:
    """Return the position of a label in `CLASSES`, or -1."""
    label = label.strip().lower()
    label = _SYNONYMS.get(label, label)
    return CLASSES.index(label) if label in CLASSES else -1


def write_cells(path: Path, cells: CellTable) -> None:
    """Write a table of cells under the first names of the columns."""
    rows = zip(cells.frame.tolist(), cells.place.tolist(), cells.kind.tolist(), strict=True)
    lines = [
        f"{frame:.0f},{x!r},{y!r},{CLASSES[kind] if kind >= 0 else ''}"
        for frame, (x, y), kind in rows
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["frame,x,y,predicted_phenotype", *lines, ""]), encoding="utf-8")


def _column(rows: Sequence[Sequence[str]], places: Sequence[int]) -> list[str]:
    """Return each row's first filled cell of some places, or nothing."""
    if len(places) == 1:
        return [row[places[0]] if places[0] < len(row) else "" for row in rows]
    return [
        next((row[at] for at in places if at < len(row) and row[at].strip()), "") for row in rows
    ]


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
