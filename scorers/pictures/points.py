"""Dots over an image: which cells were found, missed, and seen where there are none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.pictures.canvas import COLOURS, fitted, resized, stretch, with_legend

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.pictures.canvas import Image

# Beyond this many dots of a kind a picture shows nothing more.
_MOST_DOTS = 20_000


@dataclass(frozen=True)
class Dots:
    """Places by what became of them: columns x and y in pixels, float64, shapes (n, 2), finite."""

    hit: NDArray[np.float64]
    miss: NDArray[np.float64]
    false_hit: NDArray[np.float64]

    def everything(self) -> NDArray[np.float64]:
        """All places."""
        return np.concatenate([self.hit, self.miss, self.false_hit])


@dataclass(frozen=True)
class Window:
    """A part of an image: its first row and column, and its size."""

    top: int
    left: int
    rows: int
    columns: int


def densest(dots: Dots, shape: tuple[int, int] | None, side: int) -> Window:
    """Return the window of at most `side` pixels a side that holds most dots.

    It is searched in steps of half its size. Without a `shape` the image is taken to end at the
    last hit or miss.
    """
    rows, columns = shape or _extent(dots)
    height, width = min(side, rows), min(side, columns)
    x, y = dots.everything().T
    step = max(side // 2, 1)
    counts, _, _ = np.histogram2d(
        y, x, bins=(np.arange(0, rows + step, step), np.arange(0, columns + step, step))
    )
    padded = np.pad(counts, ((0, 1), (0, 1)))
    boxes = padded[:-1, :-1] + padded[1:, :-1] + padded[:-1, 1:] + padded[1:, 1:]
    row, column = np.unravel_index(int(boxes.argmax()), boxes.shape)
    return Window(
        min(int(row) * step, rows - height), min(int(column) * step, columns - width), height, width
    )


def draw(ground: NDArray[Any] | None, dots: Dots, window: Window | None, side: int) -> Image:
    """Return RGB bytes: the image in grey with a ring round each place, and a legend.

    Parameters
    ----------
    ground
        The input (rows, columns[, 3]), or None for a black ground.
    dots
        What to mark. The legend counts what lies in the window.
    window
        The part to show, None for all.
    side
        Length of the picture's longer side in pixels, about.
    """
    from PIL import Image as Pillow
    from PIL import ImageDraw

    rows, columns = _extent(dots) if ground is None else ground.shape[:2]
    window = window or Window(0, 0, rows, columns)
    shape = fitted((window.rows, window.columns), side)
    if ground is None:
        canvas = np.zeros((*shape, 3), np.uint8)
    else:
        part = stretch(ground)[
            window.top : window.top + window.rows, window.left : window.left + window.columns
        ]
        canvas = resized(part, shape)
    picture = Pillow.fromarray(canvas)
    pen = ImageDraw.Draw(picture)
    scale = shape[0] / window.rows
    radius = min(max(3.0, 4.0 * scale), 7.0)
    legend = {}
    for kind, places in (("hit", dots.hit), ("miss", dots.miss), ("false hit", dots.false_hit)):
        x, y = places[:, 0] - window.left, places[:, 1] - window.top
        inside = (x >= 0) & (x < window.columns) & (y >= 0) & (y < window.rows)
        legend[f"{np.count_nonzero(inside)} {kind}"] = COLOURS[kind]
        centres = (np.stack([x, y], axis=1)[inside] + 0.5) * scale
        for across, down in centres[:_MOST_DOTS].tolist():
            box = (across - radius, down - radius, across + radius, down + radius)
            pen.ellipse(box, outline=COLOURS[kind], width=2)
    return with_legend(np.asarray(picture), legend)


def _extent(dots: Dots) -> tuple[int, int]:
    known = np.concatenate([dots.hit, dots.miss])
    places = known if len(known) else dots.everything()
    last = np.clip(places.max(axis=0), 0, 20_000)
    return int(last[1]) + 2, int(last[0]) + 2
