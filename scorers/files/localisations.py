"""Lists of localised molecules: frame, x, y, intensity."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.errors import SubmissionFault
from scorers.files.limits import Limits
from scorers.files.tables import read_text

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from scorers.files.tree import SubmittedFile

DEFAULT = Limits()
_FIELDS = 4

Row = tuple[float, float, float, float]


@dataclass(frozen=True)
class Localisations:
    """Localised molecules of a movie.

    Attributes
    ----------
    frame
        Shape (n,), truncated to whole numbers; may be infinite.
    place
        Columns x and y in pixels, shape (n, 2); `nan` and `inf` are values like others.
    intensity
        Shape (n,); 0 where none was given.
    """

    frame: NDArray[np.float64]
    place: NDArray[np.float64]
    intensity: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.frame)


def read_localisations(file: SubmittedFile, limits: Limits = DEFAULT) -> Localisations:
    """Read a list by the published rules.

    Raises
    ------
    SubmissionFault
        The file cannot be read, or is beyond the limits on text, rows or the length of a field.
    """
    rows: list[Row] = []
    for line in io.StringIO(read_text(file, limits)):
        row = parse_line(line, limits.cell_chars)
        if row is None:
            continue
        if len(rows) == limits.rows:
            raise SubmissionFault(f"{file.path} has more than {limits.rows} rows")
        rows.append(row)
    table = np.array(rows, np.float64).reshape(-1, _FIELDS)
    return Localisations(np.trunc(table[:, 0]), table[:, 1:3], table[:, 3])


def parse_line(line: str, longest: int = DEFAULT.cell_chars) -> Row | None:
    """Return frame, x, y and intensity of one line, or None if it is none of a molecule.

    Blank lines, comments (`#`) and lines of fewer than three numbers, such as headings, are none.
    Fields are separated by commas if the line has one, else by tabs if it has one, else by blanks.
    The order of the fields counts, not their names. An intensity that is absent or no number is 0.

    >>> parse_line("3, 1.5, 2.5, 90"), parse_line("frame x y")
    ((3.0, 1.5, 2.5, 90.0), None)
    """
    line = line.strip()
    if not line or line.startswith("#"):
        return None
    separator = "," if "," in line else "\t" if "\t" in line else None
    fields = line.split(separator, _FIELDS)[:_FIELDS]
    if len(fields) < 3 or max(map(len, fields)) > longest:
        return None
    numbers = [_number(field) for field in fields]
    frame, x, y = numbers[:3]
    if frame is None or x is None or y is None or math.isnan(frame):
        return None
    return frame, x, y, (numbers[3] if len(numbers) > 3 else None) or 0.0


def write_localisations(path: Path, found: Localisations) -> None:
    """Write a list with a heading, separated by tabs."""
    rows = zip(found.frame.tolist(), found.place.tolist(), found.intensity.tolist(), strict=True)
    lines = [f"{frame:.0f}\t{x!r}\t{y!r}\t{intensity!r}" for frame, (x, y), intensity in rows]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["frame\tx\ty\tintensity", *lines, ""]), encoding="utf-8")


def _number(field: str) -> float | None:
    try:
        return float(field)
    except ValueError:
        return None
