"""Agreement of the outlines of two label images."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def boundary(labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Return the pixels whose label differs from a neighbour along one of the first two axes.

    Both pixels of a differing pair are marked, so an outline is two pixels wide; the image's edge
    is none.
    """
    edges = np.zeros(labels.shape, bool)
    for axis in range(min(2, labels.ndim)):
        here = (slice(None),) * axis + (slice(None, -1),)
        there = (slice(None),) * axis + (slice(1, None),)
        differ = labels[here] != labels[there]
        edges[here] |= differ
        edges[there] |= differ
    return edges


def near(mask: NDArray[np.bool_], distance: float) -> NDArray[np.bool_]:
    """Return the pixels with Euclidean distance of at most `distance` pixels to the mask.

    The mask is shifted by each whole-pixel offset within reach and joined: for a few pixels much
    faster than a distance transform, and the same set.
    """
    reach = int(distance)
    grown = mask.copy()
    for offset in product(range(-reach, reach + 1), repeat=mask.ndim):
        if any(offset) and sum(step * step for step in offset) <= distance * distance:
            to = tuple(slice(max(step, 0), min(step, 0) or None) for step in offset)
            source = tuple(slice(max(-step, 0), min(-step, 0) or None) for step in offset)
            grown[to] |= mask[source]
    return grown


def boundary_f1(prediction: NDArray[Any], reference: NDArray[Any], tolerance: float = 2.0) -> float:
    """Return the harmonic mean of boundary precision and recall, in [0, 1].

    Precision is the share of the predicted boundary within `tolerance` pixels (inclusive,
    Euclidean) of the reference boundary; recall the reverse. 1 if neither image has a boundary,
    0 if only one has, or if nothing is near.

    Parameters
    ----------
    prediction, reference
        Label images of equal shape, any dtype.
    tolerance
        In pixels.
    """
    edge_p, edge_g = boundary(prediction), boundary(reference)
    n_p, n_g = np.count_nonzero(edge_p), np.count_nonzero(edge_g)
    if not n_p or not n_g:
        return float(n_p == n_g)
    precision = np.count_nonzero(edge_p & near(edge_g, tolerance)) / n_p
    recall = np.count_nonzero(edge_g & near(edge_p, tolerance)) / n_g
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0
