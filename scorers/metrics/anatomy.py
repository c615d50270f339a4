"""What became of each object: hit, miss, false hit, split or merge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.metrics.instances import Matching
    from scorers.metrics.overlap import Overlap

HIT, MISS, FALSE_HIT, SPLIT, MERGE = "hit", "miss", "false hit", "split", "merge"
# A part smaller than this share of the object it lies in is a speck, not a half of a split.
SMALLEST_PART = 0.1


@dataclass(frozen=True)
class Side:
    """The objects of one side, in the order of their ids in the overlap.

    Attributes
    ----------
    kind
        `hit` for a matched object. Of the others, reference objects are `split` (at least two
        predictions lie mostly inside and each fills a tenth of it or more), `merge` (it lies
        mostly inside a prediction that holds another reference too) or `miss`; predictions are
        `split` (one of the parts of a split reference), `merge` or `false hit`.
    partner
        Position on the other side of the object it is matched with, else mostly lies in, else
        shares most with; -1 if it touches none.
    iou
        With that partner, in [0, 1].
    """

    kind: NDArray[np.str_]
    partner: NDArray[np.int64]
    iou: NDArray[np.float64]


@dataclass(frozen=True)
class Anatomy:
    """Both sides, and how many references are split and predictions merge.

    A split or merged object can be a hit as well (one part is most of it), so `n_splits` and
    `n_merges` count events, not objects of that kind.
    """

    reference: Side
    prediction: Side
    n_splits: int
    n_merges: int


def anatomy(table: Overlap, matching: Matching) -> Anatomy:
    """Name what became of each object of both sides."""
    n_p, n_g = len(table.prediction_ids), len(table.reference_ids)
    home_of_p, parts = _homes(
        table.prediction, table.reference, table, table.prediction_areas, table.reference_areas
    )
    home_of_g, members = _homes(
        table.reference, table.prediction, table, table.reference_areas, table.prediction_areas
    )
    kind_g = np.full(n_g, MISS, dtype="<U9")
    kind_p = np.full(n_p, FALSE_HIT, dtype="<U9")
    is_split, is_merge = parts >= 2, members >= 2
    kind_g[(home_of_g >= 0) & _at(is_merge, home_of_g)] = MERGE
    kind_g[is_split] = SPLIT
    kind_p[is_merge] = MERGE
    kind_p[(home_of_p >= 0) & _at(is_split, home_of_p)] = SPLIT
    kind_g[matching.reference] = HIT
    kind_p[matching.prediction] = HIT

    closest_g = _closest(table.reference, table.prediction, table.shared, n_g)
    closest_p = _closest(table.prediction, table.reference, table.shared, n_p)
    partner_g = np.where(home_of_g >= 0, home_of_g, closest_g)
    partner_p = np.where(home_of_p >= 0, home_of_p, closest_p)
    partner_g[matching.reference] = matching.prediction
    partner_p[matching.prediction] = matching.reference
    return Anatomy(
        reference=Side(kind_g, partner_g, _iou_with(table, table.reference, partner_g)),
        prediction=Side(kind_p, partner_p, _iou_with(table, table.prediction, partner_p)),
        n_splits=int(is_split.sum()),
        n_merges=int(is_merge.sum()),
    )


def _homes(
    inner: NDArray[np.int64],
    outer: NDArray[np.int64],
    table: Overlap,
    inner_areas: NDArray[np.int64],
    outer_areas: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return in which outer object each inner one mostly lies, and how many each outer holds."""
    mostly = 2 * table.shared > inner_areas[inner]
    large = mostly & (table.shared >= SMALLEST_PART * outer_areas[outer])
    home = np.full(len(inner_areas), -1)
    home[inner[large]] = outer[large]
    return home, np.bincount(outer[large], minlength=len(outer_areas))


def _at(flags: NDArray[np.bool_], positions: NDArray[np.int64]) -> NDArray[np.bool_]:
    if not len(flags):
        return np.zeros(len(positions), bool)
    taken: NDArray[np.bool_] = flags[positions]
    return taken


def _closest(
    own: NDArray[np.int64], other: NDArray[np.int64], shared: NDArray[np.int64], count: int
) -> NDArray[np.int64]:
    closest = np.full(count, -1)
    order = np.argsort(shared, kind="stable")
    # Of several values written to one place the last stays: the largest share.
    closest[own[order]] = other[order]
    return closest


def _iou_with(
    table: Overlap, own: NDArray[np.int64], partner: NDArray[np.int64]
) -> NDArray[np.float64]:
    other = table.reference if own is table.prediction else table.prediction
    wanted = partner[own] == other
    iou = np.zeros(len(partner))
    iou[own[wanted]] = table.iou[wanted]
    return iou
