"""The bootstrap over clusters: decisions on one submission are no independent observations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEVEL = 0.95
_UNDEFINED = 0.05
_SAME = 1e-12


@dataclass(frozen=True)
class Bootstrap:
    """How resampling goes: how often, and from which seed."""

    resamples: int = 2000
    seed: int = 0


@dataclass(frozen=True)
class Estimate:
    """A statistic with its 95 % interval.

    Attributes
    ----------
    value
        None where it is undefined.
    low, high
        None where no interval can be told.
    reason
        Why something is None; empty if nothing is.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""


def cluster_draws(clusters: int, how: Bootstrap) -> Floats:
    """Return how often each cluster (columns) is drawn in each resample (rows)."""
    random = np.random.default_rng(how.seed)
    even = np.full(clusters, 1 / clusters)
    return random.multinomial(clusters, even, size=how.resamples).astype(np.float64)


def estimate(value: float, resampled: Floats, clusters: int, undefined: str) -> Estimate:
    """Return a statistic with its percentile interval.

    Parameters
    ----------
    value
        NaN if it is undefined.
    resampled
        Its values in the resamples. Undefined ones are left out; if they are more than one in
        twenty, there is no interval.
    clusters
        How many there were to draw from.
    undefined
        The reason to give if the value is undefined.
    """
    if np.isnan(value):
        return Estimate(None, reason=undefined)
    if clusters < 2:
        return Estimate(float(value), reason="one sample only")
    unknown = np.isnan(resampled)
    if (lost := float(unknown.mean())) > _UNDEFINED:
        return Estimate(float(value), reason=f"undefined in {lost:.0%} of resamples")
    tail = (1 - LEVEL) / 2
    defined = resampled[~unknown]
    low, high = np.quantile(defined, [tail, 1 - tail])
    # Such an interval would look certain, and only says that the samples do not differ.
    if np.ptp(defined) < _SAME:
        return Estimate(float(value), reason="the same in all resamples")
    return Estimate(float(value), float(low), float(high))
