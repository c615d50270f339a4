import numpy as np
import pytest
from scipy import ndimage

from evals.simulation.filaments import STEP_PX, covered, speckles, worm_like_chains
from evals.simulation.quantise import stream


def test_directions_are_forgotten_over_twice_the_persistence_length() -> None:
    start, heading = np.zeros((4000, 2)), np.zeros(4000)
    course = worm_like_chains(stream(1), start, heading, length_px=60.0, persistence_px=40.0)
    moves = np.diff(course, axis=1)
    cosine = (moves[:, 0] * moves[:, -1]).sum(axis=1) / STEP_PX**2
    # Mean cosine exp(-s / 2P) along a contour in a plane.
    assert cosine.mean() == pytest.approx(np.exp(-60 / 80), abs=0.03)


def test_points_lie_one_step_apart() -> None:
    course = worm_like_chains(
        stream(2), np.full((3, 2), 7.3), np.arange(3.0), length_px=20.0, persistence_px=[9, 90, 900]
    )
    assert np.linalg.norm(np.diff(course, axis=1), axis=2) == pytest.approx(STEP_PX, abs=1e-4)


def test_a_straight_line_covers_its_width_times_its_length() -> None:
    points = np.stack([np.full(400, 20.3), 5 + STEP_PX * np.arange(400)], axis=1)
    mask = covered((40, 120), points, 1.5)
    assert mask[:, 50].sum() == 3
    assert mask.sum() == pytest.approx(3 * 100 + np.pi * 1.5**2, abs=4)
    assert ndimage.label(mask)[1] == 1


def test_lines_beyond_the_edge_cover_nothing() -> None:
    assert not covered((9, 9), np.array([[-8.0, 4.0], [4.0, 30.0]]), 1.0).any()
    assert not covered((9, 9), np.empty((0, 2)), 1.0).any()


def test_dye_varies_as_asked_round_one() -> None:
    density = speckles(stream(3), 300, 800, spacing_px=2.0, variation=0.5)
    assert density.min() >= 0
    assert density.mean() == pytest.approx(1.0, abs=0.02)
    at_knots = density[:, :: int(2.0 / STEP_PX)]
    assert at_knots.std() == pytest.approx(0.5, abs=0.02)
    assert (speckles(stream(3), 2, 9, spacing_px=2.0, variation=0.0) == 1).all()
