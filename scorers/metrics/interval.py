"""The bootstrap interval that BIABench reports beside a mean."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_RESAMPLES = 1000
_LOW, _HIGH = 25, 974
_SEED = 42


def bootstrap_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % percentile bootstrap interval of the mean.

    Parameters
    ----------
    values
        In the order of the published evaluator, since the draws depend on it. What is not finite
        is dropped first.

    Returns
    -------
    low, high
        The 26th and the 975th of 1000 sorted means, drawn from Python's generator with seed 42.
        One value gives itself twice; none gives zeros.
    """
    kept = [value for value in values if math.isfinite(value)]
    if len(kept) < 2:
        return (kept[0], kept[0]) if kept else (0.0, 0.0)
    draw = random.Random(_SEED)
    count = len(kept)
    means = sorted(
        sum(kept[draw.randrange(count)] for _ in range(count)) / count for _ in range(_RESAMPLES)
    )
    return means[_LOW], means[_HIGH]
