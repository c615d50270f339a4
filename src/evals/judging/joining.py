"""Two files of decisions laid side by side: the same item of the same sample in one row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evals.judging.decision_files import PLACE, DecisionsInvalidError
from evals.names import unknown
from scorers.rubric.agreement import MISSING
from scorers.rubric.items import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evals.judging.decision_files import Decisions, Rating
    from scorers.rubric.agreement import Scale

    Key = tuple[str, ...]

SIDES = ("first", "second")


@dataclass(frozen=True)
class Unit:
    """One item of one sample that both files decide.

    Attributes:
        sample: What of task, sample and epoch both files tell.
        answers: Index into the scale by rater, for those who answered.
    """

    item: str
    sample: Key
    task: str
    severity: str
    answers: Mapping[str, int]


@dataclass
class Count:
    """What became of one file's decisions.

    Attributes:
        decisions: All of them.
        unanswered: Those without a valid answer.
        undecided: Those answered `unknown` where only decided ones are compared.
        unmatched: Answered ones whose sample and item the other file does not decide.
        by_check: Those among the compared that code decided.
        samples_unscored: Samples of a log without decisions.
    """

    decisions: int = 0
    unanswered: int = 0
    undecided: int = 0
    unmatched: int = 0
    by_check: int = 0
    samples_unscored: int = 0


@dataclass(frozen=True)
class Joined:
    """Units in a fixed order, the raters of both files, and what was left out."""

    units: Sequence[Unit]
    raters: tuple[tuple[str, ...], tuple[str, ...]]
    counts: tuple[Count, Count]


@dataclass
class _Side:
    count: Count
    rows: dict[Key, dict[str, tuple[int, Rating]]] = field(default_factory=dict)


def join(first: Decisions, second: Decisions, scale: Scale) -> Joined:
    """Lay decisions side by side.

    Args:
        first: One file.
        second: The other.
        scale: The answers that are compared; `unknown` is left out and counted if it is not one.

    Raises:
        DecisionsInvalidError: An answer is none of the scale, a rater decides something twice, or
            nothing is decided by both.
    """
    common = _common(first, second)
    labels = _labels(first, second)
    sides = [
        _side(decisions, scale, common, names)
        for decisions, names in zip((first, second), labels, strict=True)
    ]
    keys = [key for key in sides[0].rows if key in sides[1].rows]
    if not keys:
        raise _apart(first, second, common, sides)
    for side, other in (sides, sides[::-1]):
        side.count.unmatched = sum(
            len(row) for key, row in side.rows.items() if key not in other.rows
        )
        side.count.by_check = sum(
            rating.by_check for key in keys for _, rating in side.rows[key].values()
        )
    one, two = (side.rows for side in sides)
    units = [_unit(key, {**one[key], **two[key]}) for key in sorted(keys)]
    raters = [tuple(sorted(set(names.values()))) for names in labels]
    return Joined(units, (raters[0], raters[1]), (sides[0].count, sides[1].count))


def _common(first: Decisions, second: Decisions) -> list[int]:
    """Return which parts of a place both files tell."""
    told = first.places, second.places
    common = [at for at, name in enumerate(PLACE) if name in told[0] and name in told[1]]
    if not common and all(told):
        raise DecisionsInvalidError(
            f"Nothing says which samples are the same: {first.path} tells {', '.join(told[0])}, "
            f"{second.path} tells {', '.join(told[1])}. Mend: give both a column sample_id or "
            "task_id."
        )
    return common


def _labels(first: Decisions, second: Decisions) -> list[dict[str, str]]:
    """Return, for both files, what each of their raters is called."""
    named = [sorted({rating.rater for rating in side.ratings}) for side in (first, second)]
    both = set(named[0]) & set(named[1])
    return [
        {name: (f"{name} ({side})" if name in both else name) if name else side for name in names}
        for side, names in zip(SIDES, named, strict=True)
    ]


def _side(
    decisions: Decisions, scale: Scale, common: Sequence[int], labels: Mapping[str, str]
) -> _Side:
    count = Count(decisions=len(decisions.ratings), samples_unscored=decisions.unscored)
    side = _Side(count)
    seen: dict[tuple[Key, str], Rating] = {}
    for rating in decisions.ratings:
        key = (*(rating.place[at] for at in common), rating.item)
        rater = labels[rating.rater]
        if (before := seen.setdefault((key, rater), rating)) is not rating:
            raise _twice(decisions, before, rating, common)
        answer = _answer(decisions, rating, scale)
        if not rating.status:
            count.unanswered += 1
        elif answer == MISSING:
            count.undecided += 1
        else:
            side.rows.setdefault(key, {})[rater] = answer, rating
    return side


def _answer(decisions: Decisions, rating: Rating, scale: Scale) -> int:
    """Return the answer as an index into the scale, whatever the case of its letters."""
    folded = [name.casefold() for name in scale.categories]
    wanted = rating.status.casefold()
    if wanted in folded:
        return folded.index(wanted)
    if wanted in ("", UNKNOWN):
        return MISSING
    choices = dict.fromkeys((*scale.categories, UNKNOWN))
    hint = unknown("answer", rating.status, choices).message
    raise DecisionsInvalidError(
        f"{decisions.path}, {rating.where}, item {rating.item}: {hint} Levels are told with "
        "--levels A,B,C."
    )


def _twice(
    decisions: Decisions, before: Rating, rating: Rating, common: Sequence[int]
) -> DecisionsInvalidError:
    known = ", ".join(PLACE[at] for at in common) or "no sample"
    return DecisionsInvalidError(
        f"{decisions.path} decides item {rating.item} twice: {before.where} and {rating.where}. "
        f"Expected one decision of a rater on an item (both files tell: {known}). Mend: tell "
        "samples, epochs and raters apart in columns sample_id, epoch and rater of both files."
    )


def _apart(
    first: Decisions, second: Decisions, common: Sequence[int], sides: Sequence[_Side]
) -> DecisionsInvalidError:
    shown = [" / ".join(next(iter(side.rows), ("no answer",))) for side in sides]
    names = " / ".join([*(PLACE[at] for at in common), "item_id"])
    return DecisionsInvalidError(
        f"{first.path} and {second.path} decide nothing in common: expected the same {names}, got "
        f"for example {shown[0]!r} and {shown[1]!r}. Mend: give decisions on the same submissions, "
        "with the ids of the log."
    )


def _unit(key: Key, answers: Mapping[str, tuple[int, Rating]]) -> Unit:
    ratings = [rating for _, rating in answers.values()]
    return Unit(
        item=key[-1],
        sample=key[:-1],
        task=_told(rating.place[0] for rating in ratings),
        severity=_told(rating.severity for rating in ratings),
        answers={rater: answer for rater, (answer, _) in answers.items()},
    )


def _told(values: Iterable[str]) -> str:
    return next(filter(None, values), "")
