"""Lineages: which track starts and ends when, and which track it descends from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LARGEST = 2**62


@dataclass(frozen=True)
class Lineage:
    """Tracks of a lineage table, one row each, ascending in `track`.

    Attributes
    ----------
    track, start, end, parent
        Int64, shape (n,): id (above 0), first and last frame, parent's id or 0.
    infinite_rows
        Rows that were left out because a field is infinite.
    """

    track: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    parent: NDArray[np.int64]
    infinite_rows: int = 0

    def __len__(self) -> int:
        return len(self.track)

    def rows(self, track: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each given track, -1 where it is not listed."""
        if not len(self):
            return np.full(len(track), -1)
        place = np.minimum(np.searchsorted(self.track, track), len(self) - 1)
        return np.where(self.track[place] == track, place, -1)

    def parent_rows(self) -> NDArray[np.int64]:
        """Return the row of each track's parent; -1 for none, an unlisted one, or one too late.

        A parent has to end before the track starts, so the result never holds a cycle.
        """
        row = self.rows(self.parent)
        return np.where((row >= 0) & (self.end[row] < self.start), row, -1) if len(self) else row


def parse_lineage(text: str) -> Lineage:
    """Read a lineage table in the Cell Tracking Challenge's form.

    Four fields a row, separated by blanks or commas: track, first frame, last frame, parent. Each
    is read as a number and cut to a whole one. Rows that cannot be read so (a heading, say), have
    a track below 1, or end before they start are skipped; of two rows for a track the later counts.
    """
    tracks: dict[int, tuple[int, int, int]] = {}
    infinite = 0
    for line in text.splitlines():
        fields = line.replace(",", " ").split()[:4]
        if len(fields) < 4:
            continue
        try:
            track, start, end, parent = (int(float(field)) for field in fields)
        except ValueError:
            continue
        except OverflowError:  # what Python raises for an infinite number
            infinite += 1
            continue
        if track > 0 and end >= start:
            tracks[track] = (start, end, parent)
    table = np.array(
        [[_bounded(number) for number in (track, *row)] for track, row in sorted(tracks.items())],
        dtype=np.int64,
    ).reshape(-1, 4)
    return Lineage(table[:, 0], table[:, 1], table[:, 2], table[:, 3], infinite)


class Forest:
    """Trees given by each node's parent, laid out so that sums over relatives are differences.

    Nodes get places in depth-first order; the descendants of a node (itself included) then fill
    the places from `enter` up to, not including, `leave`.

    Parameters
    ----------
    parent
        Int64, shape (n,): index of the parent, -1 for a root. Must hold no cycle.
    """

    def __init__(self, parent: NDArray[np.int64]) -> None:
        self.parent = parent
        depth = _depths(parent)
        order = np.lexsort((parent, depth))
        levels = np.split(order, np.flatnonzero(np.diff(depth[order])) + 1) if len(order) else []
        size = np.ones(len(parent), np.int64)
        for nodes in reversed(levels[1:]):
            np.add.at(size, parent[nodes], size[nodes])
        self.enter = np.zeros(len(parent), np.int64)
        for nodes in levels:
            above = parent[nodes]
            before = np.cumsum(size[nodes]) - size[nodes]
            new = np.concatenate([[True], above[1:] != above[:-1]])
            family = np.maximum.accumulate(np.where(new, np.arange(len(nodes)), 0))
            base = np.where(above >= 0, self.enter[above] + 1, 0)
            self.enter[nodes] = base + before - before[family]
        self.leave = self.enter + size

    def relatives(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return all pairs (node, relative): itself, its ancestors and its descendants."""
        size = self.leave - self.enter
        by_place = np.argsort(self.enter)
        ancestor = np.repeat(np.arange(len(size)), size)
        step = np.arange(len(ancestor)) - np.repeat(np.cumsum(size) - size, size)
        descendant = by_place[self.enter[ancestor] + step]
        other = ancestor != descendant
        return (
            np.concatenate([ancestor, descendant[other]]),
            np.concatenate([descendant, ancestor[other]]),
        )

    def sums_over_relatives(self, value: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for each node the sum of `value` over itself, its ancestors and descendants."""
        entering = np.zeros(len(value) + 1, np.int64)
        entering[self.enter + 1] = value
        leaving = np.zeros(len(value) + 1, np.int64)
        np.add.at(leaving, self.leave, value)
        entered, left = np.cumsum(entering), np.cumsum(leaving)
        below: NDArray[np.int64] = entered[self.leave] - entered[self.enter]
        above: NDArray[np.int64] = entered[self.enter] - left[self.enter]
        return below + above


def without_chains(parent: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Merge every only child into its parent.

    An only child and its parent have the same relatives, so sums over relatives stay as they are
    while the trees become as deep as they branch.

    Returns
    -------
    group
        Index of the merged node that each node belongs to.
    parent
        Parents of the merged nodes, -1 for roots.
    """
    n_children = np.bincount(parent[parent >= 0], minlength=len(parent))
    only = (parent >= 0) & (n_children[parent] == 1)
    head = np.where(only, parent, np.arange(len(parent)))
    while (head != head[head]).any():
        head = head[head]
    kept, group = np.unique(head, return_inverse=True)
    above = parent[kept]
    return group, np.where(above >= 0, group[above], -1)


def _depths(parent: NDArray[np.int64]) -> NDArray[np.int64]:
    depth: NDArray[np.int64] = (parent >= 0).astype(np.int64)
    jump = parent
    while (jump >= 0).any():
        depth += np.where(jump >= 0, depth[jump], 0)
        jump = np.where(jump >= 0, jump[jump], -1)
    return depth


def _bounded(number: int) -> int:
    return max(-_LARGEST, min(number, _LARGEST))
