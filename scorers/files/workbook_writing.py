"""Plain Excel workbooks, the same bytes for the same values: no dates, users or identifiers."""

from __future__ import annotations

import math
import zipfile
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from scorers.files.sheets import Cell

_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)
_ALPHABET = 26


def write_workbook(path: Path, sheets: Mapping[str, Iterable[Sequence[Cell]]]) -> None:
    """Write sheets by their names; numbers that are not finite become text, None stays empty."""
    names = list(sheets)
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in _frame(names).items():
            archive.writestr(_entry(name), _HEAD + text)
        for index, rows in enumerate(sheets.values(), start=1):
            archive.writestr(_entry(f"xl/worksheets/sheet{index}.xml"), _HEAD + _sheet(rows))


def _entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _FIRST_DAY)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _frame(names: Sequence[str]) -> dict[str, str]:
    numbers = range(1, len(names) + 1)
    parts = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{_TYPE}.worksheet+xml"/>'
        for n in numbers
    )
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{n}" r:id="rId{n}"/>'
        for n, name in zip(numbers, names, strict=True)
    )
    links = "".join(
        f'<Relationship Id="rId{n}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in numbers
    )
    return {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f"{parts}</Types>",
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
        "</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">'
        f"<sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f"{links}</Relationships>",
    }


def _sheet(rows: Iterable[Sequence[Cell]]) -> str:
    filled = "".join(
        f'<row r="{number}">{_cells(row, number)}</row>' for number, row in enumerate(rows, start=1)
    )
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{filled}</sheetData></worksheet>'


def _cells(row: Sequence[Cell], number: int) -> str:
    return "".join(
        _cell(value, f"{letters_of(column)}{number}")
        for column, value in enumerate(row, start=1)
        if value is not None
    )


def _cell(value: Cell, place: str) -> str:
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float) and math.isfinite(value):
        return f'<c r="{place}"><v>{value!r}</v></c>'
    text = escape(str(value))
    return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


def letters_of(column: int) -> str:
    """Return the letters of a column by its number, from 1 on.

    >>> letters_of(1), letters_of(28)
    ('A', 'AB')
    """
    letters = ""
    while column:
        column, rest = divmod(column - 1, _ALPHABET)
        letters = chr(ord("A") + rest) + letters
    return letters
