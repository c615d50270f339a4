"""Pictures of localised molecules."""

from __future__ import annotations

import numpy as np
import pytest

from scorers.pictures.canvas import FALSE_HIT, HIT, MISS, SPLIT
from scorers.pictures.molecules import Residuals, View, densest, quiver, side_by_side, whole

NONE = np.zeros((0, 2))


def count(image: np.ndarray, colour: tuple[int, int, int], rows: int) -> int:
    return int((image[:rows] == colour).all(axis=-1).sum())


def test_the_view_of_all_places_has_half_a_pixel_around_them() -> None:
    assert whole(np.array([[1.0, 2], [5, 4]])) == View(0.5, 1.5, 5.0, 3.0)


def test_the_densest_square_holds_the_heap() -> None:
    rng = np.random.default_rng(0)
    places = np.concatenate([rng.uniform(0, 500, (50, 2)), rng.uniform(300, 304, (80, 2))])
    view = densest(places, 20.0)
    assert (view.width, view.height) == (20.0, 20.0)
    assert view.inside(places).sum() >= 80


def test_what_fits_is_shown_as_a_whole() -> None:
    places = np.array([[1.0, 1], [3, 3]])
    assert densest(places, 50.0) == whole(places)


def test_molecules_light_up_on_their_own_side() -> None:
    view = View(0.0, 0.0, 10.0, 10.0)
    image = side_by_side(np.array([[5.0, 5]]), NONE, view, 200)
    body = image[:98]
    half = body.shape[1] // 2
    assert body[:, : half - 2].max() == 255
    assert body[:, half + 2 : -8].max() == 0


def test_nothing_to_render_is_a_black_picture() -> None:
    image = side_by_side(NONE, NONE, View(0.0, 0.0, 10.0, 10.0), 200)
    assert image[:50, :50].max() == 0


@pytest.mark.parametrize(("offset", "colour"), [(0.2, HIT), (0.8, SPLIT)])
def test_arrows_are_coloured_by_their_length(offset: float, colour) -> None:
    residuals = Residuals(np.array([[5.0, 5]]), np.array([[5.0 + offset, 5]]), NONE, NONE, 1.0)
    image = quiver(None, residuals, View(0.0, 0.0, 10.0, 10.0), 200)
    assert count(image, colour, 200) > 20


def test_misses_and_false_hits_are_marked_over_the_movie() -> None:
    residuals = Residuals(NONE, NONE, np.array([[2.0, 2]]), np.array([[8.0, 8]]), 1.0)
    movie = np.arange(100.0).reshape(10, 10)
    image = quiver(movie, residuals, View(0.0, 0.0, 10.0, 10.0), 200)
    assert count(image, MISS, 200) > 10
    assert count(image, FALSE_HIT, 200) > 10
    assert image[100, 20].max() > 0


def test_a_view_beyond_the_movie_is_black_there() -> None:
    residuals = Residuals(NONE, NONE, NONE, NONE, 1.0)
    image = quiver(np.full((4, 4), 9.0), residuals, View(100.0, 100.0, 5.0, 5.0), 100)
    assert image[:100].max() == 0
