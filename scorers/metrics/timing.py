"""Time series: which points belong together, and when an event happened."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Indices = NDArray[np.int64]


def align_greedily(
    reference: NDArray[np.float64], predicted: NDArray[np.float64], tolerance: float
) -> tuple[Indices, Indices]:
    """Give each reference time, one after the other, the nearest predicted one that is free.

    This is how BIABench aligns nuclear pore kinetics: of equally near times the first is taken,
    and a point whose own partner is gone may take a neighbour's.

    Parameters
    ----------
    reference, predicted
        Finite times in ascending order, in one unit; the same time may occur several times.
    tolerance
        Largest accepted difference.

    Returns
    -------
    reference, predicted
        Positions of the pairs, int64, ascending in `reference`.
    """
    times, first, left = np.unique(predicted, return_index=True, return_counts=True)
    distinct, start, free = times.tolist(), first.tolist(), left.tolist()
    before, after = _Skipping(len(distinct) + 1), _Skipping(len(distinct) + 1)
    pairs: list[tuple[int, int]] = []
    # One step for each time of the reference, since what it may choose depends on those before.
    for index, time in enumerate(reference.tolist()):
        place = bisect_right(distinct, time)
        # Positions are counted from 1 to the left, where 0 is the end, and from 0 to the right.
        earlier, later = before.find(place) - 1, after.find(place)
        back = time - distinct[earlier] if earlier >= 0 else np.inf
        ahead = distinct[later] - time if later < len(distinct) else np.inf
        nearest = earlier if back <= ahead else later
        if min(back, ahead) > tolerance:
            continue
        free[nearest] -= 1
        pairs.append((index, start[nearest] + int(left[nearest]) - free[nearest] - 1))
        if not free[nearest]:
            before.skip(nearest + 1, nearest)
            after.skip(nearest, nearest + 1)
    matched = np.array(pairs, np.int64).reshape(-1, 2)
    return matched[:, 0], matched[:, 1]


def align_rows(
    reference: NDArray[np.float64], predicted: NDArray[np.float64], reach: float
) -> Indices:
    """Return for each reference time the position of its own predicted time, -1 if there is none.

    Parameters
    ----------
    reference, predicted
        Times in any order; those that are not finite belong to none.
    reach
        Largest accepted difference. A predicted time belongs to the reference time nearest to it
        and to no other; of several the nearest counts, then the first.
    """
    partner = np.full(len(reference), -1, np.int64)
    known, given = np.flatnonzero(np.isfinite(reference)), np.flatnonzero(np.isfinite(predicted))
    if not len(known) or not len(given):
        return partner
    order = known[np.argsort(reference[known], kind="stable")]
    times = reference[order]
    right = np.clip(np.searchsorted(times, predicted[given]), 1, max(len(times) - 1, 1))
    left = right - 1
    right = np.minimum(right, len(times) - 1)
    nearer_left = predicted[given] - times[left] <= times[right] - predicted[given]
    owner = order[np.where(nearer_left, left, right)]
    apart = np.abs(predicted[given] - reference[owner])
    near = apart <= reach
    owner, apart, given = owner[near], apart[near], given[near]
    ranked = np.lexsort((given, apart, owner))
    owners, first = np.unique(owner[ranked], return_index=True)
    partner[owners] = given[ranked][first]
    return partner


class _Skipping:
    """Positions of which some are skipped; `find` leads to the next that is not."""

    def __init__(self, count: int) -> None:
        self._next = list(range(count))

    def skip(self, position: int, onwards: int) -> None:
        self._next[position] = onwards

    def find(self, position: int) -> int:
        following = self._next
        while following[position] != position:
            following[position] = following[following[position]]
            position = following[position]
        return position
