"""Localised molecules: rendered beside the reference, and how far each lies off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.pictures.canvas import (
    COLOURS,
    FALSE_HIT,
    HIT,
    MISS,
    SPLIT,
    resized,
    stretch,
    with_legend,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.pictures.canvas import Image

# Beyond this many marks of a kind a picture shows nothing more.
_MOST_MARKS = 5_000
_GAP = 4
_BINS_PER_PIXEL = 10


@dataclass(frozen=True)
class View:
    """A part of the movie's plane in pixels: its left upper corner and its size."""

    left: float
    top: float
    width: float
    height: float

    def inside(self, place: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which places (columns x and y) lie in it."""
        x, y = (place - (self.left, self.top)).T
        within: NDArray[np.bool_] = (x >= 0) & (x < self.width) & (y >= 0) & (y < self.height)
        return within


def whole(place: NDArray[np.float64]) -> View:
    """Return the view of all places, shape (n, 2), n > 0, and half a pixel around them."""
    low, high = place.min(axis=0) - 0.5, place.max(axis=0) + 0.5
    return View(float(low[0]), float(low[1]), float(high[0] - low[0]), float(high[1] - low[1]))


def densest(place: NDArray[np.float64], side: float) -> View:
    """Return the square of `side` pixels that holds about as many places as any does."""
    view = whole(place)
    if max(view.width, view.height) <= side:
        return view
    step = max(side / 2, max(view.width, view.height) / 400)
    edges = [
        np.arange(low, low + length + step, step)
        for low, length in ((view.left, view.width), (view.top, view.height))
    ]
    count, _, _ = np.histogram2d(place[:, 0], place[:, 1], bins=edges)
    padded = np.pad(count, ((0, 1), (0, 1)))
    boxes = padded[:-1, :-1] + padded[1:, :-1] + padded[:-1, 1:] + padded[1:, 1:]
    column, row = np.unravel_index(int(boxes.argmax()), boxes.shape)
    return View(float(edges[0][column]), float(edges[1][row]), side, side)


def side_by_side(
    reference: NDArray[np.float64], predicted: NDArray[np.float64], view: View, side: int
) -> Image:
    """Return RGB bytes: the reference's molecules as a density image, and the submitted ones.

    Both are two-dimensional histograms of tenths of a pixel (coarser where the view is large),
    smoothed a little, in one grey scale.

    Parameters
    ----------
    reference, predicted
        Columns x and y in pixels; places outside the view are not shown.
    view
        What to show.
    side
        Width of the picture in pixels, about.
    """
    room = (side - _GAP) // 2
    scale = min(_BINS_PER_PIXEL, room / max(view.width, view.height))
    shape = max(1, round(view.height * scale)), max(1, round(view.width * scale))
    panels = [_density(places, view, shape) for places in (reference, predicted)]
    ceiling = max(float(np.percentile(p[p > 0], 95)) if p.any() else 0.0 for p in panels) or 1.0
    grey = np.sqrt(np.concatenate([np.pad(p, ((0, 0), (0, 1))) for p in panels], axis=1) / ceiling)
    pixels = np.repeat(np.round(np.clip(grey, 0, 1) * 255).astype(np.uint8)[..., None], 3, axis=-1)
    pixels[:, shape[1]] = pixels[:, -1] = MISS
    factor = max(1, room // max(shape))
    enlarged = resized(pixels, (pixels.shape[0] * factor, pixels.shape[1] * factor))
    count = [int(view.inside(places).sum()) for places in (reference, predicted)]
    legend = {
        f"left: reference ({count[0]})": COLOURS["reference"],
        f"right: submitted ({count[1]})": COLOURS["reference"],
    }
    return with_legend(enlarged, legend)


def _density(place: NDArray[np.float64], view: View, shape: tuple[int, int]) -> NDArray[np.float64]:
    x, y = (place[view.inside(place)] - (view.left, view.top)).T
    rows = np.minimum((y * shape[0] / view.height).astype(int), shape[0] - 1)
    columns = np.minimum((x * shape[1] / view.width).astype(int), shape[1] - 1)
    count = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1])
    return _smoothed(_smoothed(count.reshape(shape).astype(float)).T).T


def _smoothed(image: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the image blurred by (1, 2, 1) / 4 along its rows' direction."""
    padded = np.pad(image, ((1, 1), (0, 0)))
    return (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4


@dataclass(frozen=True)
class Residuals:
    """Places by what became of them: columns x and y in pixels, float64, finite.

    Attributes
    ----------
    hit, partner
        Found molecules and where they were submitted, shapes (n, 2).
    miss, false_hit
        Those without a partner.
    radius
        The largest distance of a hit.
    """

    hit: NDArray[np.float64]
    partner: NDArray[np.float64]
    miss: NDArray[np.float64]
    false_hit: NDArray[np.float64]
    radius: float


def quiver(
    ground: NDArray[np.float64] | None, residuals: Residuals, view: View, side: int
) -> Image:
    """Return RGB bytes: an arrow from each molecule towards where it was submitted, enlarged.

    Arrows are green up to half the radius, else yellow. Missed molecules are crosses, false ones
    rings.

    Parameters
    ----------
    ground
        The movie's mean (rows, columns), or None for a black ground.
    residuals
        What to draw.
    view
        The part to show.
    side
        Length of the picture's longer side in pixels, about.
    """
    from PIL import Image as Pillow
    from PIL import ImageDraw

    scale = side / max(view.width, view.height)
    shape = max(1, round(view.height * scale)), max(1, round(view.width * scale))
    picture = Pillow.fromarray(_ground(ground, view, shape))
    pen = ImageDraw.Draw(picture)
    shown = view.inside(residuals.hit)
    start, offset = residuals.hit[shown], (residuals.partner - residuals.hit)[shown]
    length = np.hypot(*offset.T)
    enlarged = _enlargement(length, residuals.radius, scale)
    tip = ((start - (view.left, view.top)) + offset * enlarged) * scale
    base = (start - (view.left, view.top)) * scale
    far = length > residuals.radius / 2
    arrows = zip(base.tolist(), tip.tolist(), far.tolist(), strict=True)
    for (x, y), (to_x, to_y), is_far in list(arrows)[:_MOST_MARKS]:
        colour = SPLIT if is_far else HIT
        pen.line((x, y, to_x, to_y), fill=colour, width=2)
        pen.ellipse((x - 2, y - 2, x + 2, y + 2), fill=colour)
    counts = {f"{len(start)} hit": HIT, f"{int(far.sum())} beyond half the radius": SPLIT}
    for kind, places in (("miss", residuals.miss), ("false hit", residuals.false_hit)):
        marks = (places[view.inside(places)] - (view.left, view.top)) * scale
        counts[f"{len(marks)} {kind}"] = COLOURS[kind]
        for x, y in marks[:_MOST_MARKS].tolist():
            if kind == "miss":
                pen.line((x - 4, y - 4, x + 4, y + 4), fill=MISS, width=2)
                pen.line((x - 4, y + 4, x + 4, y - 4), fill=MISS, width=2)
            else:
                pen.ellipse((x - 4, y - 4, x + 4, y + 4), outline=FALSE_HIT, width=2)
    return with_legend(np.asarray(picture), counts | {f"offsets {enlarged:g} times": HIT})


def _enlargement(length: NDArray[np.float64], radius: float, scale: float) -> float:
    """Return a whole number by which an arrow of typical length becomes well visible."""
    typical = max(float(np.median(length)) if len(length) else radius, radius / 20)
    return float(max(1, round(14 / (typical * scale))))


def _ground(image: NDArray[np.float64] | None, view: View, shape: tuple[int, int]) -> Image:
    if image is None:
        return np.zeros((*shape, 3), np.uint8)
    # The centre of a pixel is its whole-numbered place.
    rows = np.round(view.top + (np.arange(shape[0]) + 0.5) * view.height / shape[0]).astype(int)
    columns = np.round(view.left + (np.arange(shape[1]) + 0.5) * view.width / shape[1]).astype(int)
    grey = stretch(image) // 2
    inside = ((rows >= 0) & (rows < image.shape[0]))[:, None] & (
        (columns >= 0) & (columns < image.shape[1])
    )
    rows, columns = rows.clip(0, image.shape[0] - 1), columns.clip(0, image.shape[1] - 1)
    return np.where(inside[..., None], grey[rows[:, None], columns], 0).astype(np.uint8)
