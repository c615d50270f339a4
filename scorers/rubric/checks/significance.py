"""P-values of two groups by the usual tests, and corrections for several comparisons."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEAST_VALUES = 3
# Of rows beyond which an exact test is not tried, and of values that are tested at all.
_MOST_EXACT, _MOST_VALUES = 40, 50_000
_RELATIVE, _ROUNDED = 0.02, (3, 4)


def p_values(one: Floats, other: Floats, everything: Mapping[str, Floats]) -> dict[str, float]:
    """Return two-sided p-values of two groups, by the name of the test.

    Parameters
    ----------
    one, other
        Finite values of the groups, at least `LEAST_VALUES` each.
    everything
        The values of all groups, for tests that rank all of them.
    """
    from scipy import stats

    tests: dict[str, Callable[[], float]] = {
        "Mann-Whitney": lambda: stats.mannwhitneyu(one, other, method="asymptotic").pvalue,
        "Mann-Whitney without continuity": lambda: (
            stats.mannwhitneyu(one, other, method="asymptotic", use_continuity=False).pvalue
        ),
        "Welch's t": lambda: stats.ttest_ind(one, other, equal_var=False).pvalue,
        "Student's t": lambda: stats.ttest_ind(one, other).pvalue,
        "Kolmogorov-Smirnov": lambda: stats.ks_2samp(one, other).pvalue,
        "Kruskal-Wallis": lambda: stats.kruskal(one, other).pvalue,
        "Brunner-Munzel": lambda: stats.brunnermunzel(one, other).pvalue,
        "Dunn's": lambda: _dunn(one, other, everything),
    }
    if min(len(one), len(other)) <= _MOST_EXACT:
        tests["exact Mann-Whitney"] = lambda: stats.mannwhitneyu(one, other, method="exact").pvalue
    if len(one) == len(other):
        tests["Wilcoxon signed-rank"] = lambda: stats.wilcoxon(one, other).pvalue
        tests["paired t"] = lambda: stats.ttest_rel(one, other).pvalue
    if max(len(one), len(other)) > _MOST_VALUES:
        return {}
    found: dict[str, float] = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name, test in tests.items():
            try:
                p = float(test())
            except (ValueError, ZeroDivisionError):
                # Of values that are all equal no test says anything.
                continue
            if math.isfinite(p):
                found[name] = p
    return found


def effects(one: Floats, other: Floats) -> dict[str, float]:
    """Return sizes of the difference of two groups, without sign, by their names."""
    spread = np.sqrt(
        ((len(one) - 1) * one.var(ddof=1) + (len(other) - 1) * other.var(ddof=1))
        / (len(one) + len(other) - 2)
    )
    means, medians = one.mean() - other.mean(), np.median(one) - np.median(other)
    ranked = np.sort(other)
    below, upto = (np.searchsorted(ranked, one, side).mean() for side in ("left", "right"))
    dominance = (below + upto) / len(other) - 1
    with np.errstate(all="ignore"):
        found = {
            "difference of means": means,
            "difference of medians": medians,
            "Cohen's d": means / spread,
            "Hedges' g": means / spread * (1 - 3 / (4 * (len(one) + len(other)) - 9)),
            "Cliff's delta": dominance,
            "probability of superiority": (dominance + 1) / 2,
            "ratio of means": one.mean() / other.mean(),
            "inverse ratio of means": other.mean() / one.mean(),
        }
    return {name: abs(float(value)) for name, value in found.items() if np.isfinite(value)}


def agrees(told: float, computed: float) -> bool:
    """Return whether two p-values are equal but for rounding to two digits or a few places.

    >>> agrees(0.0, 3e-5), agrees(1.2e-6, 3.6e-6), agrees(0.0313, 0.03127)
    (True, False, True)
    """
    allowed = _RELATIVE * max(told, computed)
    for places in _ROUNDED:
        if told == round(told, places):
            allowed = max(allowed, 0.6 * 10.0**-places)
            break
    return abs(told - computed) <= allowed


def corrected(p: Floats) -> dict[str, Floats]:
    """Return p-values corrected for several comparisons, by the name of the method."""
    n = len(p)
    order = np.argsort(p, kind="stable")
    rank = np.arange(1, n + 1)
    ascending = p[order]

    def back(values: Floats) -> Floats:
        result = np.empty(n)
        result[order] = np.minimum(values, 1)
        return result

    harmonic = float((1 / rank).sum())
    from_above = np.minimum.accumulate((ascending * n / rank)[::-1])[::-1]
    hochberg = np.minimum.accumulate((ascending * (n - rank + 1))[::-1])[::-1]
    return {
        "Holm": back(np.maximum.accumulate(ascending * (n - rank + 1))),
        "Benjamini-Hochberg": back(from_above),
        "Bonferroni": np.minimum(p * n, 1),
        "Benjamini-Yekutieli": back(from_above * harmonic),
        "Hochberg": back(hochberg),
        "Šidák": -np.expm1(n * np.log1p(-np.minimum(p, 1 - 1e-16))),
        "Holm-Šidák": back(
            np.maximum.accumulate(
                -np.expm1((n - rank + 1) * np.log1p(-np.minimum(ascending, 1 - 1e-16)))
            )
        ),
    }


def _dunn(one: Floats, other: Floats, everything: Mapping[str, Floats]) -> float:
    """Return Dunn's p-value (Technometrics 6, 241-252, 1964), corrected for ties."""
    from scipy import stats

    pooled = np.sort(np.concatenate(list(everything.values())))

    def mean_rank(group: Floats) -> float:
        first, last = (np.searchsorted(pooled, group, side) for side in ("left", "right"))
        return float(np.mean((first + last + 1) / 2))

    n = len(pooled)
    ties = np.unique(pooled, return_counts=True)[1].astype(float)
    spread = n * (n + 1) / 12 - (ties**3 - ties).sum() / (12 * (n - 1))
    error = math.sqrt(spread * (1 / len(one) + 1 / len(other)))
    z = (mean_rank(one) - mean_rank(other)) / error
    return float(2 * stats.norm.sf(abs(z)))
