from __future__ import annotations

import numpy as np
import pytest

from scorers.rubric.checks.labels import look_at, one_pixel_wide


def squares() -> np.ndarray:
    """Two squares face to face, and one by itself."""
    image = np.zeros((40, 40), np.uint16)
    image[5:15, 5:15] = 1
    image[5:15, 15:25] = 2
    image[25:35, 5:15] = 9
    return image


def test_objects_components_and_touching_neighbours_are_counted() -> None:
    facts = look_at(squares())
    assert (facts.objects, facts.components, facts.touching) == (3, 2, 2)


def test_objects_that_meet_at_a_corner_do_not_touch() -> None:
    image = np.array([[1, 0], [0, 2]])
    facts = look_at(image)
    assert (facts.components, facts.touching) == (2, 0)


def test_an_object_in_two_pieces_is_scattered() -> None:
    image = squares()
    image[image == 9] = 1
    assert look_at(image).scattered == 1


def test_a_hole_counts_for_the_one_object_around_it() -> None:
    image = squares()
    image[8:10, 8:10] = 0
    assert look_at(image).holed == 1


def test_background_between_two_objects_is_no_hole() -> None:
    image = squares()
    image[8:10, 14:16] = 0
    assert look_at(image).holed == 0


def test_background_open_to_the_border_is_no_hole() -> None:
    image = np.ones((9, 9), np.uint8)
    image[:4, 4] = 0
    assert look_at(image).holed == 0


def test_a_tunnel_through_a_volume_is_no_hole_but_a_cavity_is() -> None:
    image = np.ones((5, 7, 7), np.uint8)
    image[:, 3, 3] = 0
    assert look_at(image).holed == 0
    image[:] = 1
    image[2, 3, 3] = 0
    assert look_at(image).holed == 1


def test_pieces_that_the_border_cuts_have_no_say_in_sizes() -> None:
    image = np.zeros((20, 20), np.uint8)
    image[0, 0] = 1
    image[5:10, 5:10] = 2
    assert look_at(image).inner_sizes.tolist() == [25]


def test_of_pieces_that_need_not_be_alike_only_the_tiniest_are_specks() -> None:
    image = np.zeros((70, 110), np.uint8)
    for column in (5, 40, 75):
        image[5:35, column : column + 30] = 1
    image[50:54, 5:9] = 1
    facts = look_at(image)
    assert (facts.specks(alike=True), facts.specks(alike=False)) == (1, 0)


def test_specks_are_far_below_the_median_size() -> None:
    image = squares()
    image[38, 38] = 11
    assert look_at(image).specks(alike=True) == 1


@pytest.mark.parametrize("value", [np.nan, np.inf, 1.5, -1.0])
def test_values_that_are_no_labels_are_told(value: float) -> None:
    image = squares().astype(float)
    image[0, 0] = value
    assert not look_at(image).whole


def test_an_empty_image_has_no_objects() -> None:
    facts = look_at(np.zeros((8, 8), np.uint8))
    assert (facts.objects, facts.images, facts.filled) == (0, 1, 0)


def test_labels_too_large_to_be_counted_by_are_counted_all_the_same() -> None:
    image = np.array([[0, 2**40], [2**50, 2**50]], np.uint64)
    assert look_at(image).objects == 2


def test_facts_of_two_images_add_up() -> None:
    both = look_at(squares()) + look_at(squares())
    assert (both.objects, both.images, len(both.inner_sizes)) == (6, 2, 6)


def test_a_line_is_one_pixel_wide_and_a_bar_is_not() -> None:
    line, bar = np.zeros((20, 20)), np.zeros((20, 20))
    line[10, 3:17] = 1
    bar[8:12, 3:17] = 1
    assert one_pixel_wide(line)
    assert not one_pixel_wide(bar)


def test_nothing_is_no_line() -> None:
    assert not one_pixel_wide(np.full((8, 8), np.nan))
