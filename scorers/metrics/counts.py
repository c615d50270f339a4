"""How BIABench scores numbers of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def typical_count(counts: Iterable[int]) -> float:
    """Return the upper median of the counts above 0, the yardstick for false cells; 1 if none."""
    present = sorted(count for count in counts if count > 0)
    return float(present[len(present) // 2]) if present else 1.0


def count_score(predicted: int, reference: int, typical: float) -> float:
    """Score one image's number of cells, in [0, 1], higher better.

    Parameters
    ----------
    predicted, reference
        Numbers of cells; where they lie does not matter.
    typical
        From `typical_count`, above 0.

    Returns
    -------
    float
        1 - |difference| / scale, not below 0. The scale is the reference number where cells are
        missing, and at least `typical` where there are too many, so that one false cell in an
        empty image does not cost everything.
    """
    scale = float(reference) if predicted < reference else max(float(reference), typical)
    return max(0.0, 1.0 - abs(predicted - reference) / scale)
