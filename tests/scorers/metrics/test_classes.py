"""Agreement on classes."""

from __future__ import annotations

import numpy as np
import pytest

from scorers.metrics.classes import (
    class_fractions,
    confusion,
    detected_f1,
    fraction_error,
    macro,
    matched_f1,
    trend_correlation,
)
from scorers.metrics.points import Pairs


def pairs(*given: tuple[int, int]) -> Pairs:
    table = np.array(given, np.int64).reshape(-1, 2)
    return Pairs(table[:, 0], table[:, 1], np.zeros(len(table)))


# Reference 0, 0, 1, 2, none; predicted 0, 1, 1, 2, none, 2.
REFERENCE = np.array([0, 0, 1, 2, -1])
PREDICTED = np.array([0, 1, 1, 2, -1, 2])
TABLE = confusion(REFERENCE, PREDICTED, pairs((0, 0), (1, 1), (2, 4), (4, 3)), 3)


def test_all_objects_are_counted_once_with_and_without_a_partner() -> None:
    assert TABLE.tolist() == [
        [1, 1, 0, 0, 0],
        [0, 0, 0, 1, 0],
        [0, 0, 0, 0, 1],
        [0, 0, 1, 0, 0],
        [0, 1, 1, 0, 0],
    ]


def test_matched_f1_looks_at_found_objects_with_a_class_only() -> None:
    # Class 0: 1 right, 1 taken for class 1; class 1: one without a class, one too many.
    assert matched_f1(TABLE).tolist() == [2 / 3, 0.0, 0.0]


def test_detected_f1_counts_what_was_missed_and_what_is_nowhere() -> None:
    # Class 2: one missed, one at no object; the one at an object without a class does not count.
    assert detected_f1(TABLE).tolist() == [2 / 3, 0.0, 0.0]


def test_missing_half_of_a_class_lowers_detected_f1_alone() -> None:
    kinds = np.array([0, 0, 1, 1])
    table = confusion(kinds, kinds[[0, 2, 3]], pairs((0, 0), (2, 1), (3, 2)), 2)
    assert matched_f1(table).tolist() == [1.0, 1.0]
    assert detected_f1(table).tolist() == [2 / 3, 1.0]


def test_a_class_that_occurs_nowhere_is_not_counted() -> None:
    kinds = np.array([0, 1])
    table = confusion(kinds, kinds, pairs((0, 0), (1, 1)), 3)
    assert matched_f1(table).tolist() == [1.0, 1.0, 0.0]
    assert macro(detected_f1(table)) == 1.0
    assert macro(np.full(3, np.nan)) == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_detected_f1_is_that_of_scikit_learn_with_a_class_for_what_has_no_partner(
    seed: int,
) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    reference, predicted = rng.integers(0, 3, 40), rng.integers(0, 3, 45)
    found = pairs(*((i, i + 3) for i in range(5, 35)))
    known = [*reference[5:35], *reference[:5], *reference[35:], *[9] * 15]
    told = [*predicted[8:38], *[9] * 10, *predicted[:8], *predicted[38:]]
    expected = metrics.f1_score(known, told, labels=[0, 1, 2], average=None)
    assert detected_f1(confusion(reference, predicted, found, 3)) == pytest.approx(expected)


def test_fractions_are_of_the_objects_that_have_a_class() -> None:
    frames, shares = class_fractions(np.array([5.0, 5, 5, 2, 7]), np.array([0, 1, -1, 1, -1]), 2)
    assert frames.tolist() == [2.0, 5.0]
    assert shares.tolist() == [[0.0, 1.0], [0.5, 0.5]]


def series(*shares: float) -> tuple[np.ndarray, np.ndarray]:
    part = np.array(shares)
    return np.arange(len(part), dtype=float), np.stack([part, 1 - part], axis=1)


def test_trends_correlate_over_shared_frames() -> None:
    assert trend_correlation(series(0.1, 0.2, 0.4), series(0.2, 0.3, 0.5)) == pytest.approx(1.0)
    assert trend_correlation(series(0.1, 0.2), series(0.5, 0.1)) == pytest.approx(-1.0)


def test_a_trend_needs_two_frames_and_a_share_that_changes() -> None:
    assert trend_correlation(series(0.1), series(0.1)) is None
    assert trend_correlation(series(0.1, 0.2), series(1.0, 1.0)) is None


def test_the_error_of_shares_is_the_mean_share_in_the_wrong_class() -> None:
    assert fraction_error(series(0.5, 0.5), series(0.5, 0.25)) == 0.125
    assert fraction_error(series(0.5, 0.5), series(0.5)) == 0.5
    assert fraction_error(series(), series(0.5)) == 0.0
