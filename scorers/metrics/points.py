"""Matching of detected points with reference points.

Coordinates are arrays of shape (n, d), of two axes or three and usually in pixels, in any order of
axes as long as both sides share it. Distances are Euclidean and thresholds inclusive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Pairs:
    """One-to-one pairs of points.

    Attributes
    ----------
    reference, predicted
        Row indices into the two sets, int64, shape (k,), ascending in `reference`.
    distance
        Float64, shape (k,), in the unit of the coordinates.
    """

    reference: NDArray[np.int64]
    predicted: NDArray[np.int64]
    distance: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.reference)


def match_nearest_only(
    reference: NDArray[np.float64], predicted: NDArray[np.float64], threshold: float
) -> Pairs:
    """Match as BIABench does for its diagnostics: each prediction may take its nearest point only.

    In ascending distance (ties: order of the predictions), a prediction gets its nearest reference
    point if that is within `threshold` and still free. One whose nearest point is taken stays
    unmatched even where another reference point is near, so the result may be smaller than a
    maximum matching.

    Parameters
    ----------
    reference, predicted
        Float64, shapes (n, 2) and (m, 2); either may be empty.
    threshold
        Largest accepted distance.

    Raises
    ------
    ValueError
        If both sides hold points and a coordinate is not finite, as the published matching does.
    """
    if not len(reference) or not len(predicted):
        return _pairs([], [], [])
    if not (np.isfinite(reference).all() and np.isfinite(predicted).all()):
        raise ValueError("coordinates must be finite numbers")
    from scipy.spatial import cKDTree

    distance, nearest = cKDTree(reference).query(predicted)
    order = np.argsort(distance, kind="stable")
    order = order[distance[order] <= threshold]
    taken, first = np.unique(nearest[order], return_index=True)
    chosen = order[first]
    return _pairs(taken, chosen, distance[chosen])


def match_optimally(
    reference: NDArray[np.float64], predicted: NDArray[np.float64], radius: float
) -> Pairs:
    """Match one to one: as many pairs within `radius` as possible, then the least total distance.

    The candidate pairs make a sparse bipartite graph. A reference point needs no more candidates
    than there are reference points it may have to compete with (those linked by steps of twice
    the radius), so the graph stays small however many predictions pile up in one place. It is
    solved by SciPy's sparse form of the Jonker-Volgenant algorithm, whose augmenting paths never
    leave a connected component; each reference point may also stay alone, at a price above any
    gain in distance.

    Parameters
    ----------
    reference
        Float64, shape (n, d), finite.
    predicted
        Float64, shape (m, d). A point without finite coordinates matches nothing.
    radius
        Largest accepted distance, at least 0.
    """
    usable = np.flatnonzero(np.isfinite(predicted).all(axis=1))
    if not len(reference) or not len(usable):
        return _pairs([], [], [])
    rows, columns, distance = _candidates(reference, predicted[usable], radius)
    if not len(rows):
        return _pairs([], [], [])
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    competing, row = np.unique(rows, return_inverse=True)
    wanted, column = np.unique(columns, return_inverse=True)
    count = len(competing)
    alone = np.arange(count)
    # Explicit zeros would be dropped, hence the 1; losing one pair costs more than all distances.
    price = 1.0 + (count + 1) * (radius + 1.0)
    graph = csr_array(
        (
            np.concatenate([distance + 1.0, np.full(count, price)]),
            (np.concatenate([row, alone]), np.concatenate([column, len(wanted) + alone])),
        ),
        shape=(count, len(wanted) + count),
    )
    solved_row, solved_column = min_weight_full_bipartite_matching(graph)
    real = solved_column < len(wanted)
    matched = competing[solved_row[real]]
    chosen = usable[wanted[solved_column[real]]]
    offset = reference[matched] - predicted[chosen]
    return _pairs(matched, chosen, np.linalg.norm(offset, axis=1))


def f1_score(true_positive: int, reference: int, predicted: int) -> float:
    """Return 2 TP / (n_reference + n_predicted), in [0, 1], higher better; 1 if both are empty."""
    return 2 * true_positive / (reference + predicted) if reference + predicted else 1.0


def strict_radius(reference: NDArray[np.float64], largest: float) -> float:
    """Return min(largest, half the median distance between neighbours), in pixels.

    Where points lie closer together than the radius, a match says little: with 2,000 points in
    1024 x 1024 pixels and a radius of 10 pixels, places drawn at random already reach F1 = .38.
    Coinciding reference points count as one for the neighbour distance. With fewer than two
    distinct points the result is `largest`.
    """
    places = np.unique(reference, axis=0)
    if len(places) < 2:
        return float(largest)
    from scipy.spatial import cKDTree

    distance, _ = cKDTree(places).query(places, k=2)
    return float(min(largest, np.median(distance[:, 1]) / 2))


def chance_f1(
    reference: NDArray[np.float64],
    radius: float,
    field: tuple[float, float, float, float],
    *,
    draws: int = 5,
    seed: int = 612_480_977,
) -> float:
    """Return the F1 that as many points at random places would reach under `match_optimally`.

    Parameters
    ----------
    reference
        Float64, shape (n, 2), n > 0.
    radius
        Largest accepted distance.
    field
        (low_0, low_1, high_0, high_1): the rectangle in which places are drawn uniformly.
    draws
        Number of independent draws that are averaged.
    seed
        Of the random stream. The default is one that no simulator is likely to be given: points
        simulated from the same stream would be met again by chance.

    Returns
    -------
    float
        In [0, 1]: what a score has to be compared with. The same for the same arguments.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    low, high = np.array(field[:2]), np.array(field[2:])
    scores = [
        f1_score(
            len(match_optimally(reference, rng.uniform(low, high, reference.shape), radius)),
            len(reference),
            len(reference),
        )
        for _ in range(draws)
    ]
    return float(np.mean(scores))


def _candidates(
    reference: NDArray[np.float64], predicted: NDArray[np.float64], radius: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return reference index, predicted index and distance of all pairs that may be of use."""
    from scipy.spatial import cKDTree

    reach = np.nextafter(radius, np.inf)  # the search itself excludes its bound
    rivals = _largest_group(reference, 2 * reach)
    nearest = min(rivals, len(predicted))
    distance, index = cKDTree(predicted).query(
        reference, k=np.arange(1, nearest + 1), distance_upper_bound=reach
    )
    rows, slots = np.nonzero(index < len(predicted))
    return rows, index[rows, slots], distance[rows, slots]


def _largest_group(points: NDArray[np.float64], step: float) -> int:
    """Return the size of the largest set of points linked by steps of at most `step`."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    pairs = cKDTree(points).query_pairs(step, output_type="ndarray")
    links = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(points),) * 2)
    _, group = connected_components(links, directed=False)
    return int(np.bincount(group).max())


def _pairs(reference: object, predicted: object, distance: object) -> Pairs:
    matched = np.asarray(reference, dtype=np.int64)
    order = np.argsort(matched)
    return Pairs(
        matched[order],
        np.asarray(predicted, dtype=np.int64)[order],
        np.asarray(distance, dtype=np.float64)[order],
    )
