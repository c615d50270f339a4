from __future__ import annotations

import numpy as np
import pytest

from evals.calibration import labels, movies
from evals.calibration.doses import Pick


@pytest.fixture
def tracked() -> movies.Tracked:
    """A mother that divides in the third frame, and a cell beside them."""
    movie = np.zeros((5, 12, 12), np.uint16)
    movie[:2, 2:5, 2:8], movie[:, 8:11, 2:8] = 1, 4
    movie[2:, 2:5, 2:5], movie[2:, 2:5, 5:8] = 2, 3
    lineage = np.array([[1, 0, 1, 0], [2, 2, 4, 1], [3, 2, 4, 1], [4, 0, 4, 0]])
    return movies.Tracked(movie, lineage)


def test_unlinked_tracks_become_tracks_of_one_frame(tracked: movies.Tracked) -> None:
    found = movies.unlink(tracked, Pick(0, 1, 1.0))
    assert (found.lineage[:, 1] == found.lineage[:, 2]).all()
    assert not found.lineage[:, 3].any()
    assert len(found.lineage) == sum(len(labels.ids_of(frame)) for frame in tracked.movie)
    assert ((found.movie > 0) == (tracked.movie > 0)).all()


def test_split_nodes_get_a_track_of_their_own(tracked: movies.Tracked) -> None:
    found = movies.split(tracked, Pick(0, 1, 0.1))
    assert len(found.lineage) == len(tracked.lineage) + 1
    track, first, last, parent = found.lineage[-1].tolist()
    assert first == last
    assert not parent
    assert track in found.movie[first]


def test_ids_are_exchanged_in_frames_of_several_nodes(tracked: movies.Tracked) -> None:
    found = movies.shuffle_ids(tracked, Pick(0, 1, 0.2))
    changed = (found.movie != tracked.movie).any(axis=(1, 2))
    assert changed.sum() == 1
    at = int(np.flatnonzero(changed)[0])
    assert (labels.ids_of(found.movie[at]) == labels.ids_of(tracked.movie[at])).all()


def test_frames_counted_from_one_leave_the_movie_alone(tracked: movies.Tracked) -> None:
    found = movies.count_from_one(tracked, Pick(0, 1, 1.0))
    assert (found.lineage - tracked.lineage).tolist() == [[0, 1, 1, 0]] * 4
    assert found.movie is tracked.movie
