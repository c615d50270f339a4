import itertools

import numpy as np
import pytest

from scorers.metrics.completion import concordance_at_worst
from scorers.metrics.concordance import concordance


def test_complete_values_give_lins_concordance() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=50), rng.normal(size=50)
    y = x + 0.3 * y
    assert concordance_at_worst(x, y, -10, 10) == pytest.approx(concordance(x, y), abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_missing_values_give_the_least_of_all_that_could_stand_there(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.uniform(0, 3, 12)
    x = y + rng.normal(0, 0.2, 12)
    gaps = rng.permutation(12)[: 1 + seed % 3]
    x[gaps] = np.nan
    x = np.clip(x, -1, 4)
    least = []
    for ends in itertools.product((-1.0, 4.0), repeat=len(gaps)):
        filled = x.copy()
        filled[gaps] = ends
        least.append(concordance(filled, y))
    found = concordance_at_worst(x, y, -1, 4)
    assert found == pytest.approx(max(min(least), 0), abs=1e-12)
    for _ in range(20):
        filled = x.copy()
        filled[gaps] = rng.uniform(-1, 4, len(gaps))
        assert found <= max(concordance(filled, y), 0) + 1e-12


@pytest.mark.parametrize("worthless", [np.nan, np.inf, -np.inf, 1e300, 5.0])
def test_what_is_not_plausible_counts_as_missing(worthless: float) -> None:
    y = np.arange(5.0)
    x, gap = y.copy(), y.copy()
    x[2], gap[2] = worthless, np.nan
    assert concordance_at_worst(x, y, -1, 4.5) == concordance_at_worst(gap, y, -1, 4.5) < 1


def test_nothing_at_all_is_worth_nothing() -> None:
    y = np.arange(5.0)
    assert concordance_at_worst(np.full(5, np.nan), y, 0, 4) == 0
    assert concordance_at_worst(np.full(5, np.nan), np.ones(5), 1, 1) == 0


def test_equal_values_agree_even_if_all_are_one_number() -> None:
    assert concordance_at_worst(np.ones(4), np.ones(4), 0, 2) == 1
    assert concordance_at_worst(np.zeros(4), np.ones(4), 0, 2) == 0


def test_no_pair_gives_none() -> None:
    assert concordance_at_worst(np.zeros(0), np.zeros(0), 0, 1) is None


def test_a_reference_must_be_finite() -> None:
    with pytest.raises(ValueError, match="finite reference"):
        concordance_at_worst(np.ones(2), np.array([1, np.nan]), 0, 1)
