"""Damage done to masks of filaments and vessels, segment by segment, in two or three axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import ndimage
from skimage.morphology import skeletonize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

_MARGIN_PX = 1.5


@dataclass(frozen=True)
class Segments:
    """A mask taken apart between the crossings of its skeleton.

    Attributes
    ----------
    owner
        The segment that each pixel of the mask belongs to, from 1 on; 0 outside.
    middle
        Pixel in the middle of each segment's line, shape (n, axes).
    """

    owner: NDArray[np.int32]
    middle: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.middle)

    def of(self, hit: NDArray[np.bool_]) -> Mask:
        """Return the pixels of some of the segments."""
        return np.concatenate([[False], hit])[self.owner]


def segments_of(mask: Mask) -> Segments:
    """Take a mask apart; each pixel goes to the segment whose line is nearest."""
    full = np.ones((3,) * mask.ndim, bool)
    line: Mask = skeletonize(mask) > 0  # type: ignore[no-untyped-call]
    neighbours = ndimage.convolve(line.astype(np.uint8), full.astype(np.uint8), mode="constant")
    crossings = line & (neighbours > 3)
    pieces, count = ndimage.label(line & ~crossings, full)
    if not count:
        pieces, count = ndimage.label(mask, full)
    _, nearest = ndimage.distance_transform_edt(pieces == 0, return_indices=True)
    owner = np.where(mask, pieces[tuple(nearest)], 0).astype(np.int32)
    return Segments(owner, _middles(pieces, count))


def cut(mask: Mask, segments: Segments, hit: NDArray[np.bool_]) -> Mask:
    """Return the mask with a gap through the middle of some segments, a bit longer than wide."""
    inside = ndimage.distance_transform_edt(mask)
    marks = np.ones(mask.shape, bool)
    marks[tuple(segments.middle[hit].T)] = False
    distance, nearest = ndimage.distance_transform_edt(marks, return_indices=True)
    gap: Mask = (distance <= inside[tuple(nearest)] + _MARGIN_PX) & segments.of(hit)
    return mask & ~gap


def without(mask: Mask, segments: Segments, hit: NDArray[np.bool_]) -> Mask:
    """Return the mask without some segments."""
    return mask & ~segments.of(hit)


def thickened(mask: Mask, segments: Segments, hit: NDArray[np.bool_]) -> Mask:
    """Return the mask with some segments grown by one pixel, diagonals included."""
    full = np.ones((3,) * mask.ndim, bool)
    grown: Mask = mask | ndimage.binary_dilation(segments.of(hit), full)
    return grown


def _middles(pieces: NDArray[np.int32], count: int) -> NDArray[np.int64]:
    """Return for each piece that of its pixels which is nearest to its centre."""
    places = np.argwhere(pieces)
    owner = pieces[tuple(places.T)] - 1
    size = np.maximum(np.bincount(owner, minlength=count), 1)
    centre = np.stack([np.bincount(owner, axis, count) / size for axis in places.T], axis=1)
    off = ((places - centre[owner]) ** 2).sum(axis=1)
    order = np.lexsort((off, owner))
    _, first = np.unique(owner[order], return_index=True)
    middles: NDArray[np.int64] = places[order][first]
    return middles
