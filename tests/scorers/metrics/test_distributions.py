"""Distances of two samples, against hand-worked numbers and SciPy."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import stats

from scorers.metrics.distributions import (
    ks_statistic,
    mann_whitney_p,
    pair_values,
    wasserstein,
)

NOTHING = np.zeros(0)


def samples(seed: int, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    # Rounded, so that some values occur twice.
    return np.round(rng.normal(0.3, 0.1, n), 2), np.round(rng.normal(0.35, 0.12, m), 2)


@pytest.mark.parametrize("sizes", [(1, 1), (1, 7), (30, 30), (56, 23)])
def test_the_ks_statistic_is_that_of_scipy(sizes: tuple[int, int]) -> None:
    x, y = samples(1, *sizes)
    assert ks_statistic(x, y) == pytest.approx(stats.ks_2samp(x, y).statistic)


@pytest.mark.parametrize("sizes", [(1, 1), (1, 7), (30, 30), (56, 23)])
def test_the_wasserstein_distance_is_that_of_scipy(sizes: tuple[int, int]) -> None:
    x, y = samples(2, *sizes)
    assert wasserstein(x, y) == pytest.approx(stats.wasserstein_distance(x, y))


def test_two_steps_half_a_unit_apart_are_half_a_unit_apart() -> None:
    assert wasserstein(np.array([0.0, 1.0]), np.array([0.5, 1.5])) == 0.5
    assert ks_statistic(np.array([0.0, 1.0]), np.array([0.5, 1.5])) == 0.5


@pytest.mark.parametrize("measure", [ks_statistic, wasserstein, mann_whitney_p])
def test_an_empty_sample_has_no_distance(measure) -> None:
    assert measure(NOTHING, np.array([1.0])) is None
    assert measure(np.array([1.0]), NOTHING) is None


@pytest.mark.parametrize("sizes", [(4, 9), (30, 41)])
def test_the_rank_test_is_that_of_scipy(sizes: tuple[int, int]) -> None:
    x, y = samples(3, *sizes)
    assert mann_whitney_p(x, y) == stats.mannwhitneyu(x, y).pvalue


def test_equal_values_throughout_are_no_difference() -> None:
    assert mann_whitney_p(np.full(20, 0.5), np.full(9, 0.5)) == 1.0
    assert mann_whitney_p(np.full(3, 0.5), np.full(2, 0.5)) == 1.0


def test_the_exact_rank_test_is_not_tried_where_it_would_take_forever() -> None:
    rng = np.random.default_rng(0)
    started = time.perf_counter()
    p = mann_whitney_p(rng.random(8), rng.random(200_000))
    assert 0 <= p <= 1
    assert time.perf_counter() - started < 5


def test_pairing_equal_samples_scores_one_in_any_order() -> None:
    x, _ = samples(4, 30, 1)
    assert pair_values(x, x[::-1], 0.05).score == 1.0


def test_pairing_is_the_wasserstein_distance_where_every_value_finds_a_partner() -> None:
    x, y = samples(5, 40, 40)
    expected = 1 - stats.wasserstein_distance(x, y) / 0.9
    assert pair_values(x, y, 0.9).score == pytest.approx(expected)


def test_a_value_without_a_partner_costs_its_share_and_no_more() -> None:
    pairing = pair_values(np.array([0.1, 0.2, 50.0]), np.array([0.1, 0.2, 0.3]), 0.05)
    assert pairing.score == pytest.approx(2 / 3)
    assert sorted(zip(pairing.predicted.tolist(), pairing.reference.tolist(), strict=True)) == [
        (0, 0),
        (1, 1),
    ]


def test_half_of_the_values_score_a_half() -> None:
    x, _ = samples(6, 40, 1)
    assert pair_values(x[::2], x, 0.05).score == pytest.approx(0.5)
    assert pair_values(x, x[::2], 0.05).score == pytest.approx(0.5)


def test_pairing_prefers_agreement_to_number_of_pairs() -> None:
    # 0.10 fits exactly; pairing both at 0.04 would agree by less.
    pairing = pair_values(np.array([0.10, 0.14]), np.array([0.06, 0.10]), 0.05)
    assert pairing.score == pytest.approx(0.5)


def test_empty_samples_agree_with_each_other_alone() -> None:
    assert pair_values(NOTHING, NOTHING, 1.0).score == 1.0
    assert pair_values(NOTHING, np.array([0.5]), 1.0).score == 0.0
    assert pair_values(np.array([0.5]), NOTHING, 1.0).score == 0.0


@pytest.mark.parametrize("scale", [0.05, 0.3])
def test_taking_a_value_away_never_raises_the_score(scale: float) -> None:
    rng = np.random.default_rng(7)
    reference = rng.normal(0.3, 0.1, 20)
    predicted = np.concatenate([rng.normal(0.45, 0.2, 17), [5.0, -3.0]])
    whole = pair_values(predicted, reference, scale).score
    without = [pair_values(np.delete(predicted, at), reference, scale).score for at in range(19)]
    assert max(without) <= whole + 1e-12


def test_a_million_values_are_paired_in_seconds_and_earn_next_to_nothing() -> None:
    rng = np.random.default_rng(8)
    started = time.perf_counter()
    assert pair_values(rng.random(1_000_000), rng.random(56), 0.05).score < 0.01
    assert time.perf_counter() - started < 5


def test_equal_samples_beyond_what_is_paired_in_full_still_score_one() -> None:
    x = np.random.default_rng(9).random(2500)
    assert pair_values(x, x[::-1], 0.05).score == 1.0


def test_values_at_the_ends_of_the_numbers_do_not_overflow() -> None:
    assert pair_values(np.array([1e308, -1e308]), np.array([-1e308, 0.0]), 0.3).score == 0.5
