"""Profiles of a mosaic's central band."""

from __future__ import annotations

import numpy as np
import pytest

from scorers.metrics.profile import (
    band_profiles,
    central_rows,
    profile_correlation,
    shape_score,
    stretched,
)


def test_the_band_lies_in_the_middle_and_is_cut_at_the_edges() -> None:
    assert central_rows(200, 100) == slice(50, 150)
    assert central_rows(60, 100) == slice(0, 60)
    assert central_rows(101, 100) == slice(0, 100)


def test_each_channel_has_the_mean_over_its_band_wherever_its_axis_is() -> None:
    page = np.zeros((2, 6, 3))
    page[0, 2:4] = [1, 2, 3]
    page[1, 2:4] = [4, 4, 4]
    expected = [[1, 2, 3], [4, 4, 4]]
    assert band_profiles(page, 0, 1, 2, 2).tolist() == expected
    assert band_profiles(np.moveaxis(page, 0, 2), 2, 0, 1, 2).tolist() == expected
    assert band_profiles(page[0], None, 0, 1, 2).tolist() == expected[:1]


def test_further_axes_are_averaged() -> None:
    page = np.stack([np.full((4, 3), 1), np.full((4, 3), 3)])
    assert band_profiles(page, None, 1, 2, 4).tolist() == [[2, 2, 2]]


def test_a_profile_is_stretched_linearly_from_end_to_end() -> None:
    assert stretched(np.array([0.0, 1.0]), 3).tolist() == [0, 0.5, 1]
    assert stretched(np.array([1.0]), 3) is None


def test_correlation_sees_form_only_and_is_undefined_for_a_flat_profile() -> None:
    profile = np.array([1.0, 3.0, 2.0, 5.0])
    assert profile_correlation(2 * profile + 1, profile) == pytest.approx(1)
    assert profile_correlation(-profile, profile) == pytest.approx(-1)
    assert profile_correlation(np.ones(4), profile) is None
    assert profile_correlation(None, profile) is None
    assert profile_correlation(np.array([1.0, np.nan, 2.0, 3.0]), profile) is None


def test_the_shape_score_is_gone_at_twice_the_tolerance() -> None:
    assert shape_score((100, 100), (100, 100), 20) == (0, 1.0)
    assert shape_score((110, 90), (100, 100), 20) == (20, 0.5)
    assert shape_score((64, 64), (100, 100), 20) == (72, 0.0)
