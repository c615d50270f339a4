"""Object-level agreement of two label images, from their joint histogram."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.metrics.overlap import Overlap


@dataclass(frozen=True)
class Matching:
    """Which predicted object is which reference object at a threshold on IoU.

    Attributes
    ----------
    prediction, reference
        Positions in the ids of the overlap, int64, shape (m,).
    iou
        Of each matched pair, shape (m,).
    n_prediction, n_reference
        Objects on either side.
    """

    prediction: NDArray[np.int64]
    reference: NDArray[np.int64]
    iou: NDArray[np.float64]
    n_prediction: int
    n_reference: int

    @property
    def hits(self) -> int:
        """True positives."""
        return len(self.iou)

    @property
    def misses(self) -> int:
        """Reference objects without a match."""
        return self.n_reference - self.hits

    @property
    def false_hits(self) -> int:
        """Predicted objects without a match."""
        return self.n_prediction - self.hits


def match(table: Overlap, threshold: float = 0.5) -> Matching:
    """Match objects one to one where IoU is at least `threshold`.

    For a threshold of 0.5 or more this is the optimal assignment, found without one. Objects of
    one image do not overlap, so an object has two partners at IoU >= 0.5 only if each is exactly
    one of its halves: then both have IoU 0.5, neither has another partner, and which of them is
    taken changes nothing that is counted. The one with the lower label is taken.

    Raises
    ------
    ValueError
        The threshold is below 0.5, where this does not hold.
    """
    if threshold < 0.5:
        raise ValueError(f"threshold must be at least 0.5, got {threshold}")
    iou = table.iou
    kept = np.flatnonzero(iou >= threshold)
    for side in (table.prediction, table.reference):
        kept = kept[np.sort(np.unique(side[kept], return_index=True)[1])]
    return Matching(
        prediction=table.prediction[kept],
        reference=table.reference[kept],
        iou=iou[kept],
        n_prediction=len(table.prediction_ids),
        n_reference=len(table.reference_ids),
    )


def dice(table: Overlap) -> float:
    """Return 2|P∩G| / (|P| + |G|) of the foregrounds, in [0, 1]; 0 if both are empty."""
    total = table.prediction_pixels + table.reference_pixels
    return 2 * table.both_pixels / total if total else 0.0


def foreground_iou(table: Overlap) -> float:
    """Return |P∩G| / |P∪G| of the foregrounds, in [0, 1]; 0 if both are empty."""
    union = table.prediction_pixels + table.reference_pixels - table.both_pixels
    return table.both_pixels / union if union else 0.0


def average_precision(matching: Matching) -> float:
    """Return TP / (TP + FP + FN), in [0, 1]; 1 if neither side has an object.

    The name is that of the 2018 Data Science Bowl; it is one point, not an area under a curve.
    """
    total = matching.hits + matching.misses + matching.false_hits
    return matching.hits / total if total else 1.0


def panoptic_quality(matching: Matching, *, empty: float) -> float:
    """Return sum of matched IoU / (TP + FP/2 + FN/2), in [0, 1] (Kirillov et al. 2019).

    Parameters
    ----------
    matching
        At a threshold of IoU 0.5, where it is defined.
    empty
        The value where neither side has an object: 0 as BIABench publishes it; 1 for the strict
        value, since finding nothing is then right.
    """
    total = matching.hits + (matching.misses + matching.false_hits) / 2
    return float(matching.iou.sum()) / total if total else empty


def adapted_rand(table: Overlap) -> float:
    """Return the adapted Rand F score in [0, 1], 1 minus the adapted Rand error of SNEMI3D.

    The harmonic mean of precision and recall of the statement "these two pixels are in one
    object", over the pixels that are an object in the reference; there, the prediction's
    background is one more label, as in `skimage.metrics.adapted_rand_error`. 1 if neither side
    has an object, 0 if only one has.
    """
    if not len(table.reference_ids) or not len(table.prediction_ids):
        return float(len(table.reference_ids) == len(table.prediction_ids))
    shared = table.shared.astype(float)
    areas = table.reference_areas.astype(float)
    by_prediction = np.bincount(table.prediction, shared, len(table.prediction_ids))
    uncovered = areas - np.bincount(table.reference, shared, len(areas))
    total = areas.sum()
    together = (shared**2).sum() + (uncovered**2).sum() - total
    in_prediction = (by_prediction**2).sum() + uncovered.sum() ** 2 - total
    in_reference = (areas**2).sum() - total
    pairs = in_prediction + in_reference
    return float(2 * together / pairs) if pairs else 1.0
