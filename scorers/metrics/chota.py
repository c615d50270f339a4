"""CHOTA: how well objects are followed through time and across divisions.

Kaiser, Ulman, Rosenhahn 2024, "CHOTA: A Higher Order Accuracy Metric for Cell Tracking"
(doi:10.48550/arXiv.2408.11571), after HOTA (Luiten et al. 2021): one number in which detection and
association weigh alike. Two objects belong together if they lie in one track or one descends from
the other, so a wrong or missing mother spoils a whole branch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.metrics.lineage import Forest, without_chains

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.metrics.lineage import Lineage
    from scorers.metrics.nodes import Matching, Nodes

# Rows of the expansion below that are held at once.
_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class Chota:
    """The measure and its two parts, all in [0, 1], higher better.

    Attributes
    ----------
    score
        sqrt(detection * association).
    detection
        Matched nodes over the union of the nodes of both sides.
    association
        Mean over matched nodes of the Jaccard index between the relatives of the one and of the
        other; 0 without matches.
    n
        Nodes of the union.
    """

    score: float
    detection: float
    association: float
    n: int


def chota(matching: Matching, reference: Lineage, predicted: Lineage) -> Chota:
    """Compute CHOTA from matched nodes and the two lineages.

    An object whose label is not listed, or that lies outside its track's span, is a track of its
    own without relatives, and a mother counts only if she ends before the daughter starts: what a
    lineage does not back up earns nothing. Where masks and lineage agree the value is that of the
    reference implementation, given the same matches. Two sides without any node score 1.
    """
    sides = (matching.reference, matching.predicted)
    n_matched = matching.n_matched
    n = len(sides[0]) + len(sides[1]) - n_matched
    if not n:
        return Chota(1.0, 1.0, 1.0, 0)
    if not n_matched:
        return Chota(0.0, 0.0, 0.0, n)
    track, forest, total = _relations(sides[0], reference)
    other_track, other_forest, other_total = _relations(sides[1], predicted)
    hit = np.flatnonzero(matching.to_predicted >= 0)
    pair, count = np.unique(
        np.stack([track[hit], other_track[matching.to_predicted[hit]]]), axis=1, return_counts=True
    )
    common = _common(pair, count, forest, other_forest)
    jaccard = common / (total[pair[0]] + other_total[pair[1]] - common)
    gained = float((jaccard * count).sum())
    return Chota(float(np.sqrt(gained / n)), n_matched / n, gained / n_matched, n)


def _relations(
    nodes: Nodes, lineage: Lineage
) -> tuple[NDArray[np.int64], Forest, NDArray[np.int64]]:
    """Return each node's track, the forest of tracks, and the number of nodes among relatives."""
    row = lineage.rows(nodes.label)
    backed = row >= 0
    if len(lineage):
        backed &= (lineage.start[row] <= nodes.frame) & (nodes.frame <= lineage.end[row])
    # Tracks that lie wholly outside the movie cannot matter; without them the trees' depth is
    # bounded by the number of frames.
    last = int(nodes.frame[-1]) if len(nodes) else -1
    mother = lineage.parent_rows()
    mother[(lineage.start > last) | (lineage.end < 0)] = -1
    group, parent = without_chains(mother)
    n_stray = int(np.count_nonzero(~backed))
    track = np.empty(len(nodes), np.int64)
    track[backed] = group[row[backed]]
    track[~backed] = len(parent) + np.arange(n_stray)
    forest = Forest(np.concatenate([parent, np.full(n_stray, -1)]))
    size = np.bincount(track, minlength=len(forest.parent))
    return track, forest, forest.sums_over_relatives(size)


def _common(
    pair: NDArray[np.int64], count: NDArray[np.int64], forest: Forest, other: Forest
) -> NDArray[np.int64]:
    """Count the matches between the relatives of each pair's two tracks.

    Parameters
    ----------
    pair
        Reference and predicted track, shape (2, k), sorted.
    count
        Their number of matches, shape (k,).
    forest, other
        Trees of the reference and of the predicted tracks.

    Notes
    -----
    For each reference track the matches of all its relatives are written out and placed in the
    depth-first order of the predicted trees, where the relatives of a predicted track are
    differences of running sums. The reference's families are enumerated, the prediction's never:
    a submission cannot make this expensive.
    """
    track, relative = forest.relatives()
    wanted = np.isin(track, pair[0])
    track, relative = track[wanted], relative[wanted]
    order = np.argsort(track, kind="stable")
    track, relative = track[order], relative[order]
    first = np.searchsorted(pair[0], relative)
    length = np.searchsorted(pair[0], relative, side="right") - first
    result = np.zeros(len(count), np.int64)
    for low, high in _portions(track, length):
        steps = length[low:high]
        ends = np.cumsum(steps)
        row = np.arange(ends[-1]) - np.repeat(ends - steps - first[low:high], steps)
        family = np.repeat(track[low:high], steps)
        asked = slice(
            np.searchsorted(pair[0], track[low]),
            np.searchsorted(pair[0], track[high - 1], side="right"),
        )
        result[asked] = _sums(family, pair[1, row], count[row], pair[:, asked], other)
    return result


def _portions(track: NDArray[np.int64], length: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Cut sorted rows into portions that hold whole tracks and, if they can, `_AT_ONCE` entries."""
    starts = np.flatnonzero(np.concatenate([[True], track[1:] != track[:-1]]))
    before = np.concatenate([[0], np.cumsum(length)])[starts]
    cuts = starts[np.unique(before // _AT_ONCE, return_index=True)[1]]
    return list(zip(cuts.tolist(), [*cuts[1:].tolist(), len(track)], strict=True))


def _sums(
    family: NDArray[np.int64],
    track: NDArray[np.int64],
    count: NDArray[np.int64],
    asked: NDArray[np.int64],
    forest: Forest,
) -> NDArray[np.int64]:
    """Sum `count` over the rows of a family whose track is a relative of the asked track."""
    width = len(forest.parent) + 1
    base, place = asked[0] * width, forest.enter[asked[1]]
    entering = _RunningSum(family * width + forest.enter[track], count)
    leaving = _RunningSum(family * width + forest.leave[track], count)
    below = entering.before(base + forest.leave[asked[1]]) - entering.before(base + place)
    opened = entering.before(base + place) - entering.before(base)
    closed = leaving.before(base + place + 1) - leaving.before(base)
    total: NDArray[np.int64] = below + opened - closed
    return total


class _RunningSum:
    def __init__(self, key: NDArray[np.int64], value: NDArray[np.int64]) -> None:
        order = np.argsort(key)
        self._key = key[order]
        self._sum: NDArray[np.int64] = np.concatenate([[0], np.cumsum(value[order])])

    def before(self, key: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sum of the values whose key is less than the given one."""
        return self._sum[np.searchsorted(self._key, key)]
