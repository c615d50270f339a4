from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from evals.calibration import lines


@pytest.fixture
def cross() -> np.ndarray:
    mask = np.zeros((61, 61), bool)
    mask[29:32, 3:58] = mask[3:58, 29:32] = True
    return mask


def test_lines_are_taken_apart_at_crossings(cross: np.ndarray) -> None:
    parts = lines.segments_of(cross)
    assert len(parts) == 4
    assert ((parts.owner > 0) == cross).all()


def test_a_gap_breaks_a_line_and_little_else(cross: np.ndarray) -> None:
    parts = lines.segments_of(cross)
    broken = lines.cut(cross, parts, np.array([True, False, False, True]))
    assert ndimage.label(broken, np.ones((3, 3)))[1] == 3
    assert 0.85 < broken.sum() / cross.sum() < 1


def test_more_gaps_leave_the_first_ones_as_they_are(cross: np.ndarray) -> None:
    parts = lines.segments_of(cross)
    one = lines.cut(cross, parts, np.array([True, False, False, False]))
    two = lines.cut(cross, parts, np.array([True, True, False, False]))
    assert (two <= one).all()


def test_thickening_adds_and_dropping_removes(cross: np.ndarray) -> None:
    parts = lines.segments_of(cross)
    hit = np.array([True, False, False, False])
    assert lines.thickened(cross, parts, hit).sum() > cross.sum()
    assert ndimage.label(lines.without(cross, parts, hit))[1] == 1
    assert lines.without(cross, parts, ~np.zeros(4, bool)).sum() == 0


def test_vessels_are_taken_apart_as_well() -> None:
    volume = np.zeros((15, 40, 40), bool)
    volume[6:9, 18:21, 2:38] = volume[6:9, 2:38, 18:21] = True
    parts = lines.segments_of(volume)
    assert len(parts) == 4
    broken = lines.cut(volume, parts, np.ones(4, bool))
    assert ndimage.label(broken, np.ones((3, 3, 3)))[1] == 5


def test_an_empty_mask_has_no_segments() -> None:
    parts = lines.segments_of(np.zeros((9, 9), bool))
    assert len(parts) == 0
