"""Dose and response, against hand-worked numbers and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from scorers.metrics.doses import consistency_score, replicate_cv, welch_greater_p


def test_the_published_check_value_of_replicates_holds() -> None:
    groups = [np.array([1, 1.1, 0.9, 1.05]), np.array([2, 2.2, 1.8, 2.1])]
    cv = replicate_cv(groups)
    assert cv == pytest.approx(np.mean([g.std(ddof=1) / g.mean() for g in groups]))
    assert consistency_score(cv, 0.15) == 1.0


def test_single_wells_and_means_of_zero_have_no_variation_to_speak_of() -> None:
    assert replicate_cv([np.array([1.0]), np.array([-1.0, 1.0])]) is None
    assert replicate_cv([]) is None


def test_negative_means_vary_by_their_size() -> None:
    assert replicate_cv([np.array([-1.0, -3.0])]) == pytest.approx(np.sqrt(2) / 2)


def test_variation_beyond_the_floating_range_is_none() -> None:
    assert replicate_cv([np.array([1e308, -0.9e308])]) is None


@pytest.mark.parametrize(
    ("cv", "score"), [(0.0, 1.0), (0.15, 1.0), (0.575, 0.5), (1.0, 0.0), (4.0, 0.0)]
)
def test_consistency_falls_from_the_tolerance_to_one(cv: float, score: float) -> None:
    assert consistency_score(cv, 0.15) == pytest.approx(score)


@pytest.mark.parametrize("sizes", [(2, 2), (4, 4), (60, 12)])
def test_welchs_test_is_that_of_scipy(sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    treated, control = rng.normal(1.3, 0.3, sizes[0]), rng.normal(1.1, 0.1, sizes[1])
    expected = stats.ttest_ind(treated, control, equal_var=False, alternative="greater").pvalue
    assert welch_greater_p(treated, control) == pytest.approx(expected)


def test_a_single_value_on_a_side_is_no_test() -> None:
    assert welch_greater_p(np.array([2.0]), np.array([1.0, 1.1])) is None


def test_without_variation_the_larger_mean_decides() -> None:
    low, high = np.array([1.0, 1.0]), np.array([2.0, 2.0])
    assert welch_greater_p(high, low) == 0.0
    assert welch_greater_p(low, high) == 1.0
    assert welch_greater_p(low, low) is None
