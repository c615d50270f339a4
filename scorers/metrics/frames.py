"""Matching of points that belong to frames: only points of one frame can be the same."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np

from scorers.metrics.points import Pairs, match_optimally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Match = Callable[[NDArray[np.float64], NDArray[np.float64]], Pairs]


# Reference points up to which matching several frames costs little more than one.
_AT_ONCE = 500


class Framed(Protocol):
    """Points of a movie."""

    @property
    def frame(self) -> NDArray[np.float64]:
        """Float64, shape (n,), whole numbers; one that is infinite is no frame of anything."""
        ...

    @property
    def place(self) -> NDArray[np.float64]:
        """Float64, shape (n, d)."""
        ...


def match_by_frame(
    match: Match, reference: Framed, predicted: Framed, *, apart: float | None = None
) -> Pairs:
    """Match the points of each frame that holds some on both sides.

    Parameters
    ----------
    match
        Matches reference with predicted points, shapes (n, d) and (m, d).
    reference, predicted
        In any order of frames.
    apart
        For a `match` that starts slowly: frames are laid out this far apart along one more axis
        and many of them are matched at once. The result is the same if `match` takes points of any
        number of axes and never looks that far.

    Returns
    -------
    Pairs
        Indices into the points of the whole movie, ascending in the reference.
    """
    frames = list(_shared(reference.frame, predicted.frame))
    if apart is not None:
        frames = _joined(frames)
    found = []
    for rows, columns in frames:
        one, other = reference.place[rows], predicted.place[columns]
        if apart is not None:
            one = np.column_stack([one, _rank(reference.frame[rows]) * apart])
            other = np.column_stack([other, _rank(predicted.frame[columns]) * apart])
        pairs = match(one, other)
        found.append(Pairs(rows[pairs.reference], columns[pairs.predicted], pairs.distance))
    if not found:
        nothing = np.zeros(0, np.int64)
        return Pairs(nothing, nothing, np.zeros(0))
    matched = np.concatenate([pairs.reference for pairs in found])
    order = np.argsort(matched)
    return Pairs(
        matched[order],
        np.concatenate([pairs.predicted for pairs in found])[order],
        np.concatenate([pairs.distance for pairs in found])[order],
    )


def match_optimally_by_frame(reference: Framed, predicted: Framed, radius: float) -> Pairs:
    """Match places of two axes by `match_optimally`, many frames at once since it starts slowly.

    Its candidates are found along all axes, of which the third keeps frames apart; the distances it
    returns are those along the first two.
    """
    match = partial(match_optimally, radius=radius)
    return match_by_frame(match, reference, predicted, apart=4 * (radius + 1))


def _shared(
    one: NDArray[np.float64], other: NDArray[np.float64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the positions of both sides' points in each finite frame that both have."""
    frames = np.intersect1d(one, other)
    frames = frames[np.isfinite(frames)]
    parts = [_positions(side, frames) for side in (one, other)]
    yield from zip(*parts, strict=True)


def _positions(frame: NDArray[np.float64], wanted: NDArray[np.float64]) -> list[NDArray[np.int64]]:
    order = np.argsort(frame, kind="stable")
    ordered = frame[order]
    first = np.searchsorted(ordered, wanted, "left").tolist()
    last = np.searchsorted(ordered, wanted, "right").tolist()
    return [order[start:stop] for start, stop in zip(first, last, strict=True)]


def _joined(
    frames: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return runs of frames with up to about `_AT_ONCE` reference points each."""
    before = np.cumsum([0, *(len(rows) for rows, _ in frames)])[:-1]
    starts = np.flatnonzero(np.diff(before // _AT_ONCE, prepend=-1)).tolist()
    return [
        (
            np.concatenate([rows for rows, _ in frames[start:stop]]),
            np.concatenate([columns for _, columns in frames[start:stop]]),
        )
        for start, stop in pairwise([*starts, len(frames)])
    ]


def _rank(frame: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the number of each point's frame among the frames there are."""
    return np.unique(frame, return_inverse=True)[1].astype(np.float64)
