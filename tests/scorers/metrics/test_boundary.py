import numpy as np
import pytest
from scipy import ndimage

from scorers.metrics.boundary import boundary, boundary_f1, near


def _square(start: int, size: int = 6) -> np.ndarray:
    labels = np.zeros((20, 20), np.uint8)
    labels[start : start + size, start : start + size] = 1
    return labels


def test_both_pixels_of_a_differing_pair_are_boundary() -> None:
    labels = np.array([[1, 1, 2, 2, 2]])

    assert boundary(labels).tolist() == [[False, True, True, False, False]]


def test_the_edge_of_the_image_is_no_boundary() -> None:
    assert not boundary(np.ones((4, 5))).any()


@pytest.mark.parametrize("distance", [1.0, 2.0, 2.5, 3.0])
@pytest.mark.parametrize("shape", [(40, 30), (12, 11, 10)])
def test_shifted_masks_reach_as_far_as_the_distance_transform_says(
    shape: tuple[int, ...], distance: float
) -> None:
    mask = np.random.default_rng(3).random(shape) < 0.01

    expected = ndimage.distance_transform_edt(~mask) <= distance

    np.testing.assert_array_equal(near(mask, distance), expected)


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
