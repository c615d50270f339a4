"""Efficiency of localisation."""

from __future__ import annotations

import numpy as np
import pytest

from scorers.metrics.efficiency import best_efficiency, efficiency, jaccard, root_mean_square


@pytest.mark.parametrize(
    ("index", "rmse", "expected"),
    [
        (1.0, 0.0, 1.0),
        (0.5, 0.0, 0.5),
        (1.0, 30.0, 0.7),
        (0.6, 30.0, 0.5),
        (0.0, 0.0, 0.0),
        (0.2, 90.0, 0.0),
    ],
)
def test_a_percent_of_jaccard_weighs_as_much_as_a_nanometre(
    index: float, rmse: float, expected: float
) -> None:
    assert efficiency(index, rmse) == pytest.approx(expected)


def test_axial_distances_weigh_half() -> None:
    assert efficiency(1.0, 30.0, alpha=0.005) == pytest.approx(0.85)


def test_jaccard_counts_hits_among_everything() -> None:
    assert jaccard(6, 3, 1) == 0.6
    assert jaccard(0, 0, 0) == 1.0


def test_root_mean_square_of_distances() -> None:
    assert root_mean_square(np.array([3.0, 4.0])) == pytest.approx(np.sqrt(12.5))
    assert root_mean_square(np.zeros(0)) == 0.0


def test_equally_precise_hits_give_the_efficiency_as_it_stands() -> None:
    assert best_efficiency(np.full(8, 40.0), 1, 1) == pytest.approx(efficiency(0.8, 40.0))


def test_hiding_the_worst_hit_gains_nothing() -> None:
    both = best_efficiency(np.array([0.0, 100.0]), 0, 0)
    alone = best_efficiency(np.array([0.0]), 1, 0)
    assert efficiency(1.0, np.sqrt(5000.0)) < 0.3
    assert both == alone == 0.5


@pytest.mark.parametrize("seed", range(10))
def test_leaving_any_hit_out_never_raises_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    distance = rng.uniform(0, 100, 12)
    whole = best_efficiency(distance, 3, 2)
    assert whole >= efficiency(jaccard(12, 3, 2), root_mean_square(distance))
    for index in range(12):
        assert best_efficiency(np.delete(distance, index), 4, 2) <= whole


def test_nothing_where_nothing_is_is_right_and_nothing_where_something_is_is_not() -> None:
    assert best_efficiency(np.zeros(0), 0, 0) == 1.0
    assert best_efficiency(np.zeros(0), 5, 0) == 0.0
