"""Lin's concordance correlation."""

from __future__ import annotations

import numpy as np
import pytest

from scorers.metrics.concordance import concordance

SERIES = np.array([1.0, 2.0, 3.0, 4.0])


def test_a_value_worked_by_hand() -> None:
    # Means 2.5 and 3.5, variances 1.25 each, covariance 1.25: 2.5 / (2.5 + 1).
    assert concordance(SERIES + 1, SERIES) == pytest.approx(2.5 / 3.5)


def test_equal_series_agree_whole_and_opposed_ones_disagree_whole() -> None:
    assert concordance(SERIES, SERIES) == 1.0
    assert concordance(5 - SERIES, SERIES) == pytest.approx(-1.0)


def test_a_wrong_unit_leaves_nothing() -> None:
    assert abs(concordance(1000 * SERIES, SERIES)) < 0.01


def test_it_is_symmetric_and_at_most_pearsons_r() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    y = 0.8 * x + rng.normal(size=200) + 0.3
    assert concordance(x, y) == pytest.approx(concordance(y, x), abs=1e-12)
    assert concordance(x, y) < np.corrcoef(x, y)[0, 1]


def test_it_is_one_minus_the_squared_error_over_that_of_unrelated_series() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 5, 7))
    error = ((x - y) ** 2).mean()
    unrelated = x.var() + y.var() + (x.mean() - y.mean()) ** 2
    assert concordance(x, y) == pytest.approx(1 - error / unrelated)


def test_a_constant_agrees_only_with_itself() -> None:
    constant = np.full(4, 2.5)
    assert concordance(constant, SERIES) == 0.0
    assert concordance(constant, constant) == 1.0
    assert concordance(constant, constant + 1) == 0.0
    assert concordance(np.zeros(4), np.zeros(4)) == 1.0


def test_no_pairs_give_no_value() -> None:
    assert concordance(np.zeros(0), np.zeros(0)) is None


def test_huge_values_do_not_overflow() -> None:
    assert concordance(np.array([1e300, -1e300]), np.array([1.0, 2.0])) == pytest.approx(
        0, abs=1e-9
    )


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_that_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        concordance(np.array([value, 1.0]), np.array([1.0, 2.0]))


def test_series_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="shapes"):
        concordance(SERIES, SERIES[:3])
