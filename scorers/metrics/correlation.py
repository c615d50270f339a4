"""Product-moment and rank correlation of paired values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def pearson(x: NDArray[Any], y: NDArray[Any]) -> float | None:
    """Return Pearson's r of finite values, shapes (n,), in [-1, 1].

    None where it is undefined: fewer than two pairs, or all values of one side equal.
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if x.size < 2 or x.min() == x.max() or y.min() == y.max():
        return None
    x_off, y_off = _centred(x), _centred(y)
    spread = float(np.sqrt((x_off**2).sum() * (y_off**2).sum()))
    if not spread:
        return None
    return float((x_off * y_off).sum()) / spread


def spearman(x: NDArray[Any], y: NDArray[Any]) -> float | None:
    """Return Pearson's r of the ranks, equal values sharing their mean rank; None as there."""
    return pearson(ranks(x), ranks(y))


def ranks(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return ranks from 1 on, shape (n,); equal values share the mean of theirs."""
    _, place, count = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    mean: NDArray[np.float64] = last - (count - 1) / 2
    return mean[place]


def _centred(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values less their mean, scaled so that no square overflows or vanishes."""
    scaled = values / (np.abs(values).max() or 1.0)
    offset: NDArray[np.float64] = scaled - scaled.mean()
    return offset / (np.abs(offset).max() or 1.0)
