import numpy as np

from scorers.pictures.canvas import COLOURS
from scorers.pictures.masks import Objects, brightest, draw, projected


def _objects(labels: np.ndarray, *kinds: str) -> Objects:
    ids = np.unique(labels[labels != 0])
    return Objects(labels, ids, np.array(kinds, dtype="<U9"))


def _shows(image: np.ndarray, kind: str) -> bool:
    return bool((image[:200] == COLOURS[kind]).all(axis=-1).any())


LEFT, RIGHT = np.zeros((50, 50), np.int64), np.zeros((50, 50), np.int64)
LEFT[10:30, 5:20], RIGHT[10:30, 28:44] = 1, 2


def test_each_kind_of_object_is_outlined_in_its_colour() -> None:
    picture = draw(None, _objects(LEFT, "false hit"), _objects(RIGHT, "miss"), 200)

    assert _shows(picture, "false hit")
    assert _shows(picture, "miss")
    assert not _shows(picture, "hit")


def test_a_found_object_shows_its_reference_in_white_where_the_outlines_differ() -> None:
    picture = draw(None, _objects(LEFT, "hit"), _objects(np.roll(LEFT, 3, 1), "hit"), 200)

    assert _shows(picture, "hit")
    assert _shows(picture, "reference")


def test_the_input_shows_through_between_outlines() -> None:
    ground = np.zeros((50, 50))
    ground[40:] = 1
    nothing = np.zeros((50, 50), np.int64)

    picture = draw(ground, _objects(nothing), _objects(nothing), 200)

    assert picture[:150].max() == 0
    assert picture[165:195].min() == 255


def test_an_input_of_another_shape_is_left_out() -> None:
    picture = draw(np.ones((9, 9)), _objects(LEFT, "hit"), _objects(LEFT, "hit"), 100)

    assert picture[0, 0].tolist() == [0, 0, 0]


def test_a_projection_shows_the_first_label_along_the_planes() -> None:
    assert projected([np.array([[0, 3]]), np.array([[2, 5]])]).tolist() == [[2, 3]]


def test_the_brightest_of_all_planes_is_shown() -> None:
    assert brightest([np.array([[1, 9]]), np.array([[4, 2]])]).tolist() == [[4, 9]]
