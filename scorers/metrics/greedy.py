"""Greedy matching of points over all pairs, nearest first.

Coordinates are arrays of shape (n, d), any number of axes in any order as long as both sides share
it. Distances are Euclidean and thresholds inclusive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.metrics.points import Pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Candidate pairs that fit into a few hundred megabytes.
MOST_PAIRS = 5_000_000
# Squares of what is farther away overflow.
_FARTHEST = 1e150


class TooManyPairs(ValueError):
    """More points lie close to each other than can be compared pair by pair."""


def match_greedily(
    reference: NDArray[np.float64],
    predicted: NDArray[np.float64],
    threshold: float,
    *,
    most_pairs: int = MOST_PAIRS,
) -> Pairs:
    """Match one to one, always the nearest pair whose points are both still free.

    Pairs are taken in ascending order of (squared distance, predicted index, reference index), as
    BIABench does for cells and nuclei. Unlike `match_nearest_only`, a prediction whose nearest
    point is taken may get another one; unlike `match_optimally`, the number of pairs need not be
    the largest possible.

    The pairs that are the first of both their points are independent of each other, so all of
    them are taken at once, and again among what is left: the same result as one by one.

    Parameters
    ----------
    reference, predicted
        Float64, shapes (n, d) and (m, d). A point that is not finite, or farther
        than 1e150 from 0, matches nothing.
    threshold
        Largest accepted distance; may be infinite.
    most_pairs
        Bound on the pairs within the threshold.

    Raises
    ------
    TooManyPairs
        There are more.
    """
    rows, columns, squared = _candidates(reference, predicted, threshold, most_pairs)
    order = np.lexsort((rows, columns, squared))
    rows, columns, squared = rows[order], columns[order], squared[order]
    chosen: list[NDArray[Any]] = []
    first_row = np.zeros(len(reference), np.int64)
    first_column = np.zeros(len(predicted), np.int64)
    free_row = np.ones(len(reference), bool)
    free_column = np.ones(len(predicted), bool)
    while len(rows):
        # Of several values written to one place the last stays: here the earliest pair.
        place = np.arange(len(rows))
        first_row[rows[::-1]] = place[::-1]
        first_column[columns[::-1]] = place[::-1]
        taken = (first_row[rows] == place) & (first_column[columns] == place)
        chosen.append(np.stack([rows[taken], columns[taken], squared[taken]]))
        free_row[rows[taken]] = False
        free_column[columns[taken]] = False
        left = free_row[rows] & free_column[columns]
        rows, columns, squared = rows[left], columns[left], squared[left]
    matched, partner, apart = np.concatenate([np.zeros((3, 0)), *chosen], axis=1)
    order = np.argsort(matched)
    return Pairs(
        matched[order].astype(np.int64), partner[order].astype(np.int64), np.sqrt(apart[order])
    )


def _candidates(
    reference: NDArray[np.float64], predicted: NDArray[np.float64], threshold: float, most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return reference index, predicted index and squared distance of the pairs within reach."""
    from scipy.spatial import cKDTree

    one, other = (
        np.flatnonzero((np.abs(p) < _FARTHEST).all(axis=1)) for p in (reference, predicted)
    )
    if not len(one) or not len(other):
        nothing = np.zeros(0, np.int64)
        return nothing, nothing, np.zeros(0)
    trees = cKDTree(reference[one]), cKDTree(predicted[other])
    # The tree's own rounding must not decide about pairs at the threshold.
    reach = np.nextafter(threshold, np.inf) * (1 + 1e-12)
    count = int(trees[0].count_neighbors(trees[1], reach))
    if count > most:
        raise TooManyPairs(f"{count} pairs of points within {threshold:g} of each other")
    found = trees[0].sparse_distance_matrix(trees[1], reach, output_type="ndarray")
    rows, columns = one[found["i"]], other[found["j"]]
    with np.errstate(over="ignore"):
        squared = ((predicted[columns] - reference[rows]) ** 2).sum(axis=1)
        near = squared <= threshold * threshold
    return rows[near], columns[near], squared[near]
