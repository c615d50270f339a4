import numpy as np
import pytest
from scipy import ndimage

from scorers.metrics.boundary import boundary_f1


def _square(start: int, size: int = 6) -> np.ndarray:
    labels = np.zeros((20, 20), np.uint8)
    labels[start : start + size, start : start + size] = 1
    return labels


def _outline(labels: np.ndarray) -> np.ndarray:
    edge = np.zeros(labels.shape, bool)
    down, across = np.diff(labels, axis=0) != 0, np.diff(labels, axis=1) != 0
    edge[1:] |= down
    edge[:-1] |= down
    edge[:, 1:] |= across
    edge[:, :-1] |= across
    return edge


@pytest.mark.parametrize("distance", [0.5, 1.0, 2.0, 2.5, 3.0])
@pytest.mark.parametrize("shape", [(40, 30), (1, 50), (50, 1), (3, 2), (12, 11, 10)])
def test_the_score_is_that_of_distance_transforms(shape: tuple[int, ...], distance: float) -> None:
    rng = np.random.default_rng(3)
    share = 0.02 if np.prod(shape) > 100 else 0.5
    one, other = ((rng.random(shape) < share).astype(int) for _ in range(2))
    edges = _outline(one), _outline(other)

    precision, recall = (
        (ndimage.distance_transform_edt(~far)[own] <= distance).mean()
        for own, far in (edges, edges[::-1])
    )

    expected = 2 * precision * recall / (precision + recall)
    assert boundary_f1(one, other, distance) == pytest.approx(expected, abs=1e-15)


def test_both_pixels_of_a_differing_pair_are_boundary() -> None:
    # The one outline is two of four pixels of the other's, which lies beside it too.
    one, other = np.array([[1, 1, 2, 2, 2, 2]]), np.array([[1, 1, 2, 2, 3, 3]])

    assert boundary_f1(one, other, 0.0) == pytest.approx(2 * 0.5 / 1.5)


def test_the_edge_of_the_image_is_no_boundary() -> None:
    assert boundary_f1(np.ones((4, 5)), np.zeros((4, 5))) == 1.0


@pytest.mark.parametrize(
    ("shift", "expected"),
    # A corner is cut where the distance is Euclidean: 3 pixels along both axes are out of reach.
    [(0, 1.0), (1, 1.0), (10, 0.0)],
)
def test_an_outline_within_two_pixels_is_right(shift: int, expected: float) -> None:
    assert boundary_f1(_square(2 + shift), _square(2)) == expected


def test_half_of_the_outline_found_lowers_recall_alone() -> None:
    reference = _square(2, 3) + _square(13, 3)

    score = boundary_f1(_square(2, 3), reference)

    assert score == pytest.approx(2 * 0.5 / 1.5)


def test_no_outline_on_either_side_is_right_and_on_one_side_wrong() -> None:
    nothing = np.zeros((20, 20))

    assert boundary_f1(nothing, nothing) == 1.0
    assert boundary_f1(nothing, _square(2)) == boundary_f1(_square(2), nothing) == 0.0


def test_joined_labels_lose_the_boundary_between_them() -> None:
    reference = np.zeros((20, 20), int)
    reference[5:15, 2:10], reference[5:15, 10:18] = 1, 2

    assert boundary_f1(reference > 0, reference) < 1.0
