"""The parts of a workbook that hold values: shared texts, number formats, cells of a sheet."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from scorers.errors import SubmissionFault

Cell = float | str | bool | None

# Formats that need not be declared: dates, times, and those of East Asian editions.
_DATE_FORMATS = frozenset({*range(14, 23), *range(27, 37), 45, 46, 47, *range(50, 59)})
_LONGEST_FORMAT = 255
_NO_CODE = re.compile(r'"[^"]*"|\[(?![hms]{1,2}\])[^\]]*\]|[\\_].', re.IGNORECASE)
_DATE_CODE = re.compile(r"[dmhys]", re.IGNORECASE)
_EPOCHS = {False: datetime(1899, 12, 30), True: datetime(1904, 1, 1)}  # noqa: DTZ001 - as stored
_ALPHABET = 26
_DAY = 86_400


class SharedStrings:
    """Texts that cells name by their position."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._parts: list[str] = []
        self._phonetic = False
        self.values: list[str] = []

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Note that an element begins."""
        if name == "si":
            self._parts = []
        elif name == "rPh":
            self._phonetic = True

    def finish(self, name: str, text: str) -> None:
        """Note that an element ends."""
        if name == "t" and not self._phonetic:
            self._parts.append(text)
        elif name == "rPh":
            self._phonetic = False
        elif name == "si":
            if len(self.values) == self._most:
                raise SubmissionFault(f"has more than {self._most} shared texts")
            self.values.append("".join(self._parts))


class Styles:
    """Which styles show a number as a date."""

    def __init__(self, *, from_1904: bool) -> None:
        self._epoch = _EPOCHS[from_1904]
        self._formats: dict[str, bool] = {}
        self._in_cells = False
        self._dates: list[bool] = []

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Note that an element begins."""
        if name == "numFmt":
            self._formats[attributes.get("numFmtId", "")] = is_date(
                attributes.get("formatCode", "")
            )
        elif name == "cellXfs":
            self._in_cells = True
        elif name == "xf" and self._in_cells:
            number = attributes.get("numFmtId", "0")
            usual = number.isdecimal() and len(number) < 4 and int(number) in _DATE_FORMATS
            self._dates.append(self._formats.get(number, usual))

    def finish(self, name: str, text: str) -> None:
        """Note that an element ends."""
        if name == "cellXfs":
            self._in_cells = False

    def shown(self, number: float, style: str | None) -> Cell:
        """Return a number as it is, or as text if its style makes a date of it."""
        if style is None or not style.isdecimal() or len(style) > 9:
            return number
        place = int(style)
        if place >= len(self._dates) or not self._dates[place]:
            return number
        try:
            return (self._epoch + timedelta(seconds=round(number * _DAY))).isoformat(" ")
        except (OverflowError, ValueError):
            return "#VALUE!"


def is_date(code: str) -> bool:
    """Return whether a number format shows dates or times.

    >>> is_date("yyyy-mm-dd"), is_date("[h]:mm"), is_date('0.00" days"'), is_date("[Red]0.0")
    (True, True, False, False)
    """
    return len(code) <= _LONGEST_FORMAT and bool(_DATE_CODE.search(_NO_CODE.sub("", code)))


@dataclass
class Budget:
    """How many rows and cells may still be read of a workbook."""

    rows: int
    cells: int


class SheetCells:
    """The cells of one sheet.

    Attributes
    ----------
    rows
        From the first on, with empty ones for those that are left out.
    """

    def __init__(
        self, strings: list[str], styles: Styles, budget: Budget, most_columns: int
    ) -> None:
        self._strings = strings
        self._styles = styles
        self._budget = budget
        self._most_columns = most_columns
        self._most_rows = budget.rows
        self._row: dict[int, Cell] | None = None
        self._number = 0
        self._column = 0
        self._cell: dict[str, str] = {}
        self._value: str | None = None
        self._inline: list[str] = []
        self._phonetic = False
        self.rows: list[tuple[Cell, ...]] = []

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Note that an element begins."""
        if name == "c" and self._row is not None:
            self._cell, self._value, self._inline = attributes, None, []
            place = attributes.get("r")
            self._column = self._column + 1 if place is None else column_of(place)
        elif name == "row":
            self._row, self._column = {}, 0
            told = attributes.get("r")
            self._number = self._number + 1 if told is None else whole(told)
        elif name == "rPh":
            self._phonetic = True

    def finish(self, name: str, text: str) -> None:
        """Note that an element ends."""
        if name == "v":
            self._value = text
        elif name == "c" and self._row is not None:
            value = self._content()
            if value is not None:
                self._row[self._column] = value
                if self._column > self._most_columns:
                    raise SubmissionFault(f"has more than {self._most_columns} columns")
        elif name == "t" and not self._phonetic:
            self._inline.append(text)
        elif name == "row" and self._row is not None:
            self._keep(self._row)
            self._row = None
        elif name == "rPh":
            self._phonetic = False

    def _content(self) -> Cell:
        kind = self._cell.get("t", "n")
        if kind == "inlineStr":
            return "".join(self._inline)
        text = self._value
        if not text:
            return None
        if kind == "s":
            place = whole(text)
            if place >= len(self._strings):
                raise SubmissionFault(f"names a shared text {place} of {len(self._strings)}")
            return self._strings[place]
        if kind == "b":
            return text.strip() not in {"0", "false"}
        if kind == "n":
            try:
                number = float(text)
            except ValueError:
                return text
            return self._styles.shown(number, self._cell.get("s"))
        return text

    def _keep(self, row: dict[int, Cell]) -> None:
        """Append a row; of rows out of order the first stays."""
        left_out = self._number - len(self.rows) - 1
        if left_out < 0 or not row:
            return
        width = max(row)
        self._budget.rows -= left_out + 1
        self._budget.cells -= width
        if self._budget.rows < 0:
            raise SubmissionFault(f"has more than {self._most_rows} rows")
        if self._budget.cells < 0:
            raise SubmissionFault("has too many cells")
        self.rows.extend([()] * left_out)
        self.rows.append(tuple(row.get(column) for column in range(1, width + 1)))


def column_of(place: str) -> int:
    """Return the number of a cell's column, from 1 on.

    >>> column_of("A1"), column_of("AB12")
    (1, 28)
    """
    letters = place.rstrip("0123456789").upper()
    if not 1 <= len(letters) <= 3 or not (letters.isascii() and letters.isalpha()):
        raise SubmissionFault(f"has a cell at {place[:20]!r}")
    number = 0
    for letter in letters:
        number = number * _ALPHABET + ord(letter) - ord("A") + 1
    return number


def whole(text: str) -> int:
    """Return a whole number from 0 on, of at most nine digits."""
    digits = text.strip()
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 9:
        raise SubmissionFault(f"has {text[:20]!r} where a whole number belongs")
    return int(digits)
