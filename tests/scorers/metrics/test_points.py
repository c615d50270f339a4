"""Matching of points, on places worked out by hand and against a dense assignment."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from scorers.metrics.points import (
    chance_f1,
    f1_score,
    match_nearest_only,
    match_optimally,
    strict_radius,
)

NONE = np.zeros((0, 2))


def points(*pairs: tuple[float, float]) -> np.ndarray:
    return np.array(pairs, dtype=float).reshape(-1, 2)


def test_nearest_only_leaves_a_prediction_whose_nearest_is_taken_unmatched() -> None:
    reference = points((0, 0), (8, 0))
    predicted = points((1, 0), (3, 0))  # both are nearest to the first
    pairs = match_nearest_only(reference, predicted, 10)
    assert pairs.reference.tolist() == [0]
    assert pairs.predicted.tolist() == [0]
    assert len(match_optimally(reference, predicted, 10)) == 2


def test_nearest_only_breaks_ties_by_the_order_of_predictions() -> None:
    pairs = match_nearest_only(points((0, 0)), points((2, 0), (-2, 0)), 10)
    assert pairs.predicted.tolist() == [0]


@pytest.mark.parametrize("match", [match_nearest_only, match_optimally])
def test_a_distance_equal_to_the_threshold_matches(match) -> None:
    assert len(match(points((0, 0)), points((3, 4)), 5.0)) == 1
    assert len(match(points((0, 0)), points((3, 4.001)), 5.0)) == 0


@pytest.mark.parametrize("match", [match_nearest_only, match_optimally])
def test_an_empty_side_matches_nothing(match) -> None:
    for reference, predicted in ((NONE, NONE), (points((1, 1)), NONE), (NONE, points((1, 1)))):
        assert len(match(reference, predicted, 5.0)) == 0


def test_nearest_only_refuses_what_is_not_finite_if_both_sides_hold_points() -> None:
    for value in (np.nan, np.inf):
        with pytest.raises(ValueError, match="finite"):
            match_nearest_only(points((0, 0)), points((value, 5)), 5.0)
    assert len(match_nearest_only(NONE, points((np.nan, 5)), 5.0)) == 0


def test_a_point_without_a_place_matches_nothing_optimally() -> None:
    pairs = match_optimally(points((0, 0)), points((np.nan, 0), (np.inf, 0), (1, 0)), 5.0)
    assert pairs.predicted.tolist() == [2]


def test_optimal_matching_prefers_more_pairs_to_a_shorter_one() -> None:
    reference, predicted = points((0, 0), (10, 0)), points((9, 0), (19, 0))
    pairs = match_optimally(reference, predicted, 9.5)
    assert pairs.predicted.tolist() == [0, 1]
    assert pairs.distance.tolist() == [9.0, 9.0]


def test_optimal_matching_takes_the_least_total_distance_among_the_largest() -> None:
    pairs = match_optimally(points((0, 0), (1, 0)), points((1, 0), (0, 0)), 5.0)
    assert pairs.predicted.tolist() == [1, 0]
    assert pairs.distance.sum() == 0


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 14),
    m=st.integers(1, 14),
    radius=st.floats(0, 30),
    digits=st.integers(0, 2),
)
def test_optimal_matching_equals_a_dense_assignment(seed, n, m, radius, digits) -> None:
    rng = np.random.default_rng(seed)
    reference = np.round(rng.uniform(0, 60, (n, 2)), digits)
    predicted = np.round(rng.uniform(0, 60, (m, 2)), digits)
    distance = np.hypot(*(reference[:, None] - predicted[None]).transpose(2, 0, 1))
    rows, columns = linear_sum_assignment(np.where(distance <= radius, distance - 1e4, 0.0))
    kept = distance[rows, columns] <= radius
    pairs = match_optimally(reference, predicted, radius)
    assert len(pairs) == kept.sum()
    assert pairs.distance.sum() == pytest.approx(distance[rows, columns][kept].sum(), abs=1e-6)
    assert len(set(pairs.predicted.tolist())) == len(pairs)


def test_a_heap_of_predictions_in_one_place_stays_cheap() -> None:
    rng = np.random.default_rng(1)
    reference = rng.uniform(0, 100, (50, 2))
    heap = reference[:1] + rng.normal(0, 0.1, (100_000, 2))
    assert len(match_optimally(reference, heap, 2.0)) >= 1


def test_f1_of_nothing_against_nothing_is_one() -> None:
    assert f1_score(0, 0, 0) == 1.0
    assert f1_score(0, 3, 0) == 0.0
    assert f1_score(2, 2, 4) == pytest.approx(2 / 3)


def test_the_strict_radius_is_half_the_median_neighbour_distance_at_most_the_largest() -> None:
    assert strict_radius(points((0, 0), (0, 8), (0, 16)), 10) == 4.0
    assert strict_radius(points((0, 0), (0, 80)), 10) == 10.0
    assert strict_radius(points((5, 5)), 10) == 10.0
    assert strict_radius(NONE, 10) == 10.0


def test_coinciding_reference_points_do_not_shrink_the_radius_to_nothing() -> None:
    assert strict_radius(points((0, 0), (0, 0), (0, 8), (0, 8)), 10) == 4.0


def test_two_thousand_random_places_reach_the_known_chance_f1_at_ten_pixels() -> None:
    reference = np.random.default_rng(2).uniform(0, 1024, (2000, 2))
    assert chance_f1(reference, 10, (0, 0, 1024, 1024)) == pytest.approx(0.38, abs=0.01)


def test_chance_is_the_same_every_time() -> None:
    reference = np.random.default_rng(3).uniform(0, 100, (30, 2))
    field = (0.0, 0.0, 100.0, 100.0)
    assert chance_f1(reference, 5, field) == chance_f1(reference, 5, field)
