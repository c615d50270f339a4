"""Velocity fields of a sheet of cells."""

from __future__ import annotations

import numpy as np
import pytest

from scorers.metrics.velocity import endpoint_errors, endpoint_score, gap_cosine

# Two sheets left and right of a gap.
CELLS = np.zeros((30, 40))
CELLS[:, :15] = CELLS[:, 25:] = 1
INWARD = np.where(np.arange(40) < 20, 1.0, -1.0) * np.ones((30, 1))
NONE = np.zeros((30, 40))


def test_velocities_into_the_gap_have_cosine_one_whatever_their_length() -> None:
    assert gap_cosine(INWARD, NONE, CELLS) == pytest.approx(1)
    assert gap_cosine(1000 * INWARD, NONE, CELLS) == pytest.approx(1)


def test_velocities_away_from_or_along_the_gap_have_none() -> None:
    assert gap_cosine(-INWARD, NONE, CELLS) == 0.0
    assert gap_cosine(NONE, INWARD, CELLS) == pytest.approx(0)


def test_only_cells_near_the_edge_count() -> None:
    far = (np.arange(40) < 5) | (np.arange(40) >= 35)
    assert gap_cosine(np.where(far, -INWARD, INWARD), NONE, CELLS) == pytest.approx(1)


def test_axes_are_columns_and_rows() -> None:
    assert gap_cosine(NONE.T, INWARD.T, CELLS.T) == pytest.approx(1)


@pytest.mark.parametrize(
    ("vx", "cells"),
    [(NONE, CELLS), (INWARD, NONE), (INWARD, NONE + 1), (INWARD[:1], CELLS)],
    ids=["at rest", "no cells", "only cells", "one row"],
)
def test_it_is_undefined_where_there_is_nothing_to_judge(vx, cells) -> None:
    assert gap_cosine(vx, NONE, cells) is None


def test_fields_are_cropped_to_what_all_share() -> None:
    assert gap_cosine(np.pad(INWARD, 5)[5:], np.pad(NONE, 5)[5:], CELLS) is not None


def test_velocities_that_are_not_finite_spoil_the_cosine_quietly() -> None:
    vx = INWARD.copy()
    vx[3] = np.nan
    assert gap_cosine(vx, NONE, CELLS) == pytest.approx(1)
    vx[3] = np.inf
    assert gap_cosine(vx, NONE, CELLS) == 0.0


def test_the_endpoint_error_is_the_length_of_the_difference() -> None:
    true = (np.full((2, 2), 3.0), np.full((2, 2), 4.0))
    error, speed = endpoint_errors((true[0] + 3, true[1] - 4), true, None)
    assert error.tolist() == [5.0] * 4
    assert speed.tolist() == [5.0] * 4


def test_only_cells_with_a_true_velocity_count() -> None:
    true = (np.array([[1.0, np.nan, 1.0]]), np.zeros((1, 3)))
    cells = np.array([[True, True, False]])
    error, _ = endpoint_errors((np.zeros((1, 3)), np.zeros((1, 3))), true, cells)
    assert error.tolist() == [1.0]


def test_a_missing_velocity_counts_as_the_true_one_turned_round() -> None:
    true = (np.array([[3.0]]), np.array([[4.0]]))
    for missing in (np.nan, np.inf):
        error, _ = endpoint_errors((np.array([[missing]]), np.array([[4.0]])), true, None)
        assert error.tolist() == [10.0]


def test_a_field_at_rest_or_turned_round_scores_nothing() -> None:
    assert endpoint_score(0, 10) == 1.0
    assert endpoint_score(2.5, 10) == 0.75
    assert endpoint_score(10, 10) == 0.0
    assert endpoint_score(20, 10) == 0.0
    assert (endpoint_score(0, 0), endpoint_score(1, 0)) == (1.0, 0.0)
