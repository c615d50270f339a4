from __future__ import annotations

import numpy as np
import pytest

from evals.calibration import labels


@pytest.fixture
def squares() -> np.ndarray:
    """Four objects: two that touch, one apart, one that is long."""
    image = np.zeros((20, 30), np.uint8)
    image[2:6, 2:6], image[2:6, 6:10] = 1, 2
    image[12:16, 2:6] = 7
    image[10:12, 12:28] = 9
    return image


def test_dropped_objects_are_background(squares: np.ndarray) -> None:
    found = labels.without(squares, np.array([2, 9]))
    assert labels.ids_of(found).tolist() == [1, 7]
    assert ((found == squares) | (found == 0)).all()


def test_merged_objects_join_their_nearest_neighbour(squares: np.ndarray) -> None:
    every, names = labels.merge_names(squares, np.array([2]))
    assert dict(zip(every.tolist(), names.tolist(), strict=True)) == {1: 1, 2: 1, 7: 7, 9: 9}
    assert (labels.renamed(squares, every, names) > 0).sum() == (squares > 0).sum()


def test_a_lone_object_cannot_be_merged() -> None:
    image = np.pad(np.ones((2, 2), np.uint8), 2)
    every, names = labels.merge_names(image, np.array([1]))
    assert every.tolist() == names.tolist() == [1]


def test_objects_are_split_across_their_longest_side(squares: np.ndarray) -> None:
    found = labels.split(squares, np.array([9]), np.array([300]))
    assert found.dtype == np.uint16
    assert (found == 9).sum() == (found == 300).sum() == 16
    assert (found[10:12, 20:28] == 300).all()


def test_dilation_takes_nothing_from_neighbours(squares: np.ndarray) -> None:
    found = labels.dilated(squares, np.array([1]))
    assert (found[squares > 0] == squares[squares > 0]).all()
    assert (found == 1).sum() == 16 + 3 * 4


def test_volumes_are_treated_as_images_are() -> None:
    volume = np.zeros((4, 12, 6), np.int32)
    volume[1:3, 1:11, 1:5] = 5
    assert (labels.split(volume, np.array([5]), np.array([6])) == 6).sum() == 40
    assert (labels.dilated(volume, np.array([5])) == 5).sum() > 80
    assert labels.turned(volume).shape == (4, 6, 12)
