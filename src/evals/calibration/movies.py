"""Damage done to a movie of labels and its lineage: pure functions of both.

A movie has the shape (frames, rows, columns). A lineage has four columns, track, first frame, last
frame and parent, one row a track. A node is an object in one frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evals.calibration import labels

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evals.calibration.doses import Pick

    Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Tracked:
    """A movie and its lineage."""

    movie: NDArray[Any]
    lineage: NDArray[np.int64]

    @property
    def fresh(self) -> int:
        """The first id that nothing has."""
        return int(max(self.movie.max(initial=0), self.lineage[:, 0].max(initial=0))) + 1


def drop(tracked: Tracked, pick: Pick) -> Tracked:
    """Leave nodes out; the lineage stays as it is."""
    return _by_node(tracked, pick, labels.without)


def merge(tracked: Tracked, pick: Pick) -> Tracked:
    """Give nodes the id of their nearest neighbour in the frame."""
    return _by_node(tracked, pick, _merged)


def dilate(tracked: Tracked, pick: Pick) -> Tracked:
    """Let nodes grow by a pixel."""
    return _by_node(tracked, pick, labels.dilated)


def split(tracked: Tracked, pick: Pick) -> Tracked:
    """Cut nodes in two, the farther half being a track of one frame."""
    fresh, frames, added = tracked.fresh, [], []
    for at, (frame, ids) in enumerate(_chosen(tracked, pick)):
        names = fresh + np.arange(len(ids))
        frames.append(labels.split(frame, ids, names))
        added.append(_rows(names, np.full(len(ids), at)))
        fresh += len(ids)
    return Tracked(_stack(frames), np.concatenate([tracked.lineage, *added]))


def shuffle_ids(tracked: Tracked, pick: Pick) -> Tracked:
    """Exchange the ids of all nodes of a frame, in frames of at least two nodes."""
    ids = [labels.ids_of(frame) for frame in tracked.movie]
    crowded = np.flatnonzero([len(own) > 1 for own in ids])
    hit = set(crowded[pick.hits(len(crowded))].tolist())
    frames = [
        labels.renamed(frame, own, np.roll(own, 1)) if at in hit else frame
        for at, (frame, own) in enumerate(zip(tracked.movie, ids, strict=True))
    ]
    return Tracked(_stack(frames), tracked.lineage)


def unlink(tracked: Tracked, pick: Pick) -> Tracked:
    """Make tracks of one frame of all nodes of some tracks, without parents and daughters."""
    table = tracked.lineage
    gone = table[pick.hits(len(table)), 0]
    fresh, frames, added = tracked.fresh, [], []
    for at, frame in enumerate(tracked.movie):
        ids = np.intersect1d(labels.ids_of(frame), gone)
        names = fresh + np.arange(len(ids))
        frames.append(labels.renamed(frame, ids, names))
        added.append(_rows(names, np.full(len(ids), at)))
        fresh += len(ids)
    kept = table[~np.isin(table[:, 0], gone)]
    kept[np.isin(kept[:, 3], gone), 3] = 0
    return Tracked(_stack(frames), np.concatenate([kept, *added]))


def count_from_one(tracked: Tracked, pick: Pick) -> Tracked:
    """Count the frames of some tracks in the lineage from 1."""
    late = np.zeros_like(tracked.lineage)
    late[pick.hits(len(late)), 1:3] = 1
    return Tracked(tracked.movie, tracked.lineage + late)


def turn(tracked: Tracked, pick: Pick) -> Tracked:
    """Exchange rows and columns of frames, of all of them if they are not square."""
    hit = pick.hits(len(tracked.movie))[:, None, None]
    across = np.swapaxes(tracked.movie, 1, 2)
    square = across.shape == tracked.movie.shape
    return Tracked(np.where(hit, across, tracked.movie) if square else across, tracked.lineage)


def _by_node(
    tracked: Tracked, pick: Pick, change: Callable[[NDArray[Any], Ids], NDArray[Any]]
) -> Tracked:
    frames = [change(frame, ids) for frame, ids in _chosen(tracked, pick)]
    return Tracked(_stack(frames), tracked.lineage)


def _chosen(tracked: Tracked, pick: Pick) -> list[tuple[NDArray[Any], Ids]]:
    """Return each frame with the ids of its nodes that are hit."""
    every = [labels.ids_of(frame) for frame in tracked.movie]
    hits = pick.hits_in([len(ids) for ids in every])
    return [(frame, ids[hit]) for frame, ids, hit in zip(tracked.movie, every, hits, strict=True)]


def _merged(frame: NDArray[Any], ids: Ids) -> NDArray[Any]:
    return labels.renamed(frame, *labels.merge_names(frame, ids))


def _rows(tracks: Ids, frames: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.stack([tracks, frames, frames, np.zeros_like(tracks)], axis=1)


def _stack(frames: list[NDArray[Any]]) -> NDArray[Any]:
    return np.stack(frames).astype(np.result_type(*frames))
