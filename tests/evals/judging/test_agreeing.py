from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evals.judging.agreeing import YES_OR_NO, By, Comparison, compare, scale_of
from evals.judging.decision_files import Decisions, DecisionsInvalidError, Rating
from scorers.rubric.bootstrap import Bootstrap

if TYPE_CHECKING:
    from scorers.rubric.agreement import Scale

ANSWERS = {"p": "pass", "f": "fail", "u": "unknown"}


def answers(name: str, *samples: str, severities: str = "", rater: str = "") -> list[Rating]:
    """Return a rater's decisions: of each sample a text with one letter an item."""
    return [
        Rating(
            item=item,
            status=ANSWERS.get(letter, letter),
            rater=rater,
            place=(f"task-{at % 2}", f"sample-{at}", ""),
            severity=severities[number : number + 1],
            by_check=False,
            where=name,
        )
        for at, sample in enumerate(samples)
        for number, (item, letter) in enumerate(zip("abcdef", sample, strict=False))
    ]


def compared(
    first: list[Rating], second: list[Rating], *, by: By = "item", scale: Scale = YES_OR_NO
) -> Comparison:
    files = Decisions(Path("one.csv"), first), Decisions(Path("two.csv"), second)
    return compare(*files, scale, by, Bootstrap(resamples=100))


def test_all_answers_are_compared_and_beside_them_those_both_decided() -> None:
    found = compared(answers("one", "ppf", "puf"), answers("two", "ppp", "ppf"))
    assert found.overall.confusion == ((3, 0, 0), (1, 1, 0), (1, 0, 0))
    assert found.decided is not None
    assert found.decided.confusion == ((3, 0), (1, 1))
    assert (found.items, found.overall.samples) == (3, 2)


def test_the_item_with_the_least_agreement_comes_first() -> None:
    found = compared(answers("one", "ppf", "pff"), answers("two", "pfp", "ppf"))
    told = [(part.name, part.found.observed.value) for part in found.parts]
    assert told == [("b", 0.0), ("c", 0.5), ("a", 1.0)]


def test_parts_may_be_severities_which_one_file_tells() -> None:
    found = compared(
        answers("one", "ppf", "pff"), answers("two", "pfp", "ppf", severities="xyy"), by="severity"
    )
    assert [(part.name, part.found.n) for part in found.parts] == [("y", 4), ("x", 2)]


def test_parts_may_be_tasks() -> None:
    found = compared(answers("one", "pp", "pf", "pp"), answers("two", "pp", "fp", "pf"), by="task")
    told = [(part.name, part.found.samples, part.found.observed.value) for part in found.parts]
    assert told == [("task-1", 1, 0.0), ("task-0", 2, 0.75)]


def test_parts_that_no_file_tells_are_refused() -> None:
    with pytest.raises(DecisionsInvalidError, match="the severity of every decision"):
        compared(answers("one", "p"), answers("two", "p"), by="severity")


def test_levels_are_compared_by_their_distance_and_without_unknown() -> None:
    found = compared(
        answers("one", "ABC", "ABu"), answers("two", "ABB", "ABC"), scale=scale_of(["A", "B", "C"])
    )
    assert found.decided is None
    assert found.overall.n == 5
    # One step in 5; margins 2 2 1 and 2 3 0 give 17 steps among 25 pairs.
    assert found.overall.kappa.value == pytest.approx(1 - (1 / 5) / (17 / 25))


def test_raters_of_one_file_are_compared_with_the_other_file_and_by_pair_with_each_other() -> None:
    people = answers("one", "ppf", "pff", rater="ann") + answers("one", "ppp", "pff", rater="ben")
    found = compared(people, answers("two", "ppf", "ppf"))
    assert found.overall.n == 12
    told = [(part.name, part.found.n, part.found.observed.value) for part in found.pairs]
    assert told == [
        ("ann × ben", 6, pytest.approx(5 / 6)),
        ("ann × second", 6, pytest.approx(5 / 6)),
        ("ben × second", 6, pytest.approx(4 / 6)),
    ]


def test_two_raters_have_no_table_of_pairs() -> None:
    assert not compared(answers("one", "pf"), answers("two", "pf")).pairs


@pytest.mark.parametrize("levels", [["A"], ["A", "a"], ["A", "unknown"], []])
def test_levels_that_are_no_scale_are_refused(levels: list[str]) -> None:
    with pytest.raises(DecisionsInvalidError, match="--levels A,B,C"):
        scale_of(levels)
