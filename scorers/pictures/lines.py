"""Centre lines over an image: where they were found, missed, and drawn where there are none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.pictures.canvas import COLOURS, SPLIT, fitted, resized, stretch, with_legend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorers.pictures.canvas import Image

_MOST_RINGS = 60


@dataclass(frozen=True)
class Lines:
    """Pixels of centre lines in one view, by what became of them, shapes (n, 2): row and column.

    Attributes
    ----------
    shape
        Rows and columns of the view.
    unit
        What lengths are counted in, for the legend.
    edge
        Length of a pixel in that unit.
    """

    shape: tuple[int, int]
    hit: NDArray[np.intp]
    miss: NDArray[np.intp]
    false_hit: NDArray[np.intp]
    unit: str = "px"
    edge: float = 1.0


def draw(
    ground: NDArray[Any] | None,
    lines: Lines,
    side: int,
    rings: Sequence[tuple[float, float]] = (),
    ringed: str = "gap",
) -> Image:
    """Return RGB bytes: the image in grey with the lines over it, and a legend.

    Parameters
    ----------
    ground
        The input (rows, columns[, 3]) of any size with the view's proportions, or None for black.
    lines
        The reference's found and missed parts, and the predicted parts beside it above those.
    side
        Length of the picture's longer side in pixels, about.
    rings
        Places (row, column) to draw a circle round, the first few of them.
    ringed
        What is in a circle.
    """
    shape = fitted(lines.shape, side)
    if ground is None:
        canvas = np.zeros((*shape, 3), np.uint8)
    else:
        canvas = resized(stretch(ground), shape).copy()
    scale = np.array(shape) / np.array(lines.shape)
    width = max(1, round(max(shape) / 400), round(float(scale.min())))
    legend = {}
    for kind, points in (("hit", lines.hit), ("miss", lines.miss), ("false hit", lines.false_hit)):
        _paint(canvas, points, scale, width, np.array(COLOURS[kind], np.uint8))
        legend[f"{kind} {len(points) * lines.edge:.0f} {lines.unit}"] = COLOURS[kind]
    if rings:
        canvas = _ringed(canvas, np.array(rings[:_MOST_RINGS]), scale)
        legend[f"{len(rings)} {ringed}{'s' if len(rings) > 1 else ''}"] = SPLIT
    return with_legend(canvas, legend)


def _paint(
    canvas: Image,
    points: NDArray[np.intp],
    scale: NDArray[np.float64],
    width: int,
    colour: NDArray[np.uint8],
) -> None:
    places = ((points + 0.5) * scale).astype(int)
    for step in np.ndindex(width, width):
        rows, columns = (places + np.array(step) - width // 2).T
        rows = np.clip(rows, 0, canvas.shape[0] - 1)
        canvas[rows, np.clip(columns, 0, canvas.shape[1] - 1)] = colour


def _ringed(canvas: Image, centres: NDArray[np.float64], scale: NDArray[np.float64]) -> Image:
    from PIL import Image as Pillow
    from PIL import ImageDraw

    picture = Pillow.fromarray(canvas)
    pen = ImageDraw.Draw(picture)
    radius = max(canvas.shape[:2]) / 60
    for row, column in ((centres + 0.5) * scale).tolist():
        box = (column - radius, row - radius, column + radius, row + radius)
        pen.ellipse(box, outline=SPLIT, width=max(1, round(radius / 6)))
    return np.asarray(picture)
