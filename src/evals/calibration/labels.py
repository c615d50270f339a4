"""Damage done to label images and volumes: pure functions of whole-number arrays, 0 background."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import ndimage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Labels = NDArray[np.integer[Any]]
    Ids = NDArray[np.int64]


def ids_of(labels: Labels) -> Ids:
    """Return the ids of the objects, ascending."""
    ids = np.unique(labels).astype(np.int64)
    return ids[ids > 0]


def renamed(labels: Labels, ids: Ids, names: Ids) -> Labels:
    """Return the labels with some ids replaced by others, in a type that holds these."""
    if not len(ids):
        return labels
    most = int(max(labels.max(initial=0), ids.max()))
    table = np.arange(most + 1)
    table[ids] = names
    return table.astype(_holding(labels, int(names.max())))[labels]


def without(labels: Labels, ids: Ids) -> Labels:
    """Return the labels without some of the objects."""
    return renamed(labels, ids, np.zeros_like(ids))


def merge_names(labels: Labels, ids: Ids) -> tuple[Ids, Ids]:
    """Return new names by which each of some objects becomes one with the nearest other object.

    Returns
    -------
    ids, names
        Of all objects; what is merged takes the smallest of its ids.
    """
    every = ids_of(labels)
    ids = np.intersect1d(ids, every)
    if len(every) < 2 or not len(ids):
        return every, every
    centres = np.array(ndimage.center_of_mass(labels > 0, labels, every))
    chosen = np.searchsorted(every, ids)
    _, near = cKDTree(centres).query(centres[chosen], k=2)
    # Of equally near points the object itself need not come first.
    partner = np.where(near[:, 0] == chosen, near[:, 1], near[:, 0])
    shape = (len(every), len(every))
    links = coo_array((np.ones(len(chosen)), (chosen, partner)), shape=shape)
    count, group = connected_components(links, directed=False)
    smallest = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(smallest, group, every)
    return every, smallest[group]


def split(labels: Labels, ids: Ids, fresh: Ids) -> Labels:
    """Return the labels with some objects cut in two across their longest side.

    Parameters
    ----------
    labels
        Of any number of axes.
    ids
        Of the objects to cut, ascending.
    fresh
        What the farther half of each is called.
    """
    if not len(ids):
        return labels
    places = np.nonzero(np.isin(labels, ids))
    owner = np.searchsorted(ids, labels[places])
    size = np.bincount(owner, minlength=len(ids))
    extents, means = [], []
    for along in places:
        low, high = np.full(len(ids), np.inf), np.zeros(len(ids))
        np.minimum.at(low, owner, along)
        np.maximum.at(high, owner, along)
        extents.append(high - low)
        means.append(np.bincount(owner, along, len(ids)) / np.maximum(size, 1))
    longest = np.argmax(extents, axis=0)[owner]
    along, middle = np.choose(longest, places), np.choose(longest, np.array(means)[:, owner])
    far = along > middle
    cut = labels.astype(_holding(labels, int(fresh.max())))
    cut[tuple(axis[far] for axis in places)] = fresh[owner[far]]
    return cut


def dilated(labels: Labels, ids: Ids) -> Labels:
    """Return the labels with some objects grown by one pixel into the background."""
    chosen = np.where(np.isin(labels, ids), labels, 0)
    cross = ndimage.generate_binary_structure(labels.ndim, 1)
    grown = ndimage.grey_dilation(chosen, footprint=cross)
    return np.where(labels == 0, grown, labels).astype(labels.dtype)


def turned(labels: Labels) -> Labels:
    """Return an image, or every plane of a volume, with rows and columns exchanged."""
    return np.swapaxes(labels, -2, -1)


def _holding(labels: Labels, most: int) -> np.dtype[Any]:
    """Return the labels' type, or a wider one if it does not hold a number."""
    if most <= np.iinfo(labels.dtype).max:
        return labels.dtype
    return np.dtype(np.uint16 if most < 2**16 else np.uint32)
