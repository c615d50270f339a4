from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evals.simulation.nucleus_view import look, positions
from evals.simulation.quantise import stream
from evals.simulation.replication import (
    Nucleus,
    Spots,
    in_nucleoli,
    inside,
    recruitment,
    replication_foci,
    wander,
)

NUCLEOLI = np.array([[0.4, -0.3], [-0.4, 0.3]])
FIELD = (80, 90)


def one_spot(place: tuple[float, float, float]) -> Spots:
    return Spots(np.array([place]), np.array([10.0]), np.array([20.0]), np.ones(1), np.ones(1) / 2)


@pytest.fixture(scope="module")
def nucleus() -> Nucleus:
    path, turn = wander(stream(1), 30, np.array([40.0, 45.0]), 3.0)
    spots = one_spot((0.0, 0.5, 0.2))
    none = np.zeros(0, np.int64)
    return Nucleus(16.0, 1.2, 2.0, path, turn, NUCLEOLI, 0, 29, spots, spots, none)


def test_spots_shine_from_their_first_to_their_last_frame() -> None:
    bright = [float(one_spot((0, 0, 0)).shining(frame)[0]) for frame in (8, 9, 10, 20, 21, 22)]
    assert bright == [0, 0.5, 1, 1, 0.5, 0]


def test_nuclei_wander_smoothly_and_turn() -> None:
    path, turn = wander(stream(2), 100, np.array([50.0, 50.0]), 8.0)
    assert np.abs(path - 50).max() <= 8
    assert np.abs(np.diff(path, axis=0)).max() < 1.2
    assert (turn**2).sum(axis=1) == pytest.approx(1, abs=1e-3)
    assert np.abs(np.diff(turn, axis=0)).max() > 0


def test_early_foci_fill_the_nucleus_and_later_ones_its_border() -> None:
    early, border = (
        inside(stream(3, k), 500, where) for k, where in enumerate(("inside", "border"))
    )
    radius = [np.sqrt((place[:, 1:] ** 2).sum(axis=1)) for place in (early, border)]
    assert np.median(radius[0]) < 0.65 < np.median(radius[1])
    assert max(r.max() for r in radius) < 0.9


def test_foci_last_from_the_beginning_to_the_end_of_s_phase_and_get_fewer() -> None:
    foci = replication_foci(stream(4), 12, 60, 40, NUCLEOLI)
    assert 12 <= foci.first.min() <= 13
    assert foci.last.max() == 72
    count = [(foci.shining(frame) >= 0.5).sum() for frame in (20, 68)]
    assert count[0] > 2 * count[1] > 0
    assert all((foci.shining(frame) > 0).sum() >= 3 for frame in range(12, 72))
    assert not in_nucleoli(foci.place, NUCLEOLI).any()


def test_rad18_joins_foci_that_are_there_before_and_keep_apart() -> None:
    wanted = np.array([20, 25, 30, 31, 44])
    pcna, rad18, onsets = recruitment(stream(5), wanted, 70, NUCLEOLI, 0.3)
    assert onsets.tolist() == wanted.tolist()
    assert (pcna.first < rad18.first).all()
    assert (pcna.last > rad18.last).all()
    assert pcna.place.tolist() == rad18.place.tolist()
    away = np.linalg.norm(pcna.place[:, None, 1:] - pcna.place[None, :, 1:], axis=2)
    assert away[np.triu_indices(5, 1)].min() >= 0.3


def test_a_focus_appears_where_its_nucleus_carries_it(nucleus: Nucleus) -> None:
    for frame in (10, 18):
        view = look(nucleus, frame, 5, FIELD)
        assert view is not None
        light = view.foci(nucleus, nucleus.pcna, frame, 1.0, 1.5).max(axis=0)
        row, column = np.unravel_index(np.argmax(light), light.shape)
        _, y, x = positions(nucleus, nucleus.pcna.place, frame)[0]
        assert abs(view.rows[row] - y) <= 0.5
        assert abs(view.columns[column] - x) <= 0.5


def test_blur_spreads_a_focus_and_keeps_its_light(nucleus: Nucleus) -> None:
    view = look(nucleus, 12, 5, FIELD)
    assert view is not None
    sharp, blurred = (view.foci(nucleus, nucleus.pcna, 12, sigma, 1.5) for sigma in (1.0, 1.8))
    assert blurred.max() < 0.6 * sharp.max()
    assert blurred.sum() == pytest.approx(sharp.sum(), rel=0.03)


def test_a_nucleus_outside_of_the_field_is_not_drawn(nucleus: Nucleus) -> None:
    assert look(replace(nucleus, path=nucleus.path + 500), 0, 5, FIELD) is None
