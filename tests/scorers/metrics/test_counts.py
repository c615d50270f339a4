"""The published counting score and its interval."""

from __future__ import annotations

import pytest

from scorers.metrics.counts import count_score, typical_count
from scorers.metrics.interval import bootstrap_interval


def test_the_published_check_value_holds() -> None:
    reference, predicted = [0, 10, 20], [1, 5, 30]
    typical = typical_count(reference)
    scores = [count_score(p, g, typical) for p, g in zip(predicted, reference, strict=True)]
    assert typical == 20
    assert scores == pytest.approx([0.95, 0.5, 0.5])
    assert round(sum(scores) / 3, 4) == 0.65


def test_the_typical_count_is_the_upper_median_of_what_is_not_empty() -> None:
    assert typical_count([0, 0, 4, 8]) == 8
    assert typical_count([0, 0]) == 1.0


def test_right_counts_score_one_even_where_there_is_nothing() -> None:
    assert count_score(0, 0, 5) == 1.0
    assert count_score(7, 7, 5) == 1.0


def test_too_many_cells_never_score_below_zero() -> None:
    assert count_score(1000, 3, 5) == 0.0


def test_one_value_is_its_own_interval() -> None:
    assert bootstrap_interval([0.4]) == (0.4, 0.4)
    assert bootstrap_interval([0.4, float("nan")]) == (0.4, 0.4)
    assert bootstrap_interval([]) == (0.0, 0.0)


def test_the_interval_of_a_known_sample_is_the_published_one() -> None:
    low, high = bootstrap_interval([1.0] * 6 + [0.0] * 3)
    assert (round(low, 4), round(high, 4)) == (0.3333, 0.8889)
