from __future__ import annotations

import pytest

from scorers.rubric.decisions import Decision
from scorers.rubric.stability import (
    ItemStability,
    OrderEffect,
    Spread,
    Stability,
    order_effect,
    stability,
)

STATUS = {"p": "pass", "f": "fail", "u": "unknown", ".": None}


def repeated(scores: list[float | None] | None = None, **items: str) -> Stability:
    """Compare repeats; of each item a text of first letters, a dot where no valid answer came."""
    repeats = [
        [Decision(name, STATUS[letter]) for name, letter in zip(items, letters, strict=True)]
        for letters in zip(*items.values(), strict=True)
    ]
    return stability(repeats, scores or [None] * len(repeats))


def item(letters: str) -> ItemStability:
    [found] = repeated(a=letters).items
    return found


def test_an_item_has_its_commonest_answer_and_its_flips() -> None:
    found = item("pfppu")
    assert (found.modal, found.modal_share, found.flips) == ("pass", 0.6, 3)


def test_of_equally_common_answers_the_first_counts() -> None:
    assert item("fppf").modal == "fail"


def test_answers_that_are_not_valid_do_not_count() -> None:
    found = item("p.p.f")
    assert found.statuses == ("pass", None, "pass", None, "fail")
    assert (found.modal_share, found.flips) == (pytest.approx(2 / 3), 1)


def test_an_item_without_valid_answers_has_no_commonest_one() -> None:
    found = item("...")
    assert (found.modal, found.modal_share, found.flips) == (None, None, 0)


def test_an_item_that_a_repeat_lacks_has_no_valid_answer_there() -> None:
    found = stability([[Decision("a", "pass")], [], [Decision("a", "pass")]], [None] * 3)
    assert found.items[0].statuses == ("pass", None, "pass")


def test_the_least_stable_item_comes_first() -> None:
    found = repeated(a="pppp", b="pfpf", c="ppff", d="pppf", e="....")
    assert [entry.item_id for entry in found.items] == ["b", "c", "d", "a", "e"]


def test_never_changing_is_a_share_of_the_items_that_could_change() -> None:
    assert repeated(a="ppp", b="ppf", c="u.u", d="p..").never_changing == pytest.approx(2 / 3)
    assert repeated(a="p", b="f").never_changing is None


def test_scores_have_mean_deviation_and_range() -> None:
    found = repeated([0.5, None, 0.7, 0.9], a="pppp").score
    assert found == Spread(3, pytest.approx(0.7), pytest.approx(0.2), 0.5, 0.9)


def test_one_score_has_no_deviation_and_none_no_mean() -> None:
    assert repeated([0.5], a="p").score == Spread(1, 0.5, None, 0.5, 0.5)
    assert repeated([None], a="p").score == Spread(0, None, None, None, None)


def test_another_order_may_move_answers_and_the_score() -> None:
    plain = repeated([0.5, 0.7, 0.6], a="ppf", b="ppp", c="fff", d="...")
    shuffled = repeated([0.4, 0.4, 0.4], a="pff", b="ppp", c="ffp", d="ppp")
    assert order_effect(plain, shuffled) == OrderEffect(3, ("a",), pytest.approx(-0.2))


def test_without_scores_there_is_no_shift() -> None:
    plain = repeated([0.5, 0.7], a="pp")
    assert order_effect(plain, repeated(a="pp")).score_shift is None


def test_a_repeat_that_decides_an_item_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="two on 'a'"):
        stability([[Decision("a", "pass"), Decision("a", "fail")]], [None])


def test_scores_that_do_not_fit_the_repeats_are_refused() -> None:
    with pytest.raises(ValueError, match="expected 1 scores"):
        stability([[Decision("a", "pass")]], [0.5, 0.6])
