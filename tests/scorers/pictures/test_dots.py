"""Pictures of points."""

from __future__ import annotations

import numpy as np

from scorers.pictures.canvas import FALSE_HIT, HIT, MISS
from scorers.pictures.points import Dots, Window, densest, draw


def dots(hit=(), miss=(), false_hit=()) -> Dots:
    return Dots(*(np.array(p, float).reshape(-1, 2) for p in (hit, miss, false_hit)))


def holds(image: np.ndarray, colour: tuple[int, int, int]) -> bool:
    return bool((image == colour).all(axis=-1).any())


def test_the_densest_window_is_where_most_dots_are() -> None:
    crowd = np.random.default_rng(0).uniform(300, 360, (40, 2))
    window = densest(dots(hit=crowd, miss=[(5, 5)]), (400, 500), 100)
    assert (window.rows, window.columns) == (100, 100)
    inside = (crowd[:, 0] >= window.left) & (crowd[:, 0] < window.left + 100)
    inside &= (crowd[:, 1] >= window.top) & (crowd[:, 1] < window.top + 100)
    assert inside.all()


def test_the_window_stays_within_the_image() -> None:
    window = densest(dots(hit=[(49, 39)]), (40, 50), 100)
    assert window == Window(0, 0, 40, 50)


def test_each_kind_has_its_colour_where_it_lies() -> None:
    ground = np.zeros((100, 100), np.uint16)
    image = draw(ground, dots([(10, 10)], [(50, 50)], [(90, 90)]), None, 100)
    assert holds(image[:20, :20], HIT)
    assert holds(image[40:60, 40:60], MISS)
    assert holds(image[80:100, 80:100], FALSE_HIT)


def test_dots_outside_the_window_are_not_drawn() -> None:
    ground = np.zeros((100, 100), np.uint16)
    image = draw(ground, dots([(10, 10)], [(50, 50)]), Window(40, 40, 20, 20), 80)
    assert not holds(image[:80], HIT)
    assert holds(image[:80], MISS)


def test_without_an_input_the_ground_is_black() -> None:
    image = draw(None, dots([(10, 10)]), None, 100)
    assert (image[:5, :5] == 0).all()


def test_a_place_far_outside_does_not_blow_the_picture_up() -> None:
    image = draw(None, dots([(10, 10)], false_hit=[(1e12, 1e12)]), None, 100)
    assert max(image.shape) < 400
