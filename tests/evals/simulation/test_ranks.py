import numpy as np
import pytest
from scipy import stats

from evals.simulation.quantise import stream
from evals.simulation.ranks import doubled_ranks, mixture_with, spearman


def test_ranks_are_counted_from_one_and_shared_by_equal_values() -> None:
    assert doubled_ranks(np.array([30.0, 10.0, 20.0, 20.0])).tolist() == [8, 2, 5, 5]


def test_the_rank_correlation_is_that_of_scipy_with_ties() -> None:
    rng = stream(1)
    one = rng.integers(0, 12, 500).astype(float)
    other = one + rng.integers(0, 20, 500)
    assert spearman(one, other) == pytest.approx(stats.spearmanr(one, other).statistic, abs=1e-12)


def test_a_constant_side_has_no_correlation() -> None:
    assert spearman(np.ones(5), np.arange(5.0)) == 0.0


@pytest.mark.parametrize("wanted", [-0.4, 0.0, 0.125, 0.35])
def test_a_mixture_reaches_the_wanted_correlation(wanted: float) -> None:
    fixed, noise = stream(2).standard_normal((2, 4000))
    parameter = mixture_with(lambda share: noise + share * fixed, fixed, wanted, 4.0)
    assert spearman(fixed, noise + parameter * fixed) == pytest.approx(wanted, abs=2e-3)


def test_out_of_reach_the_nearer_end_is_returned() -> None:
    fixed, noise = stream(3).standard_normal((2, 500))
    parameter = mixture_with(lambda share: noise + share * fixed, fixed, 0.99, 0.5)
    assert parameter == pytest.approx(0.5, abs=1e-3)
