"""Long texts made shorter, in a way that can be seen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_LINES = 400
_LONGEST_LINE = 2000
_HEAD_OF_LOG = 0.6
_PROGRESS = re.compile(
    r"\d{1,3}%\s{0,3}\|"  # bars
    r"|\b\d+(?:\.\d+)?\s?[kKMG]i?B/s\b"  # rates of downloads
    r"|^\W{0,8}(?:step|iteration|iter|batch)\W{0,4}\d+\s?(?:/|of)\s?\d+\W{0,8}$"
    r"|^\s{0,40}(?:\d+\.\d+|\d+)\s?(?:it/s|s/it)\b"
    r"|^(?:Requirement already satisfied|Collecting |Downloading |Using cached )",
    re.IGNORECASE,
)


def shares(lengths: Sequence[int], total: int) -> list[int]:
    """Return how much each of several texts may have, so that a long one starves no short one.

    >>> shares([10, 100, 400], 210)
    [10, 100, 100]
    """
    allowed = [0] * len(lengths)
    left = total
    order = sorted(range(len(lengths)), key=lambda place: lengths[place])
    for done, place in enumerate(order):
        allowed[place] = min(lengths[place], left // (len(order) - done))
        left -= allowed[place]
    return allowed


def shortened(text: str, most: int, keep: Literal["head", "ends"]) -> str:
    """Return a text of about `most` characters and `MOST_LINES` lines, with a mark at the cut.

    Parameters
    ----------
    text
        Any.
    most
        Characters; the mark comes on top.
    keep
        `head`: its begin; `ends`: 60 % of its begin and 40 % of its end.
    """
    lines = text.split("\n")
    if any(len(line) > _LONGEST_LINE for line in lines):
        text = "\n".join(_short_line(line) for line in lines)
    if len(text) <= most and len(lines) <= MOST_LINES:
        return text
    share = 1.0 if keep == "head" else _HEAD_OF_LOG
    head = _first(text, round(most * share), round(MOST_LINES * share))
    tail = ""
    if keep == "ends":
        rest = text[len(head) :][::-1]
        tail = _first(rest, most - round(most * share), MOST_LINES - round(MOST_LINES * share))
    gone = len(text) - len(head) - len(tail)
    if not gone:
        return text
    return f"{head}\n[… {gone} characters left out …]\n{tail[::-1]}".rstrip("\n")


def without_progress(log: str) -> str:
    """Return a log without progress bars, rates of downloads, counters and noise of installers."""
    lines = (line.rsplit("\r", 1)[-1] for line in log.replace("\r\n", "\n").split("\n"))
    return "\n".join(line for line in lines if not _PROGRESS.search(line[:400]))


def _first(text: str, most: int, most_lines: int) -> str:
    return "\n".join(text[:most].split("\n", most_lines)[:most_lines])


def _short_line(line: str) -> str:
    gone = len(line) - _LONGEST_LINE
    return line if gone <= 0 else f"{line[:_LONGEST_LINE]} [… {gone} characters left out …]"
