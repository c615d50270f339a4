"""Pictures of phenotypes."""

from __future__ import annotations

import numpy as np

from scorers.pictures.phenotypes import PALETTE, Cells, Panel, draw_frames, draw_shares

NAMES = ("one", "two", "three")


def has(image: np.ndarray, colour: tuple[int, int, int]) -> bool:
    return bool((image == colour).all(axis=-1).any())


def cells(*rows: tuple[float, float, int]) -> Cells:
    table = np.array(rows).reshape(-1, 3)
    return Cells(table[:, :2], table[:, 2].astype(np.int64))


def test_cells_have_the_colour_of_their_class_and_places_that_are_none_are_left_out() -> None:
    panel = Panel(
        None, "frame 0", cells((50, 50, 0)), cells((50, 50, 1), (np.nan, 1, 2), (9e99, 1, 2))
    )
    image = draw_frames([panel], (100, 100), NAMES, 400)
    body = image[:100]
    assert has(body, PALETTE[0])
    assert has(body, PALETTE[1])
    assert not has(body, PALETTE[2])


def test_the_middle_of_a_large_frame_is_shown() -> None:
    corner, middle = cells((5, 5, 0)), cells((1000, 1000, 1))
    image = draw_frames([Panel(None, "", corner, middle)], (2000, 2000), NAMES, 400)
    body = image[:190]
    assert not has(body, PALETTE[0])
    assert has(body, PALETTE[1])


def test_an_image_of_the_right_size_is_the_ground() -> None:
    noise = np.random.default_rng(0).integers(0, 99, (40, 40)).astype(np.uint16)
    panel = Panel(noise, "", cells(), cells())
    assert draw_frames([panel] * 3, (40, 40), NAMES, 200)[30:60, 30:60].std() > 10
    assert draw_frames([panel], (50, 50), NAMES, 200)[25:45, 25:45].max() == 0


def test_shares_are_stacked_from_below_and_a_frame_without_cells_is_black() -> None:
    frames = np.array([0.0, 1.0])
    told = (np.array([0.0]), np.array([[0.25, 0.75, 0.0]]))
    image = draw_shares(frames, {"a": told}, NAMES, 200)
    height = 140
    assert tuple(image[height - 2, 5]) == PALETTE[0]
    assert tuple(image[height // 2, 5]) == PALETTE[1]
    assert image[height // 2, 150].max() == 0
