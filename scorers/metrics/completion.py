"""Concordance of values of which some are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_STEPS = 100


def concordance_at_worst(
    predicted: NDArray[Any], reference: NDArray[Any], low: float, high: float
) -> float | None:
    """Return the least concordance that any values in the place of missing ones could give.

    Lin's coefficient (see `concordance`) has no place for what was left out. Here each missing
    value takes whichever of `low` and `high` hurts most, so that leaving a value out is never
    better than giving one, however wrong.

    With m the reference's mean, the coefficient is a ratio of two sums over pairs,
    2 Σ x (y - m) / (Σ (x - m)² + Σ (y - m)²). Where it is positive, each term of
    Σ 2 x (y - m) - c (x - m)² is concave in x, so that its least value lies at an end. Dinkelbach's
    iteration (Management Science 13, 492-498, 1967) on c finds the least ratio.

    Parameters
    ----------
    predicted
        Numbers; what is not finite or outside of `low` to `high` counts as missing.
    reference
        Finite numbers of the same shape and unit.
    low, high
        Bounds of what is plausible; the reference lies within.

    Returns
    -------
    float or None
        In [0, 1]; higher is better. 1 for equal values, 0 where the least ratio is 0 or below.
        None without any pair.

    Raises
    ------
    ValueError
        The shapes differ, or the reference is not finite.
    """
    x = np.asarray(predicted, np.float64).ravel()
    y = np.asarray(reference, np.float64).ravel()
    if x.shape != y.shape or not np.isfinite(y).all():
        raise ValueError("expected pairs with a finite reference")
    if not y.size:
        return None
    given = (x >= low) & (x <= high)
    if given.all() and np.array_equal(x, y):
        return 1.0
    mean = float(y.mean())
    x, known = np.where(given, x, 0.0) - mean, y - mean
    ends = np.array([low, high]) - mean
    # Scaled, no square can overflow or vanish.
    scale = float(max(np.abs(ends).max(), np.abs(known).max())) or 1.0
    x, known, ends = x / scale, known / scale, ends / scale
    top = 2 * float((x * known)[given].sum())
    bottom = float((x[given] ** 2).sum() + (known**2).sum())
    gains = 2 * known[~given, None] * ends
    return max(0.0, _least_ratio(top, bottom, gains, ends**2))


def _least_ratio(
    top: float, bottom: float, gains: NDArray[np.float64], costs: NDArray[np.float64]
) -> float:
    """Return the least (top + Σ gains) / (bottom + Σ costs), one end chosen for each row."""
    ratio = 1.0
    for _ in range(_MOST_STEPS):
        chosen = np.argmin(gains - ratio * costs, axis=1)
        above = top + float(np.take_along_axis(gains, chosen[:, None], axis=1).sum())
        below = bottom + float(costs[chosen].sum())
        following = above / below if below else 0.0
        if following >= ratio or following <= 0:
            return min(following, ratio)
        ratio = following
    return ratio
