"""How far raters agree on the items of a rubric, with intervals over samples."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.rubric.bootstrap import Bootstrap, Estimate, cluster_draws, estimate
from scorers.rubric.coefficients import (
    brennan_prediger,
    cohen_kappa,
    coincidences,
    krippendorff_alpha,
    observed_agreement,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Statistic = Callable[[Floats], Floats]

MISSING = -1
_NOTHING = "nothing was compared"
_ONE_ANSWER = "all answers are the same"


@dataclass(frozen=True)
class Scale:
    """The answers that are compared.

    Attributes
    ----------
    categories
        At least two; a rating is an index into them, or `MISSING`.
    ordered
        Whether they are levels in their order.
    """

    categories: tuple[str, ...]
    ordered: bool = False


@dataclass(frozen=True)
class Agreement:
    """How far raters agree.

    Attributes
    ----------
    n
        Pairs of answers that were compared.
    samples
        Clusters that they come from.
    observed
        Share of pairs with equal answers.
    kappa
        Cohen's; with several pairs of raters the mean over those for which it is defined (R. J.
        Light, Psychol. Bull. 76, 365-377, 1971).
    alpha
        Krippendorff's, over all raters.
    brennan_prediger
        Not moved by how common an answer is. Where it is far above kappa, nearly all answers are
        the same, and kappa says little.
    confusion
        Pairs by the first rater's answer (rows) and the second's (columns).
    """

    n: int
    samples: int
    observed: Estimate
    kappa: Estimate
    alpha: Estimate
    brennan_prediger: Estimate
    confusion: tuple[tuple[int, ...], ...]


def agreement(
    ratings: NDArray[Any],
    samples: NDArray[Any],
    scale: Scale,
    *,
    pairs: Sequence[tuple[int, int]] | None = None,
    how: Bootstrap | None = None,
) -> Agreement:
    """Compare ratings.

    Parameters
    ----------
    ratings
        Units (rows: one item of one sample) x raters; indices into the scale or `MISSING`.
    samples
        Of each unit, the sample it belongs to; what is drawn is samples with all their units.
    scale
        The answers.
    pairs
        Pairs of raters to compare, by column; all by default. Units which none of the pairs
        rated count nowhere.
    how
        The resampling.

    Raises
    ------
    ValueError
        There is no pair of raters.
    """
    how = how or Bootstrap()
    pairs = list(pairs or combinations(range(ratings.shape[1]), 2))
    if not pairs:
        raise ValueError(f"expected at least two raters, got {ratings.shape[1]}")
    rated = ratings != MISSING
    compared = np.any([rated[:, one] & rated[:, other] for one, other in pairs], axis=0)
    ratings = ratings[compared]
    names, cluster = np.unique(np.asarray(samples)[compared], return_inverse=True)
    count = max(len(names), 1)
    tables = _tables(ratings, cluster, count, len(scale.categories), pairs)
    matrices = _matrices(ratings, cluster, count, len(scale.categories))
    draws = cluster_draws(count, how)

    def of(statistic: Statistic, parts: Floats, undefined: str = _ONE_ANSWER) -> Estimate:
        value = float(statistic(parts.sum(0)))
        resampled = statistic(np.tensordot(draws, parts, axes=1))
        return estimate(value, resampled, count, undefined if len(names) else _NOTHING)

    pooled = tables.sum(1)
    ordered = scale.ordered
    return Agreement(
        n=int(pooled.sum()),
        samples=len(names),
        observed=of(observed_agreement, pooled, _NOTHING),
        kappa=of(lambda parts: _mean_of_defined(cohen_kappa(parts, ordered=ordered)), tables),
        alpha=of(lambda parts: krippendorff_alpha(parts, ordered=ordered), matrices),
        brennan_prediger=of(lambda parts: brennan_prediger(parts, ordered=ordered), pooled),
        confusion=tuple(tuple(int(cell) for cell in row) for row in pooled.sum(0)),
    )


def _tables(
    ratings: NDArray[Any],
    cluster: NDArray[Any],
    clusters: int,
    categories: int,
    pairs: Sequence[tuple[int, int]],
) -> Floats:
    """Return confusion tables: clusters x pairs x categories x categories."""
    tables = np.zeros((clusters, len(pairs), categories, categories))
    for at, (one, other) in enumerate(pairs):
        both = (ratings[:, one] != MISSING) & (ratings[:, other] != MISSING)
        np.add.at(tables, (cluster[both], at, ratings[both, one], ratings[both, other]), 1)
    return tables


def _matrices(
    ratings: NDArray[Any], cluster: NDArray[Any], clusters: int, categories: int
) -> Floats:
    """Return matrices of coincidences: clusters x categories x categories."""
    counts = (ratings[:, :, None] == np.arange(categories)).sum(1)
    matrices = np.zeros((clusters, categories, categories))
    np.add.at(matrices, cluster, coincidences(counts))
    return matrices


def _mean_of_defined(values: Floats) -> Floats:
    """Return means over the last axis without NaN; NaN where there is nothing else."""
    known = ~np.isnan(values)
    count = known.sum(-1)
    total = np.where(known, values, 0).sum(-1)
    blank = np.full(np.shape(count), np.nan)
    return np.asarray(np.divide(total, count, out=blank, where=count > 0), np.float64)
