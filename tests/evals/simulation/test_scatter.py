import numpy as np
from scipy.spatial import cKDTree

from evals.simulation.quantise import stream
from evals.simulation.scatter import candidates, keep_apart, thomas_points


def one_by_one(points: np.ndarray, distance: float) -> list[bool]:
    """Random sequential adsorption as its definition says."""
    kept: list[int] = []
    for index, point in enumerate(points):
        if all(np.hypot(*(point - points[other])) >= distance for other in kept):
            kept.append(index)
    return [index in kept for index in range(len(points))]


def test_points_are_thinned_as_if_one_by_one() -> None:
    points = stream(3).uniform(0, 60, (300, 2))
    assert keep_apart(points, 7.0).tolist() == one_by_one(points, 7.0)


def test_pairs_of_unlike_room_keep_the_mean_distance() -> None:
    points = np.array([[0.0, 0.0], [0.0, 5.0], [0.0, 20.0]])
    assert keep_apart(points, [2.0, 9.0, 2.0]).tolist() == [True, False, True]


def test_a_single_point_has_room() -> None:
    assert keep_apart(np.array([[1.0, 1.0]]), 5.0).tolist() == [True]


def test_thomas_points_crowd_round_their_parents() -> None:
    points = thomas_points(stream(4), (500, 500), parents=8, children=40.0, spread=10.0)
    apart = cKDTree(points).query(points, k=2)[0][:, 1].mean()
    scattered = 0.5 / np.sqrt(len(points) / 500**2)  # mean for as many points at random
    assert apart < 0.6 * scattered


def test_candidates_stay_in_their_mask() -> None:
    mask = np.zeros((9, 9), dtype=bool)
    mask[2:4, 5:8] = True
    row, column = np.rint(candidates(stream(5), mask, 200) - 1e-9).astype(int).T
    assert mask[row.clip(2, 3), column.clip(5, 7)].all()
    assert row.min() >= 1
    assert row.max() <= 4


def test_an_empty_mask_has_no_candidates() -> None:
    assert candidates(stream(5), np.zeros((4, 4), dtype=bool), 10).shape == (0, 2)
