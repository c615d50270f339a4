import numpy as np
import pytest
from scipy.spatial import cKDTree

from evals.simulation.glia_shapes import Habits, draw_thickness
from evals.simulation.microglia import Life, Moment, population
from evals.simulation.quantise import stream

FIELD = (400, 440)
FRAMES = 40
COURSE = np.linspace(0.8, 0.2, FRAMES)[None]


@pytest.fixture(scope="module")
def moments() -> list[Moment]:
    return list(population(stream(5), FIELD, 1 / 2900, COURSE, Life()))


def moves(moments: list[Moment]) -> np.ndarray:
    place = np.stack([moment.place for moment in moments])
    step = np.diff(place, axis=0)
    return step - np.array(FIELD) * np.rint(step / np.array(FIELD))


def one_cell(shape: float) -> np.ndarray:
    moment = Moment(np.array([[60.0, 60.0]]), np.array([shape]), np.ones(1, dtype=bool))
    return draw_thickness(stream(8), moment, Habits.draw(stream(7), 1), (120, 120))


def test_cells_follow_the_course_of_their_shape(moments: list[Moment]) -> None:
    mean = [moment.shape[moment.present].mean() for moment in moments]
    assert np.abs(np.array(mean) - COURSE[0]).mean() < 0.07


def test_shape_changes_without_jumps_but_at_divisions(moments: list[Moment]) -> None:
    shape = np.stack([moment.shape for moment in moments])
    founders = moments[0].present
    assert np.median(np.abs(np.diff(shape[:, founders], axis=0))) < 0.06


def test_bodies_keep_apart(moments: list[Moment]) -> None:
    for moment in moments[::8]:
        here = moment.place[moment.present]
        nearest = cKDTree(here, boxsize=FIELD).query(here, k=2)[0][:, 1]
        assert np.percentile(nearest, 5) > 14


def test_tracks_are_persistent(moments: list[Moment]) -> None:
    step = moves(moments)[:, moments[0].present]
    assert 1.5 < step.std() < 4.0
    correlation = np.corrcoef(step[1:].ravel(), step[:-1].ravel())[0, 1]
    assert correlation > 0.4


def test_a_share_of_the_cells_divides_and_daughters_are_born_beside_mothers(
    moments: list[Moment],
) -> None:
    numbers = [int(moment.present.sum()) for moment in moments]
    assert numbers == sorted(numbers)
    assert numbers[-1] / numbers[0] == pytest.approx(1.15, abs=0.02)


def test_a_ball_is_thick_and_small_and_a_branched_cell_flat_and_far_reaching() -> None:
    ball, crawler, branched = (one_cell(shape) for shape in (0.0, 0.5, 1.0))
    assert ball.max() > 2 * crawler.max() > 0
    y, x = np.indices(ball.shape)
    away = np.hypot(y - 60, x - 60)
    reach = [away[cell > 0.4].max() for cell in (ball, crawler, branched)]
    assert reach[0] < 11 < reach[1] < 28 < reach[2]
