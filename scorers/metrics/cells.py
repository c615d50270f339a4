"""Cells of several compartments: one object of several label images that carry the same id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.metrics.instances import Matching, match

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorers.metrics.overlap import Overlap


@dataclass(frozen=True)
class Cells:
    """Predicted and reference cells of one image.

    Attributes
    ----------
    prediction_ids, reference_ids
        Ids that occur in any compartment, ascending, shapes (p,) and (g,).
    matching
        Which cell is which; its IoU is that of the worst compartment.
    outlined
        Whether each reference cell was found in every compartment that it has, whatever the ids
        of the predictions there, shape (g,).
    linked
        Whether besides they carry one id, shape (g,).
    """

    prediction_ids: NDArray[np.int64]
    reference_ids: NDArray[np.int64]
    matching: Matching
    outlined: NDArray[np.bool_]
    linked: NDArray[np.bool_]

    @property
    def wrong_links(self) -> NDArray[np.bool_]:
        """Reference cells whose compartments were all found, as parts of different cells."""
        return self.outlined & ~self.linked


def match_cells(compartments: Sequence[Overlap], threshold: float = 0.5) -> Cells:
    """Match cells one to one where IoU is at least `threshold` in every compartment.

    A cell is an id, and its compartments are what bears that id in each label image. The IoU of
    two cells is that of the compartment in which they agree least. A compartment that both lack
    does not count; one that only one of them has is an IoU of 0. The panoptic quality of the
    result therefore sees linkage: right outlines under ids that do not belong together are no
    cell. As in `match`, no assignment is needed at thresholds of 0.5 and more.

    Parameters
    ----------
    compartments
        The joint histogram of each compartment, at least one.
    threshold
        At least 0.5.
    """
    if threshold < 0.5:
        raise ValueError(f"threshold must be at least 0.5, got {threshold}")
    p_ids = _union([table.prediction_ids for table in compartments])
    g_ids = _union([table.reference_ids for table in compartments])
    keys, iou = _least_iou(compartments, p_ids, g_ids)
    kept = np.flatnonzero(iou >= threshold)
    p, g = np.divmod(keys, max(len(g_ids), 1))
    for side in (p, g):
        kept = kept[np.sort(np.unique(side[kept], return_index=True)[1])]
    matching = Matching(p[kept], g[kept], iou[kept], len(p_ids), len(g_ids))
    outlined, linked = _links(compartments, g_ids, threshold)
    return Cells(p_ids, g_ids, matching, outlined, linked)


def _union(ids: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.unique(np.concatenate(ids))


def _least_iou(
    compartments: Sequence[Overlap], p_ids: NDArray[np.int64], g_ids: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the pairs that share pixels anywhere, as p * len(g_ids) + g, and their least IoU."""
    width = len(g_ids)
    own = []
    for table in compartments:
        p = np.searchsorted(p_ids, table.prediction_ids[table.prediction])
        g = np.searchsorted(g_ids, table.reference_ids[table.reference])
        own.append(p * width + g)
    keys = _union(own)
    least = np.ones(len(keys))
    for table, known in zip(compartments, own, strict=True):
        has_p, has_g = np.isin(p_ids, table.prediction_ids), np.isin(g_ids, table.reference_ids)
        p, g = np.divmod(keys, max(width, 1))
        iou = np.where(has_p[p] | has_g[g], 0.0, 1.0)
        iou[np.searchsorted(keys, known)] = table.iou
        least = np.minimum(least, iou)
    return keys, least


def _links(
    compartments: Sequence[Overlap], g_ids: NDArray[np.int64], threshold: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which reference cells are found in every compartment, and which under one id."""
    outlined, linked = np.ones(len(g_ids), bool), np.ones(len(g_ids), bool)
    known = np.zeros(len(g_ids), np.int64)
    for table in compartments:
        matching = match(table, threshold)
        found = np.zeros(len(g_ids), np.int64)
        place = np.searchsorted(g_ids, table.reference_ids[matching.reference])
        found[place] = table.prediction_ids[matching.prediction]
        has = np.isin(g_ids, table.reference_ids)
        outlined &= ~has | (found != 0)
        linked &= ~has | (known == 0) | (found == known)
        known = np.where(known == 0, found, known)
    return outlined, outlined & linked
