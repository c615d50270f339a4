"""How well single molecules were localised: found or not, and how precisely, as one number.

The efficiency of the 2016 localisation microscopy challenge (Sage et al. 2019, Nature Methods 16,
387-395) is E = 100 - sqrt((100 - JAC)² + α² RMSE²), with the Jaccard index in per cent, the
lateral root-mean-square distance of the matched pairs in nm, and α = 1 / nm: one per cent of
Jaccard weighs as much as one nanometre. As a fraction of 1 that is α = 1 / (100 nm).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LATERAL = 0.01


def jaccard(hits: int, misses: int, false_hits: int) -> float:
    """Return TP / (TP + FP + FN), in [0, 1], higher better; 1 where there is nothing at all."""
    total = hits + misses + false_hits
    return hits / total if total else 1.0


def efficiency(jaccard_index: float, rmse_nm: float, alpha: float = LATERAL) -> float:
    """Return 1 - sqrt((1 - J)² + (α RMSE)²), but at least 0; in [0, 1], higher better.

    Parameters
    ----------
    jaccard_index
        In [0, 1].
    rmse_nm
        Root of the mean squared lateral distance of matched pairs, in nm; 0 without pairs.
    alpha
        In 1 / nm: 0.01 for lateral, 0.005 for axial distances.
    """
    return max(0.0, 1.0 - float(np.hypot(1.0 - jaccard_index, alpha * rmse_nm)))


def root_mean_square(distance: NDArray[np.float64]) -> float:
    """Return the root of the mean squared distance, in its unit; 0 without any."""
    return float(np.sqrt((distance**2).mean())) if len(distance) else 0.0


def best_efficiency(
    distance_nm: NDArray[np.float64], misses: int, false_hits: int, alpha: float = LATERAL
) -> float:
    """Return the largest efficiency that leaving out any of the hits could reach.

    E itself can be raised by hiding one's worst localisations: of two, one exact and one 100 nm
    off, the exact one alone has E = .5, both together .29. Here a hit may be taken for one that
    was never submitted (a miss, no false hit), whichever is better, so that leaving it out gains
    nothing. Of as many hits the nearest are best, so only their number is to be tried. The result
    equals E where all hits are equally precise, and is never below it.

    Parameters
    ----------
    distance_nm
        Distances of the matched pairs in nm, shape (n,).
    misses, false_hits
        Points without a partner on either side.
    alpha
        In 1 / nm, as for `efficiency`.

    Returns
    -------
    float
        In [0, 1], higher better; 1 where there is nothing at all, 0 without a hit otherwise.
    """
    total = len(distance_nm) + misses + false_hits
    if not total:
        return 1.0
    kept = np.arange(1, len(distance_nm) + 1)
    rmse = np.sqrt(np.cumsum(np.sort(distance_nm) ** 2) / kept)
    values = 1.0 - np.hypot(1.0 - kept / total, alpha * rmse)
    return max(0.0, float(values.max(initial=0.0)))
