"""Write untrusted text into Markdown so that it stays text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evals.scoring.verdict import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Entities where a backslash could itself be read as maths (`\[`), plain escapes elsewhere. The log
# viewer shows an entity as it is written, so there are no more of them than it takes.
_SPECIAL = {sign: f"&#{ord(sign)};" for sign in "\\<>&|$[]@"} | {
    sign: f"\\{sign}" for sign in "`*_#~!"
}
_TABLE = str.maketrans(_SPECIAL)
_LINK = re.compile(r"(?i)(:)(?=//)|(?<=www)(\.)")


def escaped(text: object, limit: int = 300) -> str:
    """Return text on one line in which no sign has a meaning, cut at a limit."""
    line = " ".join(printable(str(text)).split())
    cut = line if len(line) <= limit else line[: limit - 1] + "…"
    return _LINK.sub(lambda found: f"&#{ord(found[0])};", cut.translate(_TABLE))


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table, every cell escaped, or nothing where there are no rows."""
    lines = ["| " + " | ".join(shown(cell) for cell in row) + " |" for row in rows]
    if not lines:
        return ""
    head = [
        "| " + " | ".join(escaped(name) for name in header) + " |",
        "|" + " --- |" * len(header),
    ]
    return "\n".join([*head, *lines])


def shown(value: object) -> str:
    """Return a cell: numbers with four digits, nothing for None, text escaped."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".") if abs(value) < 1e6 else f"{value:.4g}"
    return escaped(value)
