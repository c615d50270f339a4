"""Coefficients of agreement between raters, from tables of counts; many tables at once.

Every function takes arrays whose last two axes are one table and returns one number a table, NaN
where the coefficient is undefined: for those corrected for chance, where only one category was
used at all; for the observed agreement, where nothing was compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def observed_agreement(tables: NDArray[Any]) -> Floats:
    """Return the share of pairs with equal answers.

    Parameters
    ----------
    tables
        Confusion tables: counts of one rater's answers (rows) by another's (columns).
    """
    agreed = np.trace(tables, axis1=-2, axis2=-1)
    return _ratio(agreed, tables.sum((-2, -1)))


def cohen_kappa(tables: NDArray[Any], *, ordered: bool) -> Floats:
    """Return Cohen's kappa, 1 - disagreement / disagreement expected from the margins.

    Parameters
    ----------
    tables
        Confusion tables, as for `observed_agreement`.
    ordered
        Whether a disagreement counts by its number of steps (linear weights; J. Cohen, Psychol.
        Bull. 70, 213-220, 1968) or always in full (Educ. Psychol. Meas. 20, 37-46, 1960).

    Returns
    -------
    ndarray
        1 for perfect agreement, 0 for that of chance, below for less. 0 too if one rater used a
        single category and the other several. NaN if both used one and the same.
    """
    weights = _steps(tables.shape[-1], ordered=ordered)
    expected = tables.sum(-1)[..., :, None] * tables.sum(-2)[..., None, :]
    found = (weights * tables).sum((-2, -1)) * tables.sum((-2, -1))
    return 1.0 - _ratio(found, (weights * expected).sum((-2, -1)))


def brennan_prediger(tables: NDArray[Any], *, ordered: bool) -> Floats:
    """Return Brennan and Prediger's coefficient: chance picks every category alike.

    It does not fall when nearly all answers are the same, as kappa does. With two categories it
    is the prevalence-adjusted, bias-adjusted kappa (Educ. Psychol. Meas. 41, 687-699, 1981).

    Parameters
    ----------
    tables
        Confusion tables, as for `observed_agreement`.
    ordered
        As for `cohen_kappa`.
    """
    weights = _steps(tables.shape[-1], ordered=ordered)
    found = _ratio((weights * tables).sum((-2, -1)), tables.sum((-2, -1)))
    return np.asarray(1 - found / weights.mean(), np.float64)


def coincidences(counts: NDArray[Any]) -> Floats:
    """Return each unit's part of the matrix of coincidences.

    Parameters
    ----------
    counts
        Of each unit (rows), how many raters gave each category (columns). Missing answers are
        simply not counted; a unit with fewer than two contributes nothing.

    Returns
    -------
    ndarray
        Units x categories x categories. The sum over units is Krippendorff's matrix.
    """
    own = counts[:, :, None] * np.eye(counts.shape[1])
    pairs = counts[:, :, None] * counts[:, None, :] - own
    others = np.maximum(counts.sum(1) - 1, 1)
    return np.asarray(pairs / others[:, None, None], np.float64)


def krippendorff_alpha(matrices: Floats, *, ordered: bool) -> Floats:
    """Return Krippendorff's alpha, nominal or ordinal, for any number of raters.

    K. Krippendorff, Computing Krippendorff's alpha-reliability, 2011.

    Parameters
    ----------
    matrices
        Sums of `coincidences`.
    ordered
        Whether the categories stand in their order (ordinal distance) or in none (nominal).

    Returns
    -------
    ndarray
        1 for perfect agreement, 0 for that of chance. NaN if all answers are the same.
    """
    used = matrices.sum(-1)
    distances = _ordinal(used) if ordered else _steps(used.shape[-1], ordered=False)
    expected = (used[..., :, None] * used[..., None, :] * distances).sum((-2, -1))
    found = (matrices * distances).sum((-2, -1)) * (used.sum(-1) - 1)
    return 1 - _ratio(found, expected)


def _ordinal(used: Floats) -> Floats:
    """Return squared numbers of answers from the middle of one category to that of another."""
    middles = np.cumsum(used, -1) - used / 2
    return np.asarray((middles[..., :, None] - middles[..., None, :]) ** 2, np.float64)


def _steps(categories: int, *, ordered: bool) -> Floats:
    apart = np.abs(np.subtract.outer(np.arange(categories), np.arange(categories)))
    return np.asarray(apart if ordered else apart > 0, np.float64)


def _ratio(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    blank = np.full(np.shape(whole), np.nan)
    return np.asarray(np.divide(part, whole, out=blank, where=whole != 0), np.float64)
