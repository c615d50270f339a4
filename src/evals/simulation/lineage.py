"""From cells to tracks: the bookkeeping of a Cell Tracking Challenge reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evals.simulation.bacteria import Colony
    from evals.simulation.rods import Drawing

_SLIVER_PX = 60


class TrackBook:
    """Gives every visible cell its track, frame after frame.

    A cell enters the reference when at least half of it lies within the field, and leaves when
    less than 60 pixels are left: thinner slivers cannot be told from background. A cell that comes
    back, and a daughter first seen after its birth, starts a track without a parent.
    """

    def __init__(self) -> None:
        self._frame = -1
        self._track_of = np.zeros(1, np.int64)
        self._table = np.zeros((0, 4), np.int64)

    @property
    def tracks(self) -> NDArray[np.int64]:
        """(N, 4) track, first frame, last frame, parent (0: none), as in `man_track.txt`."""
        return self._table

    def label(self, colony: Colony, drawing: Drawing) -> NDArray[np.uint16]:
        """Return the next frame's labels, each equal to its cell's track."""
        self._frame += 1
        known = len(self._track_of)
        top = max(known, int(colony.ident.max(initial=0)) + 1)
        before = np.zeros(top, np.int64)
        before[:known] = self._track_of
        area = np.bincount(drawing.idents.ravel(), minlength=top)[colony.ident]
        body = 2 * colony.radius * colony.length + np.pi * colony.radius**2
        tracked = before[colony.ident] > 0
        seen = (area >= _SLIVER_PX) & (tracked | (2 * area >= body))
        going_on, fresh = colony.ident[seen & tracked], colony.take(seen & ~tracked)
        self._table[before[going_on] - 1, 2] = self._frame
        self._track_of = np.zeros(top, np.int64)
        self._track_of[going_on] = before[going_on]
        # Numbers are given in order of birth: what lies beyond the known ones was born just now.
        parent = np.where(fresh.ident >= known, before[fresh.mother], 0)
        self._track_of[fresh.ident] = self._open(parent)
        return self._track_of[drawing.idents].astype(np.uint16)

    def _open(self, parent: NDArray[np.int64]) -> NDArray[np.int64]:
        tracks = len(self._table) + 1 + np.arange(len(parent))
        now = np.full(len(parent), self._frame)
        rows = np.stack([tracks, now, now, parent], axis=1)
        self._table = np.concatenate([self._table, rows])
        return tracks
