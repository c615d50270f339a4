"""Speed kymographs: rows are bands of distance from an edge, columns are times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.metrics.concordance import concordance
from scorers.metrics.correlation import pearson

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NEAR_BANDS = 3
_FAR_FROM = 10
_LEAST_BANDS = 4


@dataclass(frozen=True)
class Likeness:
    """Two kymographs compared over their common block.

    Attributes
    ----------
    shape
        Of the common block.
    n
        Number of cells that are finite on both sides.
    pearson
        In [-1, 1], None where undefined.
    nrmse
        Root mean squared error over the reference's mean absolute speed, None without cells.
    """

    shape: tuple[int, int]
    n: int
    pearson: float | None
    nrmse: float | None


def likeness(predicted: NDArray[np.float64], reference: NDArray[np.float64]) -> Likeness:
    """Compare two kymographs, cropped to the top left block they share."""
    rows, columns = (min(pair) for pair in zip(predicted.shape, reference.shape, strict=True))
    own, known = predicted[:rows, :columns], reference[:rows, :columns]
    finite = np.isfinite(own) & np.isfinite(known)
    x, y = own[finite], known[finite]
    if not x.size:
        return Likeness((rows, columns), 0, None, None)
    level = float(np.abs(y).mean())
    with np.errstate(over="ignore"):
        error = float(np.sqrt(((x - y) ** 2).mean()))
    nrmse = error / level if level else (0.0 if error == 0 else float("inf"))
    return Likeness((rows, columns), int(x.size), pearson(x, y), nrmse)


def near_faster_fraction(kymograph: NDArray[np.float64]) -> float | None:
    """Return the share of times at which cells near the edge are faster than those far from it.

    Near are the first three bands; far is all from the eleventh band on, or the second half of at
    most ten. Times with no finite value on one of the sides are left out. None below four bands,
    or if no time is left.
    """
    bands = len(kymograph)
    if bands < _LEAST_BANDS:
        return None
    near = _column_means(kymograph[:_NEAR_BANDS])
    far = _column_means(kymograph[_FAR_FROM if bands > _FAR_FROM else bands // 2 :])
    both = np.isfinite(near) & np.isfinite(far)
    if not both.any():
        return None
    return float((near[both] > far[both]).mean())


def pattern_score(fraction: float | None) -> float:
    """Return a share of times above chance level, max(0, 2 f - 1), in [0, 1]; 0 for None."""
    return 0.0 if fraction is None else max(0.0, 2 * fraction - 1)


def whole_concordance(
    predicted: NDArray[np.float64], reference: NDArray[np.float64]
) -> float | None:
    """Return Lin's concordance over all finite cells of a reference, in [-1, 1].

    A value that is missing where the reference has one counts as the reference's value mirrored
    about its mean, so as much against the submission as a right value is in its favour. Leaving
    values out therefore costs twice their share.

    Parameters
    ----------
    predicted, reference
        In the same unit; cells of the same shape. None if the reference has no finite cell.
    """
    known = np.isfinite(reference)
    y = reference[known]
    if not y.size:
        return None
    x = predicted[known]
    return concordance(np.where(np.isfinite(x), x, 2 * y.mean() - y), y)


def _column_means(part: NDArray[Any]) -> NDArray[np.float64]:
    """Return the mean of each column without its NaN, NaN for a column of these alone."""
    known = ~np.isnan(part)
    count = known.sum(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.where(known, part, 0).sum(axis=0)
    means: NDArray[np.float64] = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return means
