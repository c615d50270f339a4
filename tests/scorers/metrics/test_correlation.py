"""Product-moment and rank correlation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from scorers.metrics.correlation import pearson, ranks, spearman


def test_they_are_those_of_scipy() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, 40).astype(float)
    y = x + rng.normal(size=40)
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y)[0])
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y)[0])


def test_equal_values_share_their_mean_rank() -> None:
    assert ranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist() == [3.5, 1.0, 3.5, 2.0]


@pytest.mark.parametrize(
    ("x", "y"), [([1.0], [2.0]), ([], []), ([0.1] * 3, [1.0, 2.0, 3.0]), ([1.0, 2.0], [5.0, 5.0])]
)
def test_it_is_undefined_without_two_pairs_or_without_variation(x, y) -> None:
    assert pearson(np.array(x), np.array(y)) is None


def test_neither_huge_nor_tiny_values_spoil_it() -> None:
    assert pearson(np.array([1e300, -1e300, 0]), np.array([1e-300, -1e-300, 0])) == pytest.approx(1)
