"""Tables of nuclei with their numbers of puncta, one row a nucleus."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.files.limits import Limits
from scorers.files.tables import read_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorers.files.tree import SubmittedFile

DEFAULT = Limits()
CONDITION, IMAGE, COUNT = "condition", "Image name", "number of GFP puncta"
PLACE = ("z", "y", "x")
INTENSITY, VOLUME = "GFP mean intensity per ROI", "total GFP puncta volume um per ROI"
SIZES = ("ROI volume um", "ROI volume pix")
_NUMBERS = (*PLACE, COUNT, INTENSITY, VOLUME, *SIZES)
_NO_SIGN = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class NucleusTable:
    """A table of nuclei, its columns by their exact names.

    Attributes
    ----------
    condition, image
        Keys under which spellings agree, see `condition_key` and `image_key`.
    named
        The images as they are written.
    numbers
        By column, float64, shape (rows,).
    told
        By column, bool: whether a cell holds a number at all, be it `nan` or infinite.
    """

    condition: list[str]
    image: list[str]
    named: list[str]
    numbers: dict[str, NDArray[np.float64]]
    told: dict[str, NDArray[np.bool_]]

    @property
    def is_nucleus(self) -> NDArray[np.bool_]:
        """Which rows have a place and a count."""
        usable = self.told[COUNT].copy()
        for axis in PLACE:
            usable &= self.told[axis]
        return usable

    @property
    def place(self) -> NDArray[np.float64]:
        """Centroids in voxels, shape (rows, 3): z, y, x."""
        return np.stack([self.numbers[axis] for axis in PLACE], axis=1)

    def means(self, column: str) -> dict[str, float]:
        """Return the mean of a column by condition, in the order of their names.

        Rows without a condition or a number are left out; one value that is not finite makes the
        mean so.
        """
        codes = {name: at for at, name in enumerate(sorted({*self.condition}))}
        group = np.array([codes[name] for name in self.condition], np.int64)
        told = self.told[column]
        count = np.bincount(group[told], minlength=len(codes)).tolist()
        with np.errstate(over="ignore", invalid="ignore"):
            total = np.bincount(group[told], self.numbers[column][told], len(codes)).tolist()
        return {name: total[at] / count[at] for name, at in codes.items() if name and count[at]}


def read_nuclei(file: SubmittedFile, limits: Limits = DEFAULT) -> NucleusTable:
    """Read a table of nuclei.

    Raises
    ------
    SubmissionFault
        As for `read_rows`.
    """
    return parse_nuclei(read_rows(file, limits))


def parse_nuclei(rows: Sequence[Sequence[str]]) -> NucleusTable:
    """Take a table whose first row names the columns; case and blanks count.

    Of columns with one name the last counts; a column that is absent is empty.
    """
    places = {name: at for at, name in enumerate(rows[0] if rows else ())}
    body = [row for row in rows[1:] if row]

    def column(name: str) -> list[str]:
        at = places.get(name)
        return ["" if at is None or at >= len(row) else row[at] for row in body]

    numbers, told = {}, {}
    for name in _NUMBERS:
        parsed = [_number(cell) for cell in column(name)]
        told[name] = np.array([value is not None for value in parsed], bool)
        numbers[name] = np.array([math.nan if v is None else v for v in parsed], np.float64)
    images = column(IMAGE)
    return NucleusTable(
        [condition_key(cell) for cell in column(CONDITION)],
        [image_key(cell) for cell in images],
        images,
        numbers,
        told,
    )


def condition_key(name: str) -> str:
    """Return what stands for a condition, however it is spelled.

    >>> condition_key("08172023_ZR_WT"), condition_key("ZRC129A_H144A_fix"), condition_key("a b")
    ('wt', 'c129a_h144a', 'ab')
    """
    lower = name.lower()
    if "3dbd" in lower:
        return "3dbdmut"
    if "c129a" in lower or "h144a" in lower:
        return "c129a_h144a"
    return "wt" if "wt" in lower else _NO_SIGN.sub("", lower)


def image_key(name: str) -> str:
    """Return what stands for an image: no folder, no extensions, no mark of trimming, no signs.

    >>> image_key("WT/a 1.tif_trimmed.tif")
    'a1'
    """
    base = name.replace("\\", "/").rpartition("/")[2].lower()
    base = base.replace("_trimmed", "").replace(".tiff", "").replace(".tif", "")
    return _NO_SIGN.sub("", base)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
