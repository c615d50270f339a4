"""The time burned into the corner of a movie's frames, drawn with digits of our own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Three columns by five rows, a row an octal digit.
_GLYPHS = {
    "0": "75557",
    "1": "26227",
    "2": "71747",
    "3": "71717",
    "4": "55711",
    "5": "74717",
    "6": "74757",
    "7": "71122",
    "8": "75757",
    "9": "75717",
    ":": "02020",
}
_FIELD_PER_POINT = 150


def burn_time(image: NDArray[np.uint8], minutes: int) -> None:
    """Write hours and minutes in white into the upper right corner of a picture, in place.

    Parameters
    ----------
    image
        Grey (Y, X) or colour (Y, X, 3).
    minutes
        Since the beginning of the movie; shown as `hh:mm`.
    """
    text = _text(f"{minutes // 60:02d}:{minutes % 60:02d}")
    point = max(1, round(image.shape[1] / _FIELD_PER_POINT))
    text = np.kron(text, np.ones((point, point), dtype=bool))
    edge = 2 * point
    rows, columns = text.shape
    corner = image[edge : edge + rows, image.shape[1] - edge - columns : image.shape[1] - edge]
    corner[text] = 255


def _text(words: str) -> NDArray[np.bool_]:
    """Return a mask of characters side by side, a column of space behind each but the last."""
    glyphs = [
        np.array([[int(row) >> (2 - k) & 1 for k in range(3)] + [0] for row in _GLYPHS[letter]])
        for letter in words
    ]
    return np.concatenate(glyphs, axis=1)[:, :-1].astype(bool)
