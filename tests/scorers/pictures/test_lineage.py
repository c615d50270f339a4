"""Pictures of lineages."""

from __future__ import annotations

import numpy as np

from scorers.pictures.canvas import HIT, MERGE, MISS, SPLIT
from scorers.pictures.lineage import Tree, draw

NONE = np.zeros((0, 2), np.int64)


def tree(**errors) -> Tree:
    """One mother, frames 0 to 4, and two daughters, frames 5 to 9."""
    values = {
        "start": np.array([0, 5, 5]),
        "end": np.array([4, 9, 9]),
        "parent": np.array([-1, 0, 0]),
        "missed": NONE,
        "broken": NONE,
        "lost": np.zeros(0, np.int64),
        "found": NONE,
        "unfound": NONE,
    }
    return Tree(**(values | errors))


def holds(image: np.ndarray, colour: tuple[int, int, int]) -> bool:
    tracks = image[: -48 - 16]  # without the bars and the legend
    return bool((tracks == colour).all(axis=-1).any())


def test_a_followed_lineage_is_green_throughout() -> None:
    image = draw(tree(found=np.array([[0, 4]])), 360)
    assert holds(image, HIT)
    assert not any(holds(image, colour) for colour in (MISS, SPLIT, MERGE))


def test_each_kind_of_error_has_its_colour() -> None:
    assert holds(draw(tree(missed=np.array([[1, 7]])), 360), MISS)
    assert holds(draw(tree(broken=np.array([[1, 7]])), 360), SPLIT)
    assert holds(draw(tree(unfound=np.array([[0, 4]])), 360), MERGE)
    assert holds(draw(tree(lost=np.array([2])), 360), MERGE)


def test_of_too_many_tracks_those_with_errors_are_shown() -> None:
    count = 2000
    values = {
        "start": np.zeros(count, np.int64),
        "end": np.full(count, 9),
        "parent": np.full(count, -1),
        "missed": np.array([[1900, 5]]),
    }
    image = draw(tree(**values), 360)
    assert max(image.shape) <= 420
    assert holds(image, MISS)


def test_a_single_frame_is_a_picture_too() -> None:
    one = np.zeros(1, np.int64)
    assert draw(tree(start=one, end=one, parent=one - 1), 360).shape[1] == 360
