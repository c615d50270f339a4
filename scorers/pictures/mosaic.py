"""Pictures of a stitched mosaic: where its blocks ended up, and how its seams fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.pictures.canvas import (
    FALSE_HIT,
    HIT,
    MISS,
    SPLIT,
    fitted,
    resized,
    stretch,
    with_legend,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.pictures.canvas import Colour, Image

_COLOURS: dict[str, Colour] = {"in place": HIT, "displaced": SPLIT, "not found": MISS}
_TILES = 8


@dataclass(frozen=True)
class Blocks:
    """Blocks of one plane: centres (y, x) and shifts in pixels, shapes (n, 2), and their kinds."""

    centre: NDArray[np.float64]
    shift: NDArray[np.float64]
    kind: NDArray[np.str_]
    side: int


def small(image: NDArray[Any], side: int) -> Image:
    """Return an image as RGB bytes, no larger than `side`, cheap for a plane of any size."""
    step = max(1, max(image.shape) // side)
    shown = stretch(image[::step, ::step])
    return resized(shown, fitted(shown.shape, side))


def displacement_map(ground: Image, shape: tuple[int, int], blocks: Blocks) -> Image:
    """Return the mosaic with a square a block in the colour of its kind, arrows for the displaced.

    Parameters
    ----------
    ground
        The reference as RGB bytes at the size of the picture.
    shape
        Rows and columns of the mosaic itself.
    blocks
        What to draw.
    """
    from PIL import Image as Pillow
    from PIL import ImageDraw

    scale = np.array(ground.shape[:2]) / np.array(shape)
    picture = Pillow.fromarray((ground * 0.6).astype(np.uint8))
    pen = ImageDraw.Draw(picture)
    half = blocks.side * scale / 2 - 1
    longest = max(float(np.abs(blocks.shift).max(initial=0)), 1.0)
    arrow = 0.9 * float(half.min()) / longest
    entries = zip(
        (blocks.centre * scale).tolist(), blocks.shift.tolist(), blocks.kind.tolist(), strict=True
    )
    for (y, x), (down, across), kind in entries:
        box = (x - half[1], y - half[0], x + half[1], y + half[0])
        pen.rectangle(box, outline=_COLOURS[kind], width=1 if kind == "in place" else 2)
        if kind == "displaced":
            end = (x + across * arrow, y + down * arrow)
            pen.line((x, y, *end), fill=SPLIT, width=2)
            pen.ellipse((end[0] - 2, end[1] - 2, end[0] + 2, end[1] + 2), fill=SPLIT)
    count = {kind: int((blocks.kind == kind).sum()) for kind in _COLOURS}
    legend = {f"{count[kind]} {kind}": colour for kind, colour in _COLOURS.items()}
    return with_legend(np.asarray(picture), legend)


def checkerboard(own: NDArray[Any], known: NDArray[Any], side: int) -> Image:
    """Return squares of the submission and of the reference in turn; structures break at errors.

    Parameters
    ----------
    own, known
        The same part of both, shapes (rows, columns).
    side
        Length of the picture's longer side in pixels, about.
    """
    rows, columns = (np.arange(length) * _TILES // length for length in known.shape)
    reference = (rows[:, None] + columns[None, :]) % 2 == 1
    shown = np.where(reference[..., None], _tinted(known, FALSE_HIT), _tinted(own, SPLIT))
    picture = resized(shown.astype(np.uint8), fitted(known.shape, side))
    return with_legend(picture, {"submitted": SPLIT, "reference": FALSE_HIT})


def _tinted(image: NDArray[Any], colour: Colour) -> NDArray[np.float32]:
    grey = stretch(image).astype(np.float32) / 255
    tint = 0.5 + 0.5 * np.array(colour, np.float32) / 255
    return np.asarray(grey * tint * 255, np.float32)
