"""Dose and response: monotony, agreement of replicates, control against treated."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


def replicate_cv(groups: Iterable[NDArray[Any]]) -> float | None:
    """Return the mean coefficient of variation of replicates.

    Parameters
    ----------
    groups
        One array of finite values a dose.

    Returns
    -------
    float or None
        Standard deviation (n - 1) over the absolute mean, averaged over the groups of at least
        two values whose mean is not 0; from 0 on, lower better. None if there is no such group or
        the value is not finite.
    """
    found = []
    with np.errstate(over="ignore", invalid="ignore"):
        for group in groups:
            mean = float(np.mean(group)) if len(group) > 1 else 0.0
            if mean:
                found.append(float(np.std(group, ddof=1)) / abs(mean))
    total = float(np.mean(found)) if found else math.nan
    return total if math.isfinite(total) else None


def consistency_score(cv: float, tolerance: float) -> float:
    """Return 1 for a coefficient of variation up to `tolerance` (below 1), falling to 0 at 1."""
    return min(1.0, max(0.0, (1 - cv) / (1 - tolerance)))


def welch_greater_p(treated: NDArray[Any], control: NDArray[Any]) -> float | None:
    """Return the p-value of Welch's one-sided t-test that the treated mean is the greater.

    Degrees of freedom after Welch and Satterthwaite (B. L. Welch, Biometrika 34, 28-35, 1947).

    Parameters
    ----------
    treated, control
        Finite, shapes (n,) and (m,).

    Returns
    -------
    float or None
        In [0, 1]. Where neither varies: 0 if the treated mean is greater, 1 if it is less. None
        where it is undefined: fewer than two values on a side, all values equal, or overflow.
    """
    from scipy.special import stdtr

    if len(treated) < 2 or len(control) < 2:
        return None
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        apart = np.mean(treated) - np.mean(control)
        a = np.var(treated, ddof=1) / len(treated)
        b = np.var(control, ddof=1) / len(control)
        if not a + b:
            return None if not apart else float(apart < 0)
        freedom = (a + b) ** 2 / (a**2 / (len(treated) - 1) + b**2 / (len(control) - 1))
        p = float(stdtr(freedom, -apart / np.sqrt(a + b)))
    return p if math.isfinite(p) else None
