"""Level rubrics in BiomniBench's form: criteria with a few described levels worth points."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from scorers.errors import CapsuleFault
from scorers.rubric.items import UNKNOWN, Item
from scorers.strict_yaml import near

if TYPE_CHECKING:
    from collections.abc import Mapping

DIMENSIONS = (
    "data handling",
    "method selection",
    "statistical rigor",
    "biological interpretation",
    "scientific reasoning",
    "source reliability",
)
FULL_POINTS = 100

_CRITERION = re.compile(r"^Criterion[ \t]+(\d+)[ \t]*:[ \t]*(.*)$", re.MULTILINE)
_POINTS_IN_TITLE = re.compile(r"[ \t]*\([ \t]*-?\d+[ \t]*(?:points?|pts\.?)[ \t]*\)[ \t]*$")
_LEVELS_LINE = re.compile(r"^[ \t]*Levels:[ \t]*(.*)$", re.MULTILINE)
_LEVEL = re.compile(r"([A-Z])[ \t]*=[ \t]*([+-]?\d+)")
_LEVEL_TEXT = re.compile(
    r"^[ \t]*\[([A-Z])\][ \t]*(?:\([ \t]*(-?\d+)[ \t]*points?[ \t]*\))?[ \t]*:", re.MULTILINE
)
_DESCRIPTION = re.compile(r"^[ \t]*Description:", re.MULTILINE)


@dataclass(frozen=True)
class Criterion:
    """One criterion; its levels in the order of the rubric, mostly the best first.

    Attributes
    ----------
    points
        What each level is worth; negative for penalties.
    texts
        What each level means.
    dimension
        One of `DIMENSIONS`; the text form of a rubric does not tell it.
    """

    number: int
    title: str
    description: str
    points: Mapping[str, int]
    texts: Mapping[str, str]
    dimension: str = ""

    @property
    def id(self) -> str:
        """The name by which a judge answers."""
        return f"criterion_{self.number}"

    @property
    def unsigned_points(self) -> dict[str, int]:
        """The points as the grader that was first shipped reads them: without negative levels."""
        return {letter: points for letter, points in self.points.items() if points >= 0}

    @property
    def span(self) -> int:
        """Points between the worst and the best level."""
        return max(self.points.values()) - min(self.points.values())

    def item(self) -> Item:
        """Return the criterion as a question; the points are not told to a judge."""
        return Item(
            id=self.id,
            text=f"{self.title}. {self.description}" if self.description else self.title,
            severity="",
            weight=float(max(self.points.values())),
            section="levels",
            subsection=self.dimension,
            hint="\n".join(f"[{letter}] {self.texts[letter]}" for letter in self.points),
            statuses=(*self.points, UNKNOWN),
        )


@dataclass(frozen=True)
class LevelRubric:
    """A rubric of one task: its criteria and what stands before them."""

    criteria: tuple[Criterion, ...]
    preamble: str = ""
    by_id: Mapping[str, Criterion] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_id = {criterion.id: criterion for criterion in self.criteria}
        object.__setattr__(self, "by_id", by_id)

    def items(self) -> tuple[Item, ...]:
        """Return the criteria as questions."""
        return tuple(criterion.item() for criterion in self.criteria)

    def with_dimensions(self, dimensions: Mapping[str, str]) -> LevelRubric:
        """Return the rubric with the dimension of each criterion by its id, or `CapsuleFault`."""
        strange = sorted(set(dimensions) - set(self.by_id))
        if strange:
            raise CapsuleFault(
                f"dimensions: expected ids of criteria, got {', '.join(map(repr, strange))}. "
                f"Mend: use {', '.join(self.by_id)}."
            )
        for name in dimensions.values():
            if name not in DIMENSIONS:
                raise CapsuleFault(
                    f"dimensions: expected one of {', '.join(DIMENSIONS)}, got {name!r}"
                    f"{near(name, DIMENSIONS)}. Mend: correct the name."
                )
        criteria = (replace(one, dimension=dimensions.get(one.id, "")) for one in self.criteria)
        return LevelRubric(tuple(criteria), self.preamble)


def parse_levels(text: str, source: str) -> LevelRubric:
    """Read a rubric's text, or raise `CapsuleFault`; `source` is the file named in complaints.

    Both forms are read: points in a line `Levels: A=18 B=9 C=0`, and in older rubrics behind each
    letter, `[A] (18 points): ...`. The best levels must add up to 100.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    heads = list(_CRITERION.finditer(text))
    if not heads:
        raise _fault(source, "lines that start with 'Criterion 1:'", "none", "write one for each")
    ends = [*(head.start() for head in heads[1:]), len(text)]
    criteria = tuple(
        _criterion(head, text[head.end() : end], source)
        for head, end in zip(heads, ends, strict=True)
    )
    numbers = [criterion.number for criterion in criteria]
    if len(set(numbers)) < len(numbers):
        raise _fault(source, "a number of its own for each criterion", str(numbers), "renumber")
    total = sum(max(criterion.points.values()) for criterion in criteria)
    if total != FULL_POINTS:
        raise _fault(
            source, f"best levels that add up to {FULL_POINTS}", str(total), "correct the points"
        )
    return LevelRubric(criteria, text[: heads[0].start()].strip())


def _criterion(head: re.Match[str], body: str, source: str) -> Criterion:
    number, where = int(head[1]), f"{source}: criterion {head[1]}"
    marks = list(_LEVEL_TEXT.finditer(body))
    opening = body[: marks[0].start()] if marks else body
    letters = [mark[1] for mark in marks]
    if len(set(letters)) < len(letters):
        raise _fault(where, "each level once", " ".join(letters), "merge the texts of a letter")
    line = _LEVELS_LINE.search(opening)
    if line:
        points = {letter: int(value) for letter, value in _LEVEL.findall(line[1])}
    else:
        points = {mark[1]: int(mark[2]) for mark in marks if mark[2]}
    if not points or set(points) != set(letters):
        raise _fault(
            where,
            "the same letters with points and with texts",
            f"points for {' '.join(points) or 'none'}, texts for {' '.join(letters) or 'none'}",
            "write 'Levels: A=10 B=5 C=0' and a text such as '[A]: ...' for each letter",
        )
    ends = [*(mark.start() for mark in marks[1:]), len(body)]
    texts = {
        mark[1]: _joined(body[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)
    }
    described = _DESCRIPTION.split(opening[: line.start()] if line else opening, maxsplit=1)
    title = _POINTS_IN_TITLE.sub("", head[2]).strip()
    return Criterion(number, title, _joined("".join(described[1:])), points, texts)


def _joined(text: str) -> str:
    return " ".join(text.split())


def _fault(where: str, expected: str, got: str, mend: str) -> CapsuleFault:
    return CapsuleFault(f"{where}: expected {expected}, got {got}. Mend: {mend}.")
