from __future__ import annotations

import numpy as np

from evals.simulation.time_stamp import burn_time


def stamped(minutes: int, shape: tuple[int, ...]) -> np.ndarray:
    image = np.zeros(shape, np.uint8)
    burn_time(image, minutes)
    return image


def test_a_stamp_is_white_in_the_upper_right_corner() -> None:
    image = stamped(610, (120, 150, 3))
    rows, columns = np.nonzero(image.max(axis=2))
    assert set(np.unique(image)) == {0, 255}
    assert rows.max() < 10
    assert columns.min() > 120


def test_every_minute_has_another_stamp() -> None:
    assert len({stamped(minute, (30, 150)).tobytes() for minute in range(0, 1600, 7)}) == 229


def test_a_larger_picture_has_larger_digits() -> None:
    small, large = stamped(605, (100, 150)), stamped(605, (700, 1050))
    assert (large > 0).sum() == 49 * (small > 0).sum()
