"""Means and slopes with their intervals, by Student's t over seeds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean over `n` seeds and its 95 % interval, None where a single seed gives none."""

    n: int
    mean: float
    low: float | None
    high: float | None


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean of at least one value and its interval."""
    from scipy import stats

    n, mean = len(values), float(np.mean(values))
    if n < 2:
        return Estimate(n, mean, None, None)
    half = float(stats.t.ppf((1 + LEVEL) / 2, n - 1)) * float(np.std(values, ddof=1)) / math.sqrt(n)
    return Estimate(n, mean, mean - half, mean + half)


def slope(ladders: Sequence[Mapping[float, float]]) -> Estimate | None:
    """Return the change of a score from difficulty 0 to 1, with the seed as block.

    Parameters
    ----------
    ladders
        Of each seed, the score by difficulty. A line is fitted to each by least squares, and the
        interval is that of the mean of their slopes. Seeds with one difficulty only do not count.
    """
    fitted = [
        float(np.polyfit(list(ladder), list(ladder.values()), 1)[0])
        for ladder in ladders
        if len(ladder) > 1
    ]
    return estimate(fitted) if fitted else None
