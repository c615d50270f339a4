from __future__ import annotations

from pathlib import Path

import pytest

from evals.judging.decision_files import Decisions, DecisionsInvalidError, Rating
from evals.judging.joining import Unit, join
from scorers.rubric.agreement import Scale

YES_OR_NO = Scale(("pass", "fail", "unknown"))
LEVELS = Scale(("A", "B", "C"), ordered=True)
NOWHERE = ("", "", "")


def rating(
    item: str,
    status: str,
    place: tuple[str, str, str] = NOWHERE,
    *,
    rater: str = "",
    severity: str = "",
    by_check: bool = False,
) -> Rating:
    return Rating(item, status, rater, place, severity, by_check, where=f"line of {item}")


def decisions(*ratings: Rating, name: str = "one.csv", unscored: int = 0) -> Decisions:
    return Decisions(Path(name), ratings, unscored)


def test_the_same_item_of_the_same_sample_comes_together() -> None:
    at = [("dots", f"dots-s{seed}", "1") for seed in (1, 2)]
    first = decisions(rating("a", "pass", at[0], severity="major"), rating("a", "fail", at[1]))
    second = decisions(rating("a", "unknown", at[1]), rating("a", "pass", at[0]))
    assert list(join(first, second, YES_OR_NO).units) == [
        Unit("a", at[0], "dots", "major", {"first": 0, "second": 0}),
        Unit("a", at[1], "dots", "", {"first": 1, "second": 2}),
    ]


def test_only_what_both_files_tell_of_a_place_is_compared() -> None:
    first = decisions(rating("a", "pass", ("", "dots-s1", "")))
    second = decisions(rating("a", "fail", ("dots", "dots-s1", "1")))
    [unit] = join(first, second, YES_OR_NO).units
    assert (unit.sample, unit.task) == (("dots-s1",), "dots")


def test_items_alone_suffice_for_a_single_sample() -> None:
    joined = join(decisions(rating("a", "pass")), decisions(rating("a", "fail")), YES_OR_NO)
    assert [unit.sample for unit in joined.units] == [()]


def test_what_has_no_partner_or_no_answer_is_counted() -> None:
    first = decisions(rating("a", "pass"), rating("b", "fail"), rating("c", ""))
    second = decisions(rating("a", "pass"), rating("c", "fail"), rating("d", "fail"), unscored=4)
    one, two = join(first, second, YES_OR_NO).counts
    assert (one.decisions, one.unanswered, one.unmatched) == (3, 1, 1)
    assert (two.decisions, two.unanswered, two.unmatched) == (3, 0, 2)
    assert (one.samples_unscored, two.samples_unscored) == (0, 4)


def test_decisions_by_code_are_counted_where_they_are_compared() -> None:
    first = decisions(rating("a", "pass"), rating("b", "pass"))
    second = decisions(*(rating(item, "pass", by_check=True) for item in ("a", "b", "c")))
    one, two = join(first, second, YES_OR_NO).counts
    assert (one.by_check, two.by_check) == (0, 2)


def test_unknown_is_an_answer_of_a_checklist_and_none_of_the_levels() -> None:
    first = decisions(rating("a", "unknown"), rating("b", "A"))
    second = decisions(rating("a", "A"), rating("b", "c"))
    joined = join(first, second, LEVELS)
    assert [unit.answers for unit in joined.units] == [{"first": 0, "second": 2}]
    assert (joined.counts[0].undecided, joined.counts[1].unmatched) == (1, 1)


def test_answers_may_be_in_any_case() -> None:
    joined = join(decisions(rating("a", "PASS")), decisions(rating("a", "Pass")), YES_OR_NO)
    assert joined.units[0].answers == {"first": 0, "second": 0}


def test_raters_keep_their_names_and_are_told_apart_across_files() -> None:
    first = decisions(*(rating("a", "pass", rater=name) for name in ("ben", "ann")))
    second = decisions(rating("a", "fail", rater="ann"))
    joined = join(first, second, YES_OR_NO)
    assert joined.raters == (("ann (first)", "ben"), ("ann (second)",))
    assert joined.units[0].answers == {"ann (first)": 0, "ben": 0, "ann (second)": 1}


def test_an_answer_that_does_not_exist_gets_a_hint() -> None:
    with pytest.raises(DecisionsInvalidError, match=r"line of a, item a: .*did you mean 'pass'"):
        join(decisions(rating("a", "pas")), decisions(rating("a", "pass")), YES_OR_NO)


def test_a_rater_who_decides_twice_is_told() -> None:
    place = [("dots", "dots", epoch) for epoch in ("1", "2")]
    first = decisions(rating("a", "pass", ("dots", "dots", "")))
    second = decisions(*(rating("a", "pass", one) for one in place), name="two.csv")
    with pytest.raises(DecisionsInvalidError, match=r"two\.csv decides item a twice.*epoch"):
        join(first, second, YES_OR_NO)


def test_files_without_a_common_decision_are_told_with_examples() -> None:
    first = decisions(rating("a", "pass", ("", "s1", "")))
    second = decisions(rating("a", "pass", ("", "s2", "")))
    with pytest.raises(DecisionsInvalidError, match=r"nothing in common: .*'s1 / a' and 's2 / a'"):
        join(first, second, YES_OR_NO)


def test_files_without_a_single_answer_have_nothing_in_common() -> None:
    with pytest.raises(DecisionsInvalidError, match="'no answer' and 'a'"):
        join(decisions(rating("a", "")), decisions(rating("a", "pass")), YES_OR_NO)


def test_files_that_tell_samples_in_different_ways_are_told() -> None:
    first = decisions(rating("a", "pass", ("dots", "", "")))
    second = decisions(rating("a", "pass", ("", "dots", "")))
    with pytest.raises(DecisionsInvalidError, match="Nothing says which samples are the same"):
        join(first, second, YES_OR_NO)
