from __future__ import annotations

import numpy as np
import pytest

from evals.simulation.mitosis import Division, cell_body, draw_division, nucleus_window
from evals.simulation.quantise import stream

STEP_UM = 0.25


@pytest.fixture(scope="module")
def division() -> Division:
    return draw_division(stream(1), 1.0, (10.0, 12.0, 20.0), 0.0)


def test_sets_part_once_and_then_swell(division: Division) -> None:
    shapes = [division.shape(minute) for minute in np.arange(0, 60, 0.5).tolist()]
    gaps = [shape.gap for shape in shapes]
    assert gaps[0] < 0 < max(gaps)
    assert (np.diff([shape.separation for shape in shapes]) >= 0).all()
    assert shapes[-1].volume_um3 > 1.8 * min(shape.volume_um3 for shape in shapes)


def test_the_minute_of_a_gap_is_the_first_with_it(division: Division) -> None:
    minute = division.minute_of_gap(0.75)
    assert division.shape(minute - 0.01).gap < 0.75 <= division.shape(minute).gap


def test_a_ball_has_its_own_volume_and_surface() -> None:
    from evals.simulation.mitosis import Shape

    ball = Shape(separation=5.0, thickness=2.0, width=2.0)
    assert ball.volume_um3 == pytest.approx(4 / 3 * np.pi * 8)
    assert ball.surface_um2 == pytest.approx(16 * np.pi)


def test_as_many_samples_lie_inside_as_the_body_is_large(division: Division) -> None:
    for which in (0, 1):
        window = nucleus_window(division, 40.0, which, (81, 97, 161), STEP_UM)
        assert window is not None
        volume = (window.depth > 0).sum() * STEP_UM**3
        assert volume == pytest.approx(division.shape(40.0).volume_um3, rel=0.25)


def test_depth_is_a_distance_near_the_surface(division: Division) -> None:
    window = nucleus_window(division, 40.0, 0, (81, 97, 161), STEP_UM)
    assert window is not None
    steps = np.sqrt(sum(np.square(part) for part in np.gradient(window.depth, STEP_UM)))
    near = np.abs(window.depth) < 0.4
    assert np.median(steps[near]) == pytest.approx(1.0, abs=0.12)


def test_a_nucleus_beyond_the_field_has_no_window(division: Division) -> None:
    assert nucleus_window(division, 40.0, 1, (81, 97, 20), STEP_UM) is None


def test_the_cell_pinches_in(division: Division) -> None:
    planes = np.arange(21.0)
    early, late = (cell_body(division, m, planes, (97, 161), STEP_UM) for m in (0.0, 20.0))
    middle = round(float(division.centre[2]) / STEP_UM)
    assert early[..., middle].sum() > 1.1 * late[..., middle].sum()
    assert early.min() == 0
    assert early.max() == 1
