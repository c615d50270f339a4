"""Greedy matching over all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from scorers.metrics.greedy import TooManyPairs, match_greedily
from scorers.metrics.points import match_nearest_only


def pairs_of(reference, predicted, threshold: float) -> list[tuple[int, int]]:
    axes = max((len(point) for point in [*reference, *predicted]), default=2)
    found = match_greedily(
        np.array(reference, float).reshape(len(reference), axes),
        np.array(predicted, float).reshape(len(predicted), axes),
        threshold,
    )
    return list(zip(found.reference.tolist(), found.predicted.tolist(), strict=True))


def one_by_one(reference: np.ndarray, predicted: np.ndarray, threshold: float):
    """The definition: all pairs sorted, then taken in turn."""
    squared = ((reference[:, None] - predicted[None]) ** 2).sum(axis=-1)
    order = sorted(
        (float(squared[g, p]), p, g)
        for g, p in np.argwhere(squared <= threshold * threshold).tolist()
    )
    used_g: set[int] = set()
    used_p: set[int] = set()
    taken = []
    for _, p, g in order:
        if g not in used_g and p not in used_p:
            used_g.add(g)
            used_p.add(p)
            taken.append((g, p))
    return sorted(taken)


@pytest.mark.parametrize("threshold", [2.0, 3.0, np.inf])
@pytest.mark.parametrize("seed", range(30))
def test_it_equals_taking_the_nearest_free_pair_one_by_one(seed: int, threshold: float) -> None:
    rng = np.random.default_rng(seed)
    # Whole numbers, so that many distances are equal and the order of points decides.
    reference, predicted = (
        rng.integers(0, 7, (rng.integers(0, 14), 2)).astype(float) for _ in range(2)
    )
    assert pairs_of(reference, predicted, threshold) == one_by_one(reference, predicted, threshold)


def test_a_prediction_whose_nearest_point_is_taken_gets_the_second_nearest() -> None:
    reference, predicted = np.array([[0.0, 0], [3, 0]]), np.array([[0.1, 0], [0.9, 0]])
    assert pairs_of(reference, predicted, 3.0) == [(0, 0), (1, 1)]
    assert len(match_nearest_only(reference, predicted, 3.0)) == 1


def test_of_equal_distances_the_earlier_prediction_then_the_earlier_reference_counts() -> None:
    assert pairs_of([[0.0, 0]], [[1.0, 0], [1.0, 0]], 1.0) == [(0, 0)]
    assert pairs_of([[-1.0, 0], [1.0, 0]], [[0.0, 0]], 1.0) == [(0, 0)]


def test_the_threshold_is_inclusive() -> None:
    assert pairs_of([[0.0, 0]], [[9.0, 12]], 15.0) == [(0, 0)]
    assert pairs_of([[0.0, 0]], [[9.0, 12.001]], 15.0) == []


def test_points_may_have_three_axes() -> None:
    assert pairs_of([[0.0, 0, 0], [0, 0, 5]], [[0.0, 0, 5], [0, 0, 1]], 2.0) == [(0, 1), (1, 0)]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_point_that_is_not_finite_matches_nothing(value: float) -> None:
    assert pairs_of([[0.0, 0]], [[value, 0], [0.5, 0]], np.inf) == [(0, 1)]


def test_distances_are_told_in_the_order_of_the_reference() -> None:
    found = match_greedily(np.array([[0.0, 0], [10, 0]]), np.array([[10.0, 1], [0, 2]]), 5.0)
    assert found.distance.tolist() == [2.0, 1.0]


def test_more_pairs_than_allowed_are_refused() -> None:
    heap = np.zeros((20, 2))
    with pytest.raises(TooManyPairs, match="400 pairs"):
        match_greedily(heap, heap, 1.0, most_pairs=399)
