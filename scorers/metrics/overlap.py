"""Overlap of two label images from one joint histogram, accumulated plane by plane.

Everything that Dice, IoU, average precision, panoptic quality and the anatomy of errors need is
how many pixels each pair of labels shares. That histogram is sparse (an object touches a few
others), so neither whole volumes nor a matrix of all pairs is ever held: memory follows one plane
and the number of touching pairs, time the number of pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What a cast of NaN, infinity or a value beyond the range gives on x86, made the same everywhere.
_UNDEFINED = np.iinfo(np.int64).min
# Bits of a number that can hold a pair of labels and its count.
_KEY_BITS = 63
# Histogram rows that may wait before they are merged.
_WAITING = 1 << 20


class TooManyLabels(ValueError):
    """An image has more distinct labels than allowed."""


@dataclass(frozen=True)
class Overlap:
    """The joint histogram of a predicted (P) and a reference (G) label image.

    Attributes
    ----------
    prediction_ids, reference_ids
        Distinct labels other than 0, ascending; int64, shapes (p,) and (g,).
    prediction_areas, reference_areas
        Pixels of each object, int64; 0 for a negative label, which is an object without area.
    prediction, reference
        For each pair of objects that share pixels, their positions in the above; int64,
        shape (k,), in ascending order of (prediction, reference).
    shared
        Pixels that each pair shares, int64, shape (k,).
    prediction_pixels, reference_pixels, both_pixels
        Pixels above 0 in P, in G, and in both (before labels are truncated to whole numbers).
    """

    prediction_ids: NDArray[np.int64]
    reference_ids: NDArray[np.int64]
    prediction_areas: NDArray[np.int64]
    reference_areas: NDArray[np.int64]
    prediction: NDArray[np.int64]
    reference: NDArray[np.int64]
    shared: NDArray[np.int64]
    prediction_pixels: int
    reference_pixels: int
    both_pixels: int

    @property
    def iou(self) -> NDArray[np.float64]:
        """Intersection over union of each sharing pair, in (0, 1], shape (k,)."""
        union = (
            self.prediction_areas[self.prediction]
            + self.reference_areas[self.reference]
            - self.shared
        )
        return self.shared / union


class OverlapCounter:
    """Accumulates the joint histogram of two label images that are given plane by plane.

    Parameters
    ----------
    max_labels
        Bound on the distinct labels of either image; beyond it `TooManyLabels` is raised.
    """

    def __init__(self, max_labels: int = 2_000_000) -> None:
        self._max_labels = max_labels
        self._rows = np.zeros((0, 3), np.int64)
        self._waiting: list[NDArray[np.int64]] = []
        self._n_waiting = 0
        self._pixels = np.zeros(3, np.int64)

    def add(self, prediction: NDArray[Any], reference: NDArray[Any]) -> None:
        """Add one plane of each image: any numeric or boolean dtype, equal shapes."""
        if prediction.shape != reference.shape:
            raise ValueError(f"shapes differ: {prediction.shape} and {reference.shape}")
        if prediction.size == 0:
            return
        rows = _histogram(whole_labels(prediction), whole_labels(reference))
        if _whole(prediction) and _whole(reference):
            p, g = rows[:, 0] > 0, rows[:, 1] > 0
            self._pixels += [rows[p, 2].sum(), rows[g, 2].sum(), rows[p & g, 2].sum()]
        else:
            p, g = prediction > 0, reference > 0
            self._pixels += [np.count_nonzero(p), np.count_nonzero(g), np.count_nonzero(p & g)]
        self._waiting.append(rows)
        self._n_waiting += len(rows)
        if self._n_waiting > _WAITING:
            self._merge()

    def result(self) -> Overlap:
        """Return the histogram of all planes added so far."""
        self._merge()
        predicted, referenced, count = self._rows.T
        prediction_ids, prediction_areas = _objects(predicted, count)
        reference_ids, reference_areas = _objects(referenced, count)
        touching = (predicted > 0) & (referenced > 0)
        only_p, only_g, both = (int(value) for value in self._pixels)
        return Overlap(
            prediction_ids=prediction_ids,
            reference_ids=reference_ids,
            prediction_areas=prediction_areas,
            reference_areas=reference_areas,
            prediction=np.searchsorted(prediction_ids, predicted[touching]),
            reference=np.searchsorted(reference_ids, referenced[touching]),
            shared=count[touching],
            prediction_pixels=only_p,
            reference_pixels=only_g,
            both_pixels=both,
        )

    def _merge(self) -> None:
        if not self._waiting:
            return
        parts = [self._rows] * bool(len(self._rows)) + self._waiting
        self._rows = parts[0] if len(parts) == 1 else _summed(*np.concatenate(parts).T)
        self._waiting, self._n_waiting = [], 0
        for column in self._rows.T[:2]:
            if len(np.unique(column)) > self._max_labels + 1:
                raise TooManyLabels(f"more than {self._max_labels} distinct labels")


def overlap(prediction: NDArray[Any], reference: NDArray[Any]) -> Overlap:
    """Return the joint histogram of two whole label images of equal shape."""
    counter = OverlapCounter()
    counter.add(prediction, reference)
    return counter.result()


def _whole(plane: NDArray[Any]) -> bool:
    """Return whether a label above 0 is the same as a value above 0."""
    return plane.dtype.kind in "bi" or (plane.dtype.kind == "u" and plane.dtype.itemsize < 8)


def whole_labels(plane: NDArray[Any]) -> NDArray[Any]:
    """Return labels as whole numbers, flat; what a cast leaves undefined is the lowest int64."""
    values = np.ascontiguousarray(plane).ravel()
    if values.dtype == bool:
        return values.view(np.uint8)
    if values.dtype.kind != "f":
        return values
    if values.dtype == np.float16:  # whose range ends below the bound
        values = values.astype(np.float32)
    labels = np.full(values.shape, _UNDEFINED, np.int64)
    np.copyto(labels, values, casting="unsafe", where=np.abs(values) < 2.0**63)
    return labels


def _histogram(predicted: NDArray[Any], referenced: NDArray[Any]) -> NDArray[np.int64]:
    """Count pairs of labels, shape (n, 3): over runs of equal pairs, of which there are few."""
    starts = _starts(predicted, referenced)
    lengths = np.diff(starts, append=len(predicted))
    return _summed(predicted[starts].astype(np.int64), referenced[starts].astype(np.int64), lengths)


def _summed(
    predicted: NDArray[np.int64], referenced: NDArray[np.int64], count: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Merge equal pairs of labels, in ascending order of (predicted, referenced)."""
    if min(predicted.min(), referenced.min()) >= 0:
        low, high = (int(side.max()).bit_length() for side in (referenced, predicted))
        bits = int(count.max()).bit_length()
        if low + high + bits < _KEY_BITS:
            # Sorted with its pair in one number, a count needs no permutation.
            key = ((predicted << low | referenced) << bits) | count
            key.sort()
            count = key & ((1 << bits) - 1)
            key >>= bits
            starts = _starts(key)
            key = key[starts]
            count = np.add.reduceat(count, starts)
            return np.stack([key >> low, key & ((1 << low) - 1), count], axis=1)
    order = np.lexsort((referenced, predicted))
    predicted, referenced, count = predicted[order], referenced[order], count[order]
    starts = _starts(predicted, referenced)
    return np.stack([predicted[starts], referenced[starts], np.add.reduceat(count, starts)], axis=1)


def _starts(*columns: NDArray[Any]) -> NDArray[np.int64]:
    """Return where runs of equal rows start."""
    change = columns[0][1:] != columns[0][:-1]
    for column in columns[1:]:
        change |= column[1:] != column[:-1]
    return np.concatenate([[0], np.flatnonzero(change) + 1])


def _objects(
    labels: NDArray[np.int64], count: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    ids, position = np.unique(labels, return_inverse=True)
    areas = np.bincount(position, weights=count, minlength=len(ids)).astype(np.int64)
    areas[ids < 0] = 0
    return ids[ids != 0], areas[ids != 0]
