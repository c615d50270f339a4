"""Objects of a label movie as nodes of a graph, and which nodes of two movies are the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from scorers.metrics.overlap import TooManyLabels, overlap

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

Rule = Literal["iou", "coverage"]


class Nodes:
    """The objects of all frames of one side, ascending in (frame, label).

    Attributes
    ----------
    frame, label
        Int64, shape (n,); frames from 0, labels above 0.
    """

    def __init__(self, frame: NDArray[np.int64], label: NDArray[np.int64]) -> None:
        self.frame = frame
        self.label = label
        self._labels, rank = np.unique(label, return_inverse=True)
        self._key = frame * len(self._labels) + rank

    def __len__(self) -> int:
        return len(self.frame)

    def find(self, frame: NDArray[np.int64], label: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the index of each given node, -1 where there is none."""
        if not len(self):
            return np.full(len(frame), -1)
        rank = np.minimum(np.searchsorted(self._labels, label), len(self._labels) - 1)
        # Frames out of range are set beside it: as they stand they may overflow.
        near = np.clip(frame, -1, int(self.frame[-1]) + 1)
        key = near * len(self._labels) + rank
        place = np.minimum(np.searchsorted(self._key, key), len(self) - 1)
        there = (self._key[place] == key) & (self._labels[rank] == label) & (near == frame)
        return np.where(there, place, -1)


@dataclass(frozen=True)
class Matching:
    """Nodes of both sides and which of them are the same object.

    Attributes
    ----------
    n_frames
        Frames looked at: those of the longer side.
    reference, predicted
        Nodes of either side.
    to_predicted, to_reference
        For each node of one side the index of its match on the other, -1 for none.
    iou
        Float64, one for each reference node: overlap with its match, 0 without one.
    """

    n_frames: int
    reference: Nodes
    predicted: Nodes
    to_predicted: NDArray[np.int64]
    to_reference: NDArray[np.int64]
    iou: NDArray[np.float64]

    @property
    def n_matched(self) -> int:
        """Number of matched nodes."""
        return int(np.count_nonzero(self.to_predicted >= 0))


def match_frames(
    frames: Iterable[tuple[NDArray[Any] | None, NDArray[Any] | None]],
    threshold: float = 0.5,
    rule: Rule = "iou",
    most_nodes: int = 5_000_000,
) -> Matching:
    """Find the nodes of both sides and match them one to one within each frame.

    Pairs are taken in descending score, each node once; ties by ascending labels.

    Parameters
    ----------
    frames
        Pairs of reference and predicted label plane, shape (Y, X), any numeric type (see
        `as_labels`); None for a side that has no such frame. Read one at a time.
    threshold
        Least score of a pair, inclusive. Ignored by the rule `coverage`.
    rule
        `iou`: the score is intersection over union. `coverage`: it is the share of the reference
        object that is covered, which must be above one half, as in the Cell Tracking Challenge;
        for references that mark objects without outlining them.
    most_nodes
        Bound on the predicted nodes of all frames.

    Raises
    ------
    TooManyLabels
        The prediction has more nodes.
    ValueError
        The two planes of a frame differ in shape.
    """
    nodes: tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]] = ([], [])
    pairs: list[NDArray[np.int64]] = []
    scores: list[NDArray[np.float64]] = []
    n_frames = n_predicted = 0
    for frame, (reference, predicted) in enumerate(frames):
        n_frames = frame + 1
        present = reference if reference is not None else predicted
        if present is None:
            continue
        nothing = np.zeros(present.shape, np.uint8)
        both = overlap(
            nothing if predicted is None else as_labels(predicted),
            nothing if reference is None else as_labels(reference),
        )
        n_predicted += len(both.prediction_ids)
        if n_predicted > most_nodes:
            raise TooManyLabels(f"more than {most_nodes} objects in the first {n_frames} frames")
        iou = both.iou
        covered = both.shared / both.reference_areas[both.reference]
        close = iou >= threshold if rule == "iou" else covered > 0.5
        nodes[0].append(_of_frame(frame, both.reference_ids))
        nodes[1].append(_of_frame(frame, both.prediction_ids))
        pairs.append(
            _of_frame(
                frame,
                both.reference_ids[both.reference[close]],
                both.prediction_ids[both.prediction[close]],
            )
        )
        scores.append(np.stack([(iou if rule == "iou" else covered)[close], iou[close]]))
    return _matched(
        n_frames,
        Nodes(*_joined(nodes[0], 2)),
        Nodes(*_joined(nodes[1], 2)),
        _joined(pairs, 3),
        np.concatenate(scores, axis=1) if scores else np.zeros((2, 0)),
    )


def as_labels(plane: NDArray[Any]) -> NDArray[np.integer[Any]]:
    """Return a plane of any numeric type as labels from 0.

    Floating values are rounded to the nearest whole number (halves to even). What is negative, not
    finite or beyond 63 bits is background.
    """
    if plane.dtype.kind == "b":
        return plane.view(np.uint8)
    if plane.dtype.kind == "f":
        usable = np.abs(plane) < 2.0**63  # false for NaN
        plane = np.rint(np.where(usable, plane, 0)).astype(np.int64)
    elif plane.dtype == np.uint64:
        plane = plane.view(np.int64)
    if plane.dtype.kind == "i" and plane.size and plane.min() < 0:
        plane = np.maximum(plane, 0)
    return plane


def _of_frame(frame: int, *columns: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.stack([np.full(len(columns[0]), frame), *columns])


def _joined(parts: list[NDArray[np.int64]], rows: int) -> NDArray[np.int64]:
    return np.concatenate(parts, axis=1) if parts else np.zeros((rows, 0), np.int64)


def _matched(
    n_frames: int,
    reference: Nodes,
    predicted: Nodes,
    pairs: NDArray[np.int64],
    scores: NDArray[np.float64],
) -> Matching:
    first = reference.find(pairs[0], pairs[1])
    second = predicted.find(pairs[0], pairs[2])
    chosen = _best_first(first, second, scores[0])
    to_predicted = np.full(len(reference), -1)
    to_reference = np.full(len(predicted), -1)
    iou = np.zeros(len(reference))
    to_predicted[first[chosen]] = second[chosen]
    to_reference[second[chosen]] = first[chosen]
    iou[first[chosen]] = scores[1][chosen]
    return Matching(n_frames, reference, predicted, to_predicted, to_reference, iou)


def _best_first(
    first: NDArray[np.int64], second: NDArray[np.int64], score: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Choose pairs in descending score so that no end is used twice.

    All pairs that are the best of both their ends are chosen at once, until none is left; that
    gives the same choice as one pair after the other.
    """
    waiting = np.lexsort((second, first, -score))
    chosen: list[NDArray[np.int64]] = []
    while len(waiting):
        rank = np.arange(len(waiting))
        best = np.ones(len(waiting), bool)
        for end in (first, second):
            _, leader, group = np.unique(end[waiting], return_index=True, return_inverse=True)
            best &= leader[group] == rank
        taken = waiting[best]
        chosen.append(taken)
        free = ~np.isin(first[waiting], first[taken]) & ~np.isin(second[waiting], second[taken])
        waiting = waiting[free]
    return np.concatenate(chosen) if chosen else np.zeros(0, np.int64)
