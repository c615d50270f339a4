"""Speed kymographs."""

from __future__ import annotations

import numpy as np
import pytest

from scorers.metrics.kymograph import (
    likeness,
    near_faster_fraction,
    pattern_score,
    whole_concordance,
)

WAVE = np.outer(np.linspace(20, 2, 16), np.ones(8)) + np.arange(8)


def test_a_kymograph_is_compared_over_the_common_block() -> None:
    found = likeness(np.pad(WAVE, ((0, 2), (0, 5)), constant_values=99), WAVE)
    assert (found.shape, found.n, found.nrmse) == ((16, 8), 128, 0.0)
    assert found.pearson == pytest.approx(1)


def test_correlation_does_not_see_a_wrong_unit_but_the_error_does() -> None:
    found = likeness(1000 * WAVE, WAVE)
    assert found.pearson == pytest.approx(1)
    assert found.nrmse > 900


def test_cells_that_are_not_finite_on_either_side_are_left_out() -> None:
    own, known = WAVE.copy(), WAVE.copy()
    own[0, 0], known[1, 1] = np.nan, np.inf
    assert likeness(own, known).n == WAVE.size - 2
    nothing = likeness(np.full((3, 3), np.nan), WAVE)
    assert (nothing.n, nothing.pearson, nothing.nrmse) == (0, None, None)


def test_a_constant_has_no_correlation() -> None:
    assert likeness(np.full(WAVE.shape, 0.1), WAVE).pearson is None


def test_the_pattern_counts_times_at_which_near_is_faster_than_far() -> None:
    kymograph = np.zeros((16, 4))
    kymograph[:3, :3] = 5
    kymograph[5, :] = 99
    assert near_faster_fraction(kymograph) == 0.75
    assert pattern_score(0.75) == 0.5
    assert (pattern_score(0.4), pattern_score(None)) == (0.0, 0.0)


def test_with_ten_bands_or_fewer_far_is_the_second_half() -> None:
    kymograph = np.zeros((6, 2))
    kymograph[:3, 0], kymograph[3:, 1] = 1, 1
    assert near_faster_fraction(kymograph) == 0.5
    assert near_faster_fraction(kymograph[:3]) is None


def test_times_without_a_value_are_left_out_of_the_pattern() -> None:
    kymograph = WAVE.copy()
    kymograph[:, 0] = np.nan
    kymograph[:3, 1] = np.inf
    kymograph[0, 2] = np.nan
    assert near_faster_fraction(kymograph) == 1.0
    assert near_faster_fraction(np.full((16, 2), np.nan)) is None


def test_a_kymograph_is_concordant_with_itself_and_not_with_another_unit() -> None:
    assert whole_concordance(WAVE, WAVE) == 1.0
    assert whole_concordance(1000 * WAVE, WAVE) < 0.01
    assert whole_concordance(np.zeros(WAVE.shape), WAVE) == 0.0


def test_leaving_values_out_costs_more_the_more_there_are() -> None:
    order = np.random.default_rng(0).permutation(WAVE.size)
    values = []
    for share in (0, 0.05, 0.1, 0.2, 0.5, 1):
        own = WAVE.ravel().copy()
        own[order[: round(share * WAVE.size)]] = np.nan
        values.append(whole_concordance(own.reshape(WAVE.shape), WAVE))
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == len(values)
    assert values[-1] == pytest.approx(-1)


def test_cells_that_the_reference_lacks_do_not_count() -> None:
    known = WAVE.copy()
    known[0] = np.nan
    assert whole_concordance(np.where(np.isnan(known), 1e6, WAVE), known) == 1.0
    assert whole_concordance(WAVE, np.full(WAVE.shape, np.nan)) is None
