"""Nuclei and the cells they belong to: outlines, and a line from each to the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.pictures.canvas import (
    FALSE_HIT,
    HIT,
    MISS,
    REFERENCE,
    fitted,
    resampled,
    resized,
    stretch,
    with_legend,
)
from scorers.pictures.masks import outline

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.pictures.canvas import Colour, Image

_COLOURS: dict[str, Colour] = {"hit": HIT, "wrong link": MISS, "false hit": FALSE_HIT}


@dataclass(frozen=True)
class Linked:
    """Submitted cells of one image.

    Attributes
    ----------
    inner, outer
        (rows, columns) of whole numbers, 0 for background: nuclei, cells.
    ids
        All ids of both, ascending, shape (n,).
    kinds
        What became of each: `hit`, `wrong link` (one of its outlines is right, it belongs to
        another one) or `false hit`, shape (n,).
    """

    inner: NDArray[np.int64]
    outer: NDArray[np.int64]
    ids: NDArray[np.int64]
    kinds: NDArray[np.str_]


def draw(
    image: NDArray[Any] | None, reference: NDArray[np.int64], cells: Linked, missed: int, side: int
) -> Image:
    """Return RGB bytes: outlines of nuclei and cells over the input, tied by their ids.

    The reference's cells are outlined in white; submitted nuclei and cells, and the lines between
    their centres, in the colour of their kind.

    Parameters
    ----------
    image
        The input (rows, columns[, 3]), or None for a black ground.
    reference
        Label image of the reference's cells.
    cells
        What was submitted.
    missed
        Number of reference cells that were not found, for the legend.
    side
        Length of the picture's longer side in pixels, about.
    """
    from PIL import Image as Pillow
    from PIL import ImageDraw

    shape = fitted(reference.shape, side)
    if image is None or image.shape[:2] != reference.shape:
        canvas = np.zeros((*shape, 3), np.uint8)
    else:
        canvas = resized(stretch(image), shape) // 4 * 3
    width = max(1, max(shape) // 400)
    canvas[outline(resampled(reference, shape), width)] = REFERENCE
    table = np.array([_COLOURS[kind] for kind in cells.kinds.tolist()], np.uint8).reshape(-1, 3)
    for labels in (cells.outer, cells.inner):
        shown = resampled(labels, shape)
        edge = outline(shown, width)
        canvas[edge] = table[np.searchsorted(cells.ids, shown[edge])]
    picture = Pillow.fromarray(canvas)
    pen = ImageDraw.Draw(picture)
    for start, end, colour in _ties(cells, table, shape[0] / reference.shape[0]):
        pen.line((*start, *end), fill=colour, width=2)
        pen.ellipse((start[0] - 3, start[1] - 3, start[0] + 3, start[1] + 3), fill=colour)
    count = {kind: int((cells.kinds == kind).sum()) for kind in _COLOURS}
    legend = {f"{count[kind]} {kind}": colour for kind, colour in _COLOURS.items()}
    return with_legend(np.asarray(picture), legend | {f"reference, {missed} not found": REFERENCE})


def _ties(
    cells: Linked, table: NDArray[np.uint8], scale: float
) -> list[tuple[list[float], list[float], Colour]]:
    """Return from where to where the lines go, and their colours."""
    inner_ids, inner = _centres(cells.inner)
    outer_ids, outer = _centres(cells.outer)
    ids, one, other = np.intersect1d(inner_ids, outer_ids, return_indices=True)
    colours = table[np.searchsorted(cells.ids, ids)].tolist()
    ends = zip((inner[one] * scale).tolist(), (outer[other] * scale).tolist(), colours, strict=True)
    return [(start, end, (red, green, blue)) for start, end, (red, green, blue) in ends]


def _centres(labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the ids of an image and the centres (x, y) of their pixels."""
    rows, columns = np.nonzero(labels)
    ids, place = np.unique(labels[rows, columns], return_inverse=True)
    count = np.bincount(place)
    x, y = (np.bincount(place, weights=axis) / count for axis in (columns, rows))
    return ids, np.stack([x, y], axis=1) + 0.5
