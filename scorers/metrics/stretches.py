"""Unbroken stretches of centre line that one of two masks has and the other lacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


MOST_VOXELS = 2_000_000


@dataclass(frozen=True)
class Stretches:
    """Stretches of a line, longest first.

    Attributes
    ----------
    lengths
        Number of voxels of each, shape (n,).
    centres
        Mean position of each along the axes, in voxels, shape (n, axes).
    """

    lengths: NDArray[np.int64]
    centres: NDArray[np.float64]


def stretches(places: NDArray[np.intp], shape: Sequence[int], most: int = MOST_VOXELS) -> Stretches:
    """Return the connected stretches (voxels that share a corner) of some voxels.

    Parameters
    ----------
    places
        Positions in the flattened mask.
    shape
        Of the mask.
    most
        More voxels than this, which is noise, are returned as if they were one stretch.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(places)
    if not n:
        return Stretches(np.zeros(0, np.int64), np.zeros((0, len(shape))))
    places = np.sort(places)
    if n > most:
        axes = np.unravel_index(places, tuple(shape))
        return Stretches(np.array([n]), np.array([[axis.mean() for axis in axes]]))
    margin = tuple(length + 2 for length in shape)
    points = np.stack(np.unravel_index(places, tuple(shape)), axis=-1)
    keys = np.ravel_multi_index(tuple(points.T + 1), margin)
    steps = np.array(np.unravel_index(np.arange(3 ** len(shape)), (3,) * len(shape))).T - 1
    strides = np.cumprod((1, *margin[:0:-1]))[::-1]
    one, other = [], []
    for step in (steps @ strides).tolist():
        if step > 0:
            found = np.minimum(np.searchsorted(keys, keys + step), n - 1)
            meets = np.flatnonzero(keys[found] == keys + step)
            one.append(meets)
            other.append(found[meets])
    edges = np.concatenate(one), np.concatenate(other)
    graph = coo_array((np.ones(len(edges[0]), np.uint8), edges), (n, n))
    count, labels = connected_components(graph, directed=False)
    lengths = np.bincount(labels, minlength=count)
    sums = [np.bincount(labels, weights=axis, minlength=count) for axis in points.T]
    order = np.argsort(-lengths, kind="stable")
    return Stretches(lengths[order], (np.stack(sums, axis=-1) / lengths[:, None])[order])
