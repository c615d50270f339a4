import numpy as np
import pytest

from evals.simulation.blinking import Events, bind, drift, expose, unite
from evals.simulation.quantise import stream


def test_binding_begins_in_equilibrium_and_stays_there() -> None:
    events = bind(stream(1), 20_000, frames=100, bound=6.0, unbound=54.0)
    for time in (0.5, 50, 99.5):
        occupied = np.unique(events.site[(events.start <= time) & (events.end > time)])
        assert len(occupied) / 20_000 == pytest.approx(0.1, abs=0.008)


def test_a_site_holds_one_molecule_at_a_time() -> None:
    events = bind(stream(2), 300, frames=400, bound=6.0, unbound=20.0)
    same = events.site[1:] == events.site[:-1]
    assert same.any()
    assert (events.start[1:][same] >= events.end[:-1][same]).all()
    assert events.start.min() >= 0
    assert events.end.max() <= 400


def test_glimpses_add_up_to_the_time_of_their_event() -> None:
    events = bind(stream(3), 200, frames=50, bound=3.0, unbound=15.0)
    seen = expose(events)
    total = np.bincount(seen.event, seen.share, len(events.start))
    assert total == pytest.approx(events.end - events.start)
    assert seen.frame.max() <= 49
    assert (seen.share > 0).all()
    assert (seen.share <= 1).all()


def test_frames_at_either_end_of_a_blink_hold_a_part_of_its_light() -> None:
    seen = expose(Events(np.array([0]), np.array([2.25]), np.array([5.5])))
    assert seen.frame.tolist() == [2, 3, 4, 5]
    assert seen.share.tolist() == [0.75, 1.0, 1.0, 0.5]


def test_a_blink_within_a_frame_shows_in_that_one_only() -> None:
    seen = expose(Events(np.array([4]), np.array([7.25]), np.array([7.5])))
    assert (seen.frame.tolist(), seen.share.tolist()) == ([7], [0.25])


def test_a_stage_drifts_steadily_with_a_walk_on_top() -> None:
    shift = drift(stream(4), 5000, speed=0.01, jitter=0.002)
    assert shift[0].tolist() == [0, 0]
    assert np.linalg.norm(shift[-1]) == pytest.approx(50, abs=1)
    assert np.diff(shift, axis=0).std(axis=0) == pytest.approx([0.002, 0.002], rel=0.1)


def test_near_molecules_become_one_at_their_centroid() -> None:
    frame = np.array([0, 0, 1, 0])
    place = np.array([[5.0, 5.0], [5.0, 6.0], [5.0, 5.5], [20.0, 5.0]])
    frames, centres, light = unite(frame, place, np.array([3.0, 1.0, 2.0, 4.0]), 2.0)
    order = np.lexsort((centres[:, 0], frames))
    assert frames[order].tolist() == [0, 0, 1]
    assert centres[order].tolist() == [[5.0, 5.25], [20.0, 5.0], [5.0, 5.5]]
    assert light[order].tolist() == [4.0, 4.0, 2.0]


def test_no_molecules_stay_none() -> None:
    nothing = np.zeros(0, dtype=np.int64), np.zeros((0, 2)), np.zeros(0)
    assert len(unite(*nothing, 2.0)[0]) == 0
