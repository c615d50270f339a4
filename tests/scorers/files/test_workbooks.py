import contextlib
import datetime
import io
import math
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scorers.errors import SubmissionFault
from scorers.files.limits import Limits
from scorers.files.sheets import column_of, is_date
from scorers.files.tree import Tree
from scorers.files.workbook_writing import letters_of, write_workbook
from scorers.files.workbooks import Sheet, read_workbook

Read = Callable[..., list[Sheet]]
SHEET = "xl/worksheets/sheet1.xml"


@pytest.fixture
def read(tmp_path: Path, tree_of: Callable[..., Tree]) -> Read:
    def of(limits: Limits | None = None) -> list[Sheet]:
        (file,) = tree_of(tmp_path).files
        return read_workbook(file, limits or Limits())

    return of


@pytest.fixture
def remade(tmp_path: Path) -> Callable[..., None]:
    """Write a plain workbook in which some members have another content."""

    def make(members: dict[str, bytes | str | None], method: int = zipfile.ZIP_DEFLATED) -> None:
        plain = io.BytesIO()
        path = tmp_path / "book.xlsx"
        write_workbook(path, {"one": [["a", "b"], [1.0, 2.0]]})
        with zipfile.ZipFile(path) as source, zipfile.ZipFile(plain, "w", method) as target:
            kept = {name: source.read(name) for name in source.namelist()} | members
            for name, content in kept.items():
                if content is not None:
                    target.writestr(name, content)
        path.write_bytes(plain.getvalue())

    return make


def rows(*cells: str) -> str:
    """Return a sheet of one row of cells."""
    return f"<worksheet><sheetData><row>{''.join(cells)}</row></sheetData></worksheet>"


def test_values_are_read_as_a_well_kept_library_reads_them(tmp_path: Path, read: Read) -> None:
    book = openpyxl.Workbook()
    first = book.active
    first.title = "cell 1 & more"
    first.append(["time", "value", None, "note"])
    first.append([0, 1.5, None, "ä <b>"])
    first.append([])
    first.append([-1, 1e-300, True, " blanks "])
    first["B9"] = 7
    first.merge_cells("D5:F6")
    first["D5"] = "merged"
    book.create_sheet("empty")
    book.create_sheet("last")["C1"] = 3
    book.save(tmp_path / "book.xlsx")

    known = openpyxl.load_workbook(tmp_path / "book.xlsx", read_only=True, data_only=True)
    expected = [
        (sheet.title, [[*row] for row in sheet.iter_rows(values_only=True)]) for sheet in known
    ]
    known.close()
    found = read()
    assert [sheet.name for sheet in found] == [name for name, _ in expected]
    for sheet, (_, values) in zip(found, expected, strict=True):
        width = max(map(len, values), default=0)
        told = [[*row] + [None] * (width - len(row)) for row in sheet.rows]
        assert told == [row for row in values if any(v is not None for v in row) or told]


def test_dates_are_text_and_no_numbers(tmp_path: Path, read: Read) -> None:
    book = openpyxl.Workbook()
    noon = datetime.datetime.fromisoformat("2016-07-01T12:30:00")
    book.active.append([noon, noon.date(), 3.5])
    book.active.append([datetime.timedelta(hours=30), datetime.time(1, 2, 3)])
    book.save(tmp_path / "book.xlsx")
    (sheet,) = read()
    assert sheet.rows[0] == ("2016-07-01 12:30:00", "2016-07-01 00:00:00", 3.5)
    assert all(isinstance(cell, str) for cell in sheet.rows[1])


def test_a_formula_without_a_stored_value_is_empty(tmp_path: Path, read: Read) -> None:
    book = openpyxl.Workbook()
    book.active.append([1, "=A1*2", "='[http://example.org/x.xlsx]S'!A1", 4])
    book.save(tmp_path / "book.xlsx")
    assert read()[0].rows == [(1.0, None, None, 4.0)]


def test_a_formulas_stored_value_counts(remade, read: Read) -> None:
    remade({SHEET: rows("<c><f>A9*2</f><v>8</v></c>", '<c t="str"><f>T</f><v>x</v></c>')})
    assert read()[0].rows == [(8.0, "x")]


def test_what_is_written_is_read_again(tmp_path: Path, read: Read) -> None:
    values = [["<a> & 'b'", 1.0, None, True, False], [], [None, -2.5e-17]]
    write_workbook(tmp_path / "book.xlsx", {"160701-cell1": values, "other": [[math.nan]]})
    one, other = read()
    assert one.rows == [tuple(values[0]), (), (None, -2.5e-17)]
    assert other.rows == [("nan",)]


def test_written_workbooks_open_elsewhere(tmp_path: Path) -> None:
    write_workbook(tmp_path / "book.xlsx", {"a": [["x", 1.5], [None, True]]})
    book = openpyxl.load_workbook(tmp_path / "book.xlsx")
    assert [*book["a"].values] == [("x", 1.5), (None, True)]


def test_the_same_values_are_the_same_bytes(tmp_path: Path) -> None:
    for name in "ab":
        write_workbook(tmp_path / name, {"s": [["x", 1.5]]})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_shared_texts_leave_out_how_they_are_spoken(remade, read: Read) -> None:
    links = (
        '<Relationships><Relationship Id="rId1" Type="x/worksheet" Target="worksheets/sheet1.xml"/>'
        '<Relationship Id="s" Type="x/sharedStrings" Target="/xl/shared.xml"/></Relationships>'
    )
    shared = "<sst><si><r><t>to</t></r><r><t>kyo</t></r><rPh><t>no</t></rPh></si></sst>"
    remade(
        {
            SHEET: rows('<c t="s"><v>0</v></c>'),
            "xl/_rels/workbook.xml.rels": links,
            "xl/shared.xml": shared,
        }
    )
    assert read()[0].rows == [("tokyo",)]


def test_numbers_may_be_none_and_texts_may_look_like_some(remade, read: Read) -> None:
    remade(
        {
            SHEET: rows(
                "<c><v>1e999</v></c>", "<c><v>nan</v></c>", "<c><v>?</v></c>",
                '<c t="e"><v>#N/A</v></c>', "<c><v>" + "9" * 5000 + "</v></c>",
            )
        }
    )  # fmt: skip
    row = read()[0].rows[0]
    assert row[0] == math.inf
    assert math.isnan(row[1])
    assert row[2:4] == ("?", "#N/A")
    assert row[4] == math.inf


def test_links_to_other_files_are_not_followed(remade, read: Read, tmp_path: Path) -> None:
    links = (
        '<Relationships><Relationship Id="rId1" Type="x/worksheet" TargetMode="External" '
        f'Target="file://{tmp_path}/secret.xml"/></Relationships>'
    )
    remade({"xl/_rels/workbook.xml.rels": links})
    assert read() == []


@pytest.mark.parametrize("target", ["../../../../etc/passwd", "/etc/passwd", "//host/share/x.xml"])
def test_a_target_outside_of_the_archive_is_no_sheet(target: str, remade, read: Read) -> None:
    links = f'<Relationships><Relationship Id="rId1" Type="x/worksheet" Target="{target}"/>'
    remade({"xl/_rels/workbook.xml.rels": links + "</Relationships>"})
    assert read() == []


ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;">]><worksheet/>'
REFUSED = {
    "a document type": ({SHEET: ENTITIES}, {}, "document type"),
    "an external entity": (
        {SHEET: '<!DOCTYPE x SYSTEM "file:///etc/passwd"><worksheet/>'},
        {},
        "document type",
    ),
    "a bomb": ({SHEET: b"<worksheet>" + b"<a/>" * 500_000}, {}, "inflates"),
    "a bomb by size": (
        {SHEET: bytes(range(32, 127)) * 2000},
        {"workbook_bytes": 100_000},
        "unpacks to more",
    ),
    "many members": ({f"x{n}": b"" for n in range(60)}, {"members": 50}, "members"),
    "many sheets": (
        {"xl/workbook.xml": "<x>" + "<sheet name='a' r:id='rId1'/>" * 9 + "</x>"},
        {"sheets": 8},
        "sheets",
    ),
    "a far row": ({SHEET: '<x><row r="900000000"><c><v>1</v></c></row></x>'}, {}, "rows"),
    "a row that is none": ({SHEET: '<x><row r="-5"><c><v>1</v></c></row></x>'}, {}, "whole number"),
    "a far column": ({SHEET: rows('<c r="ZZZ1"><v>1</v></c>')}, {}, "columns"),
    "a column that is none": ({SHEET: rows('<c r="ZZZZ1"><v>1</v></c>')}, {}, "cell at"),
    "many wide rows": (
        {SHEET: "<x>" + '<row><c r="AAA1"><v>1</v></c></row>' * 100 + "</x>"},
        {"cells": 10_000},
        "cells",
    ),
    "a long text": ({SHEET: rows(f"<c><v>{'x' * 70_000}</v></c>")}, {}, "characters"),
    "a long tag": ({SHEET: f'<x a="{"y" * 3_000_000}">'}, {"inflation": 10_000}, "tag"),
    "a text that is not there": ({SHEET: rows('<c t="s"><v>7</v></c>')}, {}, "shared text"),
    "no end": ({SHEET: "<worksheet><sheetData><row>"}, {}, "unreadable"),
    "no XML": ({SHEET: b"\x00\x01\x02"}, {}, "unreadable"),
    "no workbook": ({"xl/workbook.xml": None}, {}, "no workbook"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_broken_or_too_large_is_refused_with_a_reason(
    name: str, remade, read: Read
) -> None:
    members, limits, reason = REFUSED[name]
    remade(members)
    with pytest.raises(SubmissionFault, match=reason) as fault:
        read(Limits(**limits))
    assert "book.xlsx" in str(fault.value)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_methods_of_compression_are_refused(method: int, remade, read: Read) -> None:
    remade({}, method)
    with pytest.raises(SubmissionFault, match="another method"):
        read()


@pytest.mark.parametrize(
    "content",
    [b"", b"PK", b"PK\x05\x06" + b"\0" * 18, b"not a zip" * 100, b"\xd0\xcf\x11\xe0" * 200],
)
def test_what_is_no_archive_is_refused(content: bytes, tmp_path: Path, read: Read) -> None:
    (tmp_path / "book.xlsx").write_bytes(content)
    with pytest.raises(SubmissionFault, match=r"book\.xlsx"):
        read()


def test_a_sheet_that_declares_a_huge_extent_is_read_by_its_cells(remade, read: Read) -> None:
    sheet = rows("<c><v>1</v></c>").replace(
        "<sheetData>", '<dimension ref="A1:XFD1048576"/><sheetData>'
    )
    remade({SHEET: sheet})
    assert read()[0].rows == [(1.0,)]


def test_of_rows_out_of_order_those_that_come_too_late_are_left_out(remade, read: Read) -> None:
    remade({SHEET: '<x><row r="3"><c><v>3</v></c></row><row r="1"><c><v>1</v></c></row></x>'})
    assert read()[0].rows == [(), (), (3.0,)]


def test_columns_are_named_as_spreadsheets_name_them() -> None:
    for number in (1, 26, 27, 702, 703, 16_384):
        assert column_of(f"{letters_of(number)}7") == number


@pytest.mark.parametrize(
    ("code", "date"),
    [("General", False), ("0.00", False), ("dd/mm/yy", True), ('"dmy" 0', False), ("[Red]0", False),
     ("mm:ss", True), ("[h]:mm", True), ("0.0\\d", False), ("h" * 300, False)],
)  # fmt: skip
def test_formats_of_dates_are_told_from_others(code: str, date: bool) -> None:
    assert is_date(code) is date


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_bytes_changed_anywhere_give_values_or_a_reason(
    data: st.DataObject, tmp_path: Path, tree_of: Callable[..., Tree]
) -> None:
    path = tmp_path / "book.xlsx"
    write_workbook(path, {"one": [["a", "b"], [1.0, True]], "two": [["c"]]})
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    kept = len(content) - data.draw(st.sampled_from([0, 0, 1, 30, 300]))
    path.write_bytes(content[:kept])
    with contextlib.suppress(SubmissionFault):
        (file,) = tree_of(tmp_path).files
        read_workbook(file)


PIECES = [
    "<worksheet>",
    "<sheetData>",
    "<row>",
    "</row>",
    '<row r="3">',
    "<c>",
    "</c>",
    '<c r="B2" t="s">',
    '<c t="b" s="1">',
    "<v>",
    "</v>",
    "1",
    "-1e5",
    "&#65;",
    "<is>",
    "<t>",
    "</t>",
    "</is>",
    "&amp;",
    "<rPh>",
    "</sheetData>",
    "</worksheet>",
    " ",
]


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=30))
def test_any_sheet_gives_values_or_a_reason(
    pieces: list[str], remade, tree_of, tmp_path: Path
) -> None:
    remade({SHEET: "<x>" + "".join(pieces) + "</x>"})
    with contextlib.suppress(SubmissionFault):
        (file,) = tree_of(tmp_path).files
        read_workbook(file)
