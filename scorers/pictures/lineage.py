"""A lineage tree with what the prediction missed of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.metrics.lineage import Forest
from scorers.pictures.canvas import HIT, MERGE, MISS, SPLIT, with_legend

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL.ImageDraw import ImageDraw

    from scorers.pictures.canvas import Colour, Image

_GROUND = (24, 24, 24)
_PITCH = (3, 18)  # least and largest distance of two tracks, in pixels
_MARGIN = 8
_STRIP = 48  # height of the bars that show errors over time
_BARS = (150, 150, 150)


@dataclass(frozen=True)
class Tree:
    """The reference's tracks and the errors on them; rows are those of its lineage.

    Attributes
    ----------
    start, end, parent
        Int64, shape (n,): first and last frame, and the row of the mother or -1.
    missed
        (row, frame) of objects without a match, shape (k, 2).
    broken
        (row, frame) after which a link between two found objects of a track is missing.
    lost
        Rows whose link to the mother is missing or no such link.
    found, unfound
        (row, frame) of mothers in their last frame, where the division was found or not.
    """

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    parent: NDArray[np.int64]
    missed: NDArray[np.int64]
    broken: NDArray[np.int64]
    lost: NDArray[np.int64]
    found: NDArray[np.int64]
    unfound: NDArray[np.int64]

    @property
    def errors(self) -> NDArray[np.int64]:
        """(row, frame) of every error."""
        lost = np.stack([self.lost, self.start[self.lost]], axis=1)
        return np.concatenate([self.missed, self.broken, lost, self.unfound])


def draw(tree: Tree, side: int) -> Image:
    """Return RGB bytes: time from left to right, tracks one below the other, a legend.

    Tracks are green where they were followed. If there are more than fit, the neighbouring ones
    with most errors are shown. The strip at the bottom shows the errors of all tracks over time.

    Parameters
    ----------
    tree
        At least one track.
    side
        Length of the picture's longer side in pixels, about.
    """
    from PIL import Image as Pillow
    from PIL import ImageDraw

    level, n_levels = _levels(tree.parent)
    shown = min(n_levels, (side - _STRIP) // _PITCH[0])
    pitch = min((side - _STRIP) / shown, _PITCH[1])
    first = _busiest(level[tree.errors[:, 0]], n_levels, shown)
    height = int(shown * pitch)
    scale = (side - 2 * _MARGIN) / max(int(tree.end.max()), 1)
    picture = Pillow.new("RGB", (side, height + _STRIP), _GROUND)
    pen = ImageDraw.Draw(picture)
    view = _View(tree, (level - first + 0.5) * pitch, scale, height)
    view.draw_tracks(pen, 2 if pitch > 9 else 1)
    view.draw_errors(pen, min(pitch / 3, 4.0))
    pen.rectangle((0, height, side, height + _STRIP), fill=_GROUND)
    view.draw_strip(pen)
    n_found, n_unfound = len(tree.found), len(tree.unfound)
    return with_legend(
        np.asarray(picture),
        {
            "followed": HIT,
            f"{len(tree.missed)} missed objects": MISS,
            f"{len(tree.broken)} broken links": SPLIT,
            f"{n_unfound} of {n_unfound + n_found} divisions missed": MERGE,
        },
    )


@dataclass(frozen=True)
class _View:
    """Where rows (y, in pixels) and frames (`scale` pixels each) lie in the picture."""

    tree: Tree
    y: NDArray[np.float64]
    scale: float
    height: int

    def x(self, frame: NDArray[np.int64]) -> NDArray[np.float64]:
        return _MARGIN + np.maximum(frame, 0) * self.scale

    def draw_tracks(self, pen: ImageDraw, width: int) -> None:
        """Draw each visible track from its mother's end to its own end."""
        tree = self.tree
        mother = np.where(tree.parent >= 0, tree.parent, np.arange(len(tree.parent)))
        born = np.where(tree.parent >= 0, tree.end[mother], tree.start)
        lost = np.zeros(len(born), bool)
        lost[tree.lost] = True
        low, high = np.minimum(self.y, self.y[mother]), np.maximum(self.y, self.y[mother])
        rows = np.flatnonzero((high >= 0) & (low < self.height))
        columns = (self.x(born), self.x(tree.start), self.x(tree.end), self.y[mother], self.y, lost)
        for born_x, start_x, end_x, mother_y, y, is_lost in zip(
            *(column[rows].tolist() for column in columns), strict=True
        ):
            colour = MERGE if is_lost else HIT
            pen.line((born_x, mother_y, born_x, y, start_x, y), fill=colour, width=width)
            pen.line((start_x, y, end_x, y), fill=HIT, width=width)

    def draw_errors(self, pen: ImageDraw, radius: float) -> None:
        """Mark errors on the tracks, the rarer kinds above the others."""
        tree = self.tree
        half = max(self.scale / 2, 0.5)
        for x, y in self._visible(tree.missed):
            pen.rectangle((x - half, y - 1, x + half, y + 1), fill=MISS)
        for x, y in self._visible(tree.broken):
            pen.line((x + half, y - radius, x + half, y + radius), fill=SPLIT, width=2)
        dots: tuple[tuple[NDArray[np.int64], Colour], ...] = (
            (tree.found, HIT),
            (tree.unfound, MERGE),
        )
        for points, colour in dots:
            for x, y in self._visible(points):
                pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)

    def draw_strip(self, pen: ImageDraw) -> None:
        """Draw the number of errors in each frame as bars below the tracks."""
        count = np.bincount(np.maximum(self.tree.errors[:, 1], 0), minlength=1)
        bottom = self.height + _STRIP - 4
        tall = count * (_STRIP - 8) / max(int(count.max()), 1)
        half = max(self.scale / 2 - 0.5, 0.5)
        frames = self.x(np.arange(len(count)))
        for x, top in zip(frames.tolist(), tall.tolist(), strict=True):
            pen.rectangle((x - half, bottom - top, x + half, bottom), fill=_BARS)

    def _visible(self, points: NDArray[np.int64]) -> list[list[float]]:
        y = self.y[points[:, 0]]
        place = np.stack([self.x(points[:, 1]), y], axis=1)
        visible: list[list[float]] = place[(y >= 0) & (y < self.height)].tolist()
        return visible


def _levels(parent: NDArray[np.int64]) -> tuple[NDArray[np.float64], int]:
    """Place tracks one below the other: leaves in depth-first order, mothers amid their leaves."""
    forest = Forest(parent)
    is_leaf = np.zeros(len(parent), np.int64)
    is_leaf[forest.enter] = forest.leave - forest.enter == 1
    before = np.concatenate([[0], np.cumsum(is_leaf)])
    return (before[forest.enter] + before[forest.leave] - 1) / 2, int(is_leaf.sum())


def _busiest(level: NDArray[np.float64], n_levels: int, shown: int) -> int:
    """Return where the window of `shown` levels with most of the given ones starts."""
    count = np.bincount(level.astype(np.int64), minlength=n_levels)
    total = np.concatenate([[0], np.cumsum(count)])
    return int((total[shown:] - total[:-shown]).argmax())
