"""Two samples of numbers: how far their distributions lie apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Beyond this many pairs the exact distribution of U, which costs their square, is not worked out.
_EXACT_PAIRS = 20_000
# More values than this are thinned before they are paired.
_MOST_PAIRED = 1000


@dataclass(frozen=True)
class Pairing:
    """Values of two samples paired one to one.

    Attributes
    ----------
    predicted, reference
        Positions in the samples, int64, shape (k,).
    distance
        Between the two values of each pair, float64, shape (k,).
    score
        See `pair_values`.
    """

    predicted: NDArray[np.int64]
    reference: NDArray[np.int64]
    distance: NDArray[np.float64]
    score: float


def pair_values(
    predicted: NDArray[np.float64], reference: NDArray[np.float64], scale: float
) -> Pairing:
    """Pair the values of two samples so that as much agrees as possible.

    A pair agrees by 1 - distance / scale; values further apart than `scale` are not paired. The
    score is the summed agreement over the size of the larger sample, which is
    (1 - W / scale) × (number of pairs / larger size), where W is the mean distance of the pairs.
    For samples of one size whose values all find a partner that is 1 - W1 / scale with the
    Wasserstein-1 distance W1 of their distributions; where some do not, it is the partial
    transport in which leaving a value over costs as much as moving it by `scale`.

    Taking values away from a sample that is not the larger one never raises the score.

    Parameters
    ----------
    predicted, reference
        Finite, shapes (n,) and (m,), in one unit. Above 1000 values, evenly spaced ones of the
        sorted samples stand for all, the same step in both.
    scale
        In that unit, above 0.

    Returns
    -------
    Pairing
        Its score is in [0, 1], higher better: 1 for equal samples and for two empty ones, 0 where
        one is empty or no value is within `scale` of another.
    """
    from scipy.optimize import linear_sum_assignment

    nothing = np.zeros(0, np.int64)
    if not predicted.size or not reference.size:
        empty = float(predicted.size == reference.size)
        return Pairing(nothing, nothing, np.zeros(0), empty)
    step = -(-max(predicted.size, reference.size) // _MOST_PAIRED)
    own = np.argsort(predicted, kind="stable")[step // 2 :: step]
    known = np.argsort(reference, kind="stable")[step // 2 :: step]
    larger = max(len(own), len(known))
    with np.errstate(over="ignore"):
        distance = np.abs(predicted[own][:, None] - reference[known])
        gain = np.maximum(0.0, 1 - distance / scale)
    rows, columns = linear_sum_assignment(gain, maximize=True)
    used = gain[rows, columns] > 0
    rows, columns = rows[used], columns[used]
    return Pairing(
        own[rows],
        known[columns],
        distance[rows, columns],
        float(gain[rows, columns].sum()) / larger,
    )


def wasserstein(x: NDArray[Any], y: NDArray[Any]) -> float | None:
    """Return the Wasserstein-1 distance of two samples: the area between their step functions.

    Parameters
    ----------
    x, y
        Finite, shapes (n,) and (m,), in one unit.

    Returns
    -------
    float or None
        In that unit, from 0 on; None where a sample is empty.
    """
    if not len(x) or not len(y):
        return None
    places = np.sort(np.concatenate([x, y]).astype(np.float64))
    apart = np.abs(_share_below(x, places[:-1]) - _share_below(y, places[:-1]))
    with np.errstate(over="ignore"):
        return float((apart * np.diff(places)).sum())


def ks_statistic(x: NDArray[Any], y: NDArray[Any]) -> float | None:
    """Return the two-sample Kolmogorov-Smirnov statistic: the largest gap of the step functions.

    Parameters
    ----------
    x, y
        Finite, shapes (n,) and (m,).

    Returns
    -------
    float or None
        In [0, 1], 0 for equal samples; None where a sample is empty.
    """
    if not len(x) or not len(y):
        return None
    places = np.concatenate([x, y])
    return float(np.abs(_share_below(x, places) - _share_below(y, places)).max())


def mann_whitney_p(x: NDArray[Any], y: NDArray[Any]) -> float | None:
    """Return the two-sided p-value of the Mann-Whitney U test.

    As SciPy's defaults have it: exact where a sample has at most 8 values and no two values are
    equal, else the normal approximation with corrections for ties and continuity. Where the exact
    distribution would take more than 20,000 pairs of values, the approximation is used as well.

    Parameters
    ----------
    x, y
        Finite, shapes (n,) and (m,).

    Returns
    -------
    float or None
        In [0, 1]; 1 where all values are equal; None where a sample is empty.
    """
    from scipy.stats import mannwhitneyu

    if not len(x) or not len(y):
        return None
    method = "auto" if len(x) * len(y) <= _EXACT_PAIRS else "asymptotic"
    p = float(mannwhitneyu(x, y, alternative="two-sided", method=method).pvalue)
    return 1.0 if np.isnan(p) else p


def _share_below(sample: NDArray[Any], places: NDArray[Any]) -> NDArray[np.float64]:
    """Return the share of a sample that is not above each place."""
    share: NDArray[np.float64] = np.searchsorted(np.sort(sample), places, side="right") / len(
        sample
    )
    return share
