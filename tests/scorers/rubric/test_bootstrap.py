from __future__ import annotations

import numpy as np
import pytest

from scorers.rubric.bootstrap import Bootstrap, Estimate, cluster_draws, estimate


def test_as_many_clusters_are_drawn_as_there_are() -> None:
    draws = cluster_draws(7, Bootstrap(resamples=50))
    assert draws.shape == (50, 7)
    assert set(draws.sum(1)) == {7}


def test_the_seed_decides_what_is_drawn() -> None:
    one, same, other = (cluster_draws(9, Bootstrap(20, seed)) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_the_interval_holds_the_middle_95_percent() -> None:
    found = estimate(0.5, np.arange(1001) / 1000, clusters=5, undefined="")
    assert (found.low, found.high) == pytest.approx((0.025, 0.975))
    assert found.reason == ""


def test_the_interval_of_a_mean_is_that_of_normal_theory() -> None:
    values = np.random.default_rng(0).normal(size=400)
    means = cluster_draws(400, Bootstrap()) @ values / 400
    found = estimate(float(values.mean()), means, clusters=400, undefined="")
    half = 1.96 * values.std() / 20
    assert found.low == pytest.approx(values.mean() - half, abs=0.01)
    assert found.high == pytest.approx(values.mean() + half, abs=0.01)


def test_an_undefined_value_has_its_reason() -> None:
    assert estimate(np.nan, np.zeros(9), 3, "nobody knows") == Estimate(None, reason="nobody knows")


def test_one_sample_gives_no_interval() -> None:
    found = estimate(0.5, np.full(9, 0.5), 1, "")
    assert found == Estimate(0.5, reason="one sample only")


def test_an_interval_without_width_is_not_told() -> None:
    found = estimate(1.0, np.ones(9), 3, "")
    assert found == Estimate(1.0, reason="the same in all resamples")


@pytest.mark.parametrize(("lost", "told"), [(5, True), (6, False)])
def test_a_few_undefined_resamples_are_left_out_and_many_forbid_an_interval(
    lost: int, told: bool
) -> None:
    resampled = np.linspace(0, 1, 100)
    resampled[:lost] = np.nan
    found = estimate(0.5, resampled, 4, "")
    assert (found.low is not None) == told
    assert found.reason == ("" if told else "undefined in 6% of resamples")
