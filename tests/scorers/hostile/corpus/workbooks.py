"""Hostile workbooks. Each function rewrites the honest one at a path."""

from __future__ import annotations

import io
import re
import struct
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_BOOK = "xl/workbook.xml"
_VALUE = re.compile(rb"<v>[^<]*</v>")
_ROW = re.compile(rb"<row\b.*?</row>", re.DOTALL)


def _members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _write(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def _changed(path: Path, fits: str, change: Callable[[bytes], bytes]) -> None:
    """Change all members whose name fits a pattern."""
    members = _members(path)
    chosen = {name: change(members[name]) for name in members if re.search(fits, name)}
    _write(path, members | chosen)


def _sheets(path: Path, change: Callable[[bytes], bytes]) -> None:
    _changed(path, r"worksheets/[^/]*\.xml$", change)


def workbook_that_inflates(path: Path) -> None:
    members = _members(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members.items():
            with archive.open(name, "w") as member:
                cut = content.find(b"<sheetData>") + 11 if b"<sheetData>" in content else 0
                member.write(content[:cut])
                if cut:
                    for _ in range(16):
                        member.write(b"<row/>" * (2**24 // 6))
                member.write(content[cut:])


def workbook_that_lies_about_its_sizes(path: Path) -> None:
    content = path.read_bytes().replace(b"PK\x01\x02", b"PK\x01\x02", 1)
    place = content.find(b"PK\x01\x02")
    while place >= 0:
        content = content[: place + 24] + struct.pack("<I", 10) + content[place + 28 :]
        place = content.find(b"PK\x01\x02", place + 1)
    path.write_bytes(content)


def workbook_whose_members_overlap(path: Path) -> None:
    """Let many names of the directory stand for the same packed bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"<row/>" * 10**6)
    content = packed.getvalue()
    start, end = content.find(b"PK\x01\x02"), content.find(b"PK\x05\x06")
    entry, n = content[start:end], 4000
    tail = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, n, n, n * len(entry), start, 0)
    path.write_bytes(content[:start] + entry * n + tail)


def workbook_of_twenty_thousand_members(path: Path) -> None:
    members = _members(path)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        for number in range(20_000):
            archive.writestr(f"m{number}", b"")


def workbook_in_workbook(path: Path) -> None:
    members = _members(path)
    _write(path, members | {"xl/embeddings/inner.xlsx": path.read_bytes() * 100})


def workbook_of_a_hundred_thousand_declared_sheets(path: Path) -> None:
    sheet = b'<sheet name="s" sheetId="1" r:id="rId1"/>'
    _changed(
        path,
        "^xl/workbook.xml$",
        lambda old: old.replace(b"</sheets>", sheet * 10**5 + b"</sheets>"),
    )


def workbook_whose_sheets_are_one_sheet(path: Path) -> None:
    sheet = re.compile(rb"<(?:\w+:)?sheet [^>]*/>")

    def change(old: bytes) -> bytes:
        found = sheet.search(old)
        return old if found is None else old.replace(found[0], found[0] * 100)

    _changed(path, "^xl/workbook.xml$", change)


def workbook_with_entities_in_entities(path: Path) -> None:
    levels = b"".join(b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 10))
    head = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "lol">' + levels + b"]>"
    _sheets(
        path, lambda old: head + re.sub(rb"^<\?xml[^>]*>", b"", old).replace(b"<v>", b"<v>&l9;")
    )


def workbook_with_an_entity_that_is_a_file(path: Path) -> None:
    head = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    _sheets(path, lambda old: head + re.sub(rb"^<\?xml[^>]*>", b"", old).replace(b"<v>", b"<v>&f;"))


def workbook_with_links_to_another_workbook(path: Path) -> None:
    link = (
        b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        b'<Relationship Id="rId1" TargetMode="External" Target="../../evaluation/reference.xlsx" '
        b'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"/>'
        b"</Relationships>"
    )
    _changed(path, r"^xl/_rels/workbook\.xml\.rels$", lambda _: link)


def workbook_whose_sheet_lies_outside(path: Path) -> None:
    _changed(
        path,
        r"^xl/_rels/workbook\.xml\.rels$",
        lambda old: re.sub(rb'Target="[^"]*sheet', b'Target="../../../../evaluation/sheet', old),
    )


def workbook_of_formulas_without_values(path: Path) -> None:
    _sheets(path, lambda old: _VALUE.sub(b"<f>[1]Sheet1!A1</f>", old))


def workbook_of_errors(path: Path) -> None:
    _sheets(path, lambda old: _VALUE.sub(b"<v>#DIV/0!</v>", old))


def workbook_of_infinities(path: Path) -> None:
    _sheets(path, lambda old: _VALUE.sub(b"<v>1e999</v>", old))


def workbook_of_nan(path: Path) -> None:
    _sheets(path, lambda old: _VALUE.sub(b"<v>nan</v>", old))


def workbook_of_texts_out_of_range(path: Path) -> None:
    _sheets(path, lambda old: _VALUE.sub(b"<v>999999999</v>", old).replace(b"<c ", b'<c t="s" '))


def workbook_of_dates(path: Path) -> None:
    styles = b'<styleSheet><cellXfs count="1"><xf numFmtId="14"/></cellXfs></styleSheet>'
    members = {name: content for name, content in _members(path).items() if "styles" not in name}
    _write(path, members | {"xl/styles.xml": styles})
    _sheets(path, lambda old: old.replace(b"<c ", b'<c s="0" '))


def workbook_of_dates_beyond_the_calendar(path: Path) -> None:
    workbook_of_dates(path)
    _sheets(path, lambda old: _VALUE.sub(b"<v>1e300</v>", old))


def workbook_of_merged_cells(path: Path) -> None:
    merged = b'</sheetData><mergeCells count="1"><mergeCell ref="A1:XFD1048576"/></mergeCells>'
    _sheets(path, lambda old: old.replace(b"</sheetData>", merged))


def workbook_with_a_row_at_a_billion(path: Path) -> None:
    row = b'<row r="999999999"><c r="A999999999"><v>1</v></c></row></sheetData>'
    _sheets(path, lambda old: old.replace(b"</sheetData>", row))


def workbook_with_a_cell_in_column_zzz(path: Path) -> None:
    row = b'<row r="99999"><c r="ZZZ99999"><v>1</v></c></row></sheetData>'
    _sheets(path, lambda old: old.replace(b"</sheetData>", row))


def workbook_with_a_cell_nowhere(path: Path) -> None:
    row = b'<row r="-5"><c r="!$"><v>1</v></c></row></sheetData>'
    _sheets(path, lambda old: old.replace(b"</sheetData>", row))


def workbook_with_a_text_of_twenty_megabytes(path: Path) -> None:
    row = b'<row><c t="inlineStr"><is><t>' + b"A" * 20_000_000 + b"</t></is></c></row></sheetData>"
    _sheets(path, lambda old: old.replace(b"</sheetData>", row))


def workbook_with_a_tag_of_twenty_megabytes(path: Path) -> None:
    row = b"<row " + b"a" * 20_000_000 + b"/></sheetData>"
    _sheets(path, lambda old: old.replace(b"</sheetData>", row))


def workbook_with_a_hundred_thousand_attributes(path: Path) -> None:
    row = b"<row " + b" ".join(b'a%d="1"' % n for n in range(100_000)) + b"/></sheetData>"
    _sheets(path, lambda old: old.replace(b"</sheetData>", row))


def workbook_nested_a_hundred_thousand_deep(path: Path) -> None:
    _sheets(path, lambda old: old.replace(b"</sheetData>", b"<a>" * 10**5 + b"</sheetData>"))


def workbook_of_more_rows_than_allowed(path: Path) -> None:
    rows = b"<row><c><v>1</v></c><c><v>2</v></c></row>" * 110_000 + b"</sheetData>"
    _sheets(path, lambda old: old.replace(b"</sheetData>", rows))


def workbook_of_the_same_rows_over_and_over(path: Path) -> None:
    def change(old: bytes) -> bytes:
        rows = re.sub(rb' r="[^"]*"', b"", b"".join(_ROW.findall(old)[1:]))
        return old.replace(
            b"</sheetData>", rows * (2_000_000 // max(1, len(rows))) + b"</sheetData>"
        )

    _sheets(path, change)


def workbook_without_a_directory(path: Path) -> None:
    _write(path, {name: old for name, old in _members(path).items() if name != _BOOK})


def workbook_in_utf_16(path: Path) -> None:
    _sheets(path, lambda old: re.sub(r"^<\?xml[^>]*>", "", old.decode()).encode("utf-16"))


def workbook_that_is_encrypted(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for found in re.finditer(rb"PK\x01\x02", bytes(content)):
        content[found.start() + 8] |= 1
    path.write_bytes(content)


def workbook_cut_in_the_middle(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def workbook_of_the_old_format(path: Path) -> None:
    path.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(5000))
