"""Rank correlation in whole numbers, and mixtures that reach a wanted one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evals.simulation.quantise import quantise

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Values = NDArray[np.floating[Any]]

_FINE = 2.0**-14
_HALVINGS = 14
_MOST_SAMPLES = 20_000


def doubled_ranks(values: Values) -> NDArray[np.int64]:
    """Return twice the rank of each value, counted from 1; equal values share their mean rank.

    Twice, because means of ranks are halves of whole numbers.

    Parameters
    ----------
    values
        Shape (n,).
    """
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((2 * last - count + 1)[place.ravel()], dtype=np.int64)


def spearman(one: Values, other: Values) -> float:
    """Return Spearman's rank correlation, 0 where one side is constant.

    Sums run over whole numbers, so that the order of summation does not show; two million values
    fit.

    Parameters
    ----------
    one, other
        Shape (n,) both.
    """
    return _correlation(doubled_ranks(one), doubled_ranks(other))


def _correlation(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    centre = len(first) + 1  # twice the mean rank
    a, b = first - centre, second - centre
    both = float(np.sqrt(float(a @ a)) * np.sqrt(float(b @ b)))
    return float(a @ b) / both if both else 0.0


def mixture_with(
    mix: Callable[[float], Values], fixed: Values, wanted: float, reach: float
) -> float:
    """Find the parameter of a mixture whose rank correlation with `fixed` is the wanted one.

    The interval from -reach to reach is halved again and again, which presumes that the correlation
    grows with the parameter; where the wanted value is out of reach, the nearer end is returned.
    Larger images are judged by an evenly spaced subset of their pixels.

    Parameters
    ----------
    mix
        Gives the mixture of a parameter, shape (n,).
    fixed
        Shape (n,).
    wanted
        Spearman's rank correlation, -1 to 1.
    reach
        Largest parameter, above 0.
    """
    step = max(1, len(fixed) // _MOST_SAMPLES)
    ranks = doubled_ranks(fixed[::step])
    low, high = -reach, reach
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        found = _correlation(ranks, doubled_ranks(quantise(mix(middle)[::step], _FINE)))
        low, high = (low, middle) if found > wanted else (middle, high)
    return (low + high) / 2
