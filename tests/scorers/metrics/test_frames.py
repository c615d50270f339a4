"""Matching frame by frame."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from scorers.metrics.frames import match_by_frame, match_optimally_by_frame
from scorers.metrics.points import match_nearest_only, match_optimally


@dataclass(frozen=True)
class Points:
    frame: np.ndarray
    place: np.ndarray


def points(*rows: tuple[float, float, float]) -> Points:
    table = np.array(rows, float).reshape(-1, 3)
    return Points(table[:, 0], table[:, 1:])


def test_only_points_of_one_frame_are_matched_and_rows_need_no_order() -> None:
    reference = points((1, 5, 5), (0, 5, 5), (2, 1, 1))
    predicted = points((0, 5, 6), (3, 1, 1), (1, 5, 5))
    found = match_by_frame(partial(match_optimally, radius=2.0), reference, predicted)
    assert list(zip(found.reference.tolist(), found.predicted.tolist(), strict=True)) == [
        (0, 2),
        (1, 0),
    ]
    assert found.distance.tolist() == [0.0, 1.0]


def test_no_shared_frame_means_no_pairs() -> None:
    match = partial(match_optimally, radius=2.0)
    assert len(match_by_frame(match, points((0, 1, 1)), points((1, 1, 1)))) == 0
    assert len(match_by_frame(match, points(), points())) == 0


def test_an_infinite_frame_is_no_frame() -> None:
    endless = points((np.inf, 1, 1))
    assert len(match_by_frame(partial(match_optimally, radius=2.0), endless, endless)) == 0


def test_what_cannot_be_matched_is_looked_at_only_where_both_sides_have_points() -> None:
    match = partial(match_nearest_only, threshold=1.0)
    predicted = points((0, 1, 1), (7, np.nan, 1))
    assert len(match_by_frame(match, points((0, 1, 1)), predicted)) == 1


@pytest.mark.parametrize("seed", range(5))
def test_many_frames_at_once_are_matched_as_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    reference, predicted = (
        Points(rng.integers(0, 300, count).astype(float), rng.uniform(0, 20, (count, 2)))
        for count in (1200, 1300)
    )
    one_by_one = match_by_frame(partial(match_optimally, radius=4.0), reference, predicted)
    at_once = match_optimally_by_frame(reference, predicted, 4.0)
    assert 300 < len(at_once) < 1200
    assert at_once.reference.tolist() == one_by_one.reference.tolist()
    assert at_once.predicted.tolist() == one_by_one.predicted.tolist()
    assert at_once.distance == pytest.approx(one_by_one.distance)
