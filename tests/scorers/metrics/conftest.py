"""Label movies for the tests of tracking metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

Movie = list[np.ndarray]


@pytest.fixture
def strip() -> Callable[..., Movie]:
    """Make one frame for each argument: a row of cells, four pixels each, by their labels."""

    def make(*frames: list[int]) -> Movie:
        return [np.repeat(np.array(frame), 4)[None, :] for frame in frames]

    return make
