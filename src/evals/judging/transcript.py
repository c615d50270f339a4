"""An agent's turns condensed into a text that fits beside the rest of the evidence.

What matters most is told at the greatest length: how it began and ended, what failed, what was
looked at. Everything in it is the agent's, so it is made harmless as files are.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from scorers.rubric.fencing import Found, harmless

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evals.judging.turns import Done, Turn

REF = "transcript"
TRANSCRIPT_TOKENS = 6000
# A cautious guess for all tokenizers: code and numbers have few bytes to a token.
BYTES_PER_TOKEN = 3

_FIRST, _LAST = 2, 3
_BREAK = "\n\n"


@dataclass(frozen=True)
class _Detail:
    """How many characters of a turn's parts are told."""

    says: int
    given: int
    result: int


_BRIEF, _MORE, _LONG = 0, 1, 2
_DETAILS = (_Detail(100, 100, 0), _Detail(400, 500, 200), _Detail(1200, 2500, 1000))
# Which turns are told next, in which detail, and up to which share of the budget: ends first,
# then failures and pictures, then a line on each turn, then more of all.
_ENDS, _MARKED, _ALL = 1, 3, 5
_STEPS = (
    (_ENDS, _LONG, 0.5),
    (_MARKED, _MORE, 0.75),
    (_ALL, _BRIEF, 1.0),
    (_ALL, _MORE, 1.0),
    (_ALL, _LONG, 1.0),
)


@dataclass(frozen=True)
class Condensed:
    """The condensed transcript, and what in it had to be made harmless."""

    text: str
    turns: int
    shortened: bool = False
    found: tuple[Found, ...] = ()


def condensed(
    turns: Sequence[Turn],
    tokens: int = TRANSCRIPT_TOKENS,
    names: Mapping[str, str] | None = None,
) -> Condensed:
    """Condense turns into at most about `tokens` tokens.

    Args:
        turns: The turns in their order.
        tokens: The budget.
        names: Texts that are not told, such as folders of this machine, and what stands for them.
    """
    entries = [_Entry(number, turn, names or {}) for number, turn in enumerate(turns, start=1)]
    ranks = {entry.number: _rank(entry, len(entries)) for entry in entries}
    ranked = sorted(entries, key=lambda entry: ranks[entry.number])
    # Before each turn that is told, and after the last one, others may be left out.
    gap = len(_left_out(len(entries)).encode()) + 2 * len(_BREAK)
    budget = tokens * BYTES_PER_TOKEN - gap
    spent = 0
    for most, detail, share in _STEPS:
        for entry in ranked:
            if ranks[entry.number][0] <= most:
                spent += entry.tell(detail, int(budget * share) - spent, gap)
    return Condensed(
        _BREAK.join(_lines(entries)),
        len(turns),
        shortened=any(entry.shortened for entry in entries),
        found=tuple(found for entry in entries for found in entry.found),
    )


def middle_out(text: str, most: int) -> str:
    """Return a text of at most about `most` characters: its head and, shorter, its tail."""
    if len(text) <= most:
        return text
    head = most * 3 // 5
    tail = most - head
    return f"{text[:head]}\n[… {len(text) - most} characters left out …]\n{text[-tail:]}"


class _Entry:
    """One turn, told at some length; not at all as long as `text` is empty."""

    def __init__(self, number: int, turn: Turn, names: Mapping[str, str]) -> None:
        self.number = number
        self.turn = turn
        self.text = ""
        self.shortened = True
        self.found: tuple[Found, ...] = ()
        self._names = names
        self._detail = -1

    def tell(self, detail: int, left: int, gap: int) -> int:
        """Tell the turn in such detail if that fits, and return how many bytes it takes more."""
        if detail <= self._detail or not self.shortened:
            return 0
        raw, shortened = _told(self.number, self.turn, _DETAILS[detail])
        for text, name in self._names.items():
            raw = raw.replace(text, name)
        if len(raw.encode()) - len(self.text.encode()) > left:
            return 0
        safe = harmless(raw)
        more = len(safe.text.encode()) - len(self.text.encode()) + (0 if self.text else gap)
        if more > left:
            return 0
        self.text, self.shortened, self.found = safe.text, shortened, safe.found
        self._detail = detail
        return more


def _rank(entry: _Entry, count: int) -> tuple[int, int]:
    """Return what sorts turns by how much they matter."""
    from_end = count - entry.number
    if from_end < _LAST:
        return 0, from_end
    if entry.number <= _FIRST:
        return 1, entry.number
    if entry.turn.failed:
        return 2, entry.number
    if entry.turn.images:
        return 3, entry.number
    return (4 if entry.turn.does else 5), entry.number


def _lines(entries: Sequence[_Entry]) -> list[str]:
    lines: list[str] = []
    for missing, run in groupby(entries, key=lambda entry: not entry.text):
        together = list(run)
        lines += [_left_out(len(together))] if missing else [entry.text for entry in together]
    return lines


def _left_out(count: int) -> str:
    return f"[{count} turns left out]"


def _told(number: int, turn: Turn, detail: _Detail) -> tuple[str, bool]:
    says = turn.says.strip()
    parts = [f"[turn {number}] {_within(says, detail.says)}".strip()]
    shortened = len(says) > detail.says
    for done in turn.does:
        given, result = done.given.strip(), done.result.strip()
        name = " ".join(done.name.split())[:80]
        parts.append(f"calls {name}: {_within(given, detail.given)}")
        if detail.result and result:
            parts.append(f"got{_how(done)}: {_within(result, detail.result)}")
        elif done.failed or done.images:
            parts.append(f"got{_how(done)}")
        shortened |= len(given) > detail.given or len(result) > detail.result
    return "\n".join(parts), shortened


def _within(text: str, most: int) -> str:
    """Return a text whose further lines are indented: none of them can pass for a turn or call."""
    return "\n  ".join(middle_out(text, most).splitlines())


def _how(done: Done) -> str:
    failed = " (failed)" if done.failed else ""
    looked = f" ({done.images} image{'s' * (done.images != 1)})" if done.images else ""
    return failed + looked
