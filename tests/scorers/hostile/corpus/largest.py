"""Tables as large as the usual limits let them be, which graders work through."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")
_BYTES = 60 * 2**20
_ROWS = 999_000


def _parts(path: Path) -> tuple[bytes, bytes]:
    """Return the heading and the last row."""
    head, *rest = path.read_text("utf-8").splitlines() or [""]
    return head.encode() + b"\n", (rest or [head])[-1].encode() + b"\n"


def million_equal_rows(path: Path) -> None:
    head, row = _parts(path)
    path.write_bytes(head + row * min(_ROWS, _BYTES // len(row)))


def million_rows_that_count_up(path: Path) -> None:
    head, row = _parts(path)
    pattern = _NUMBER.sub("%d", row.decode().replace("%", ""))
    n_slots, n_rows = pattern.count("%d"), min(_ROWS, _BYTES // (len(row) + 20))
    with path.open("wb") as file:
        file.write(head)
        for start in range(0, n_rows, 10_000):
            numbers = range(start, start + 10_000)
            file.write("".join(pattern % ((n,) * n_slots) for n in numbers).encode())


def million_rows_of_other_names(path: Path) -> None:
    head, row = _parts(path)
    cells = row.decode().rstrip("\n").split(",")
    pattern = ",".join(
        cell if _NUMBER.fullmatch(cell.strip()) else f"{cell.replace('%', '')}%d" for cell in cells
    )
    n_slots, n_rows = pattern.count("%d"), min(_ROWS, _BYTES // (len(row) + 30))
    with path.open("wb") as file:
        file.write(head)
        for start in range(0, n_rows, 10_000):
            numbers = range(start, start + 10_000)
            file.write("".join(pattern % ((n,) * n_slots) + "\n" for n in numbers).encode())
