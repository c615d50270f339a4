"""Agreement of the outlines of two label images.

An outline is kept as one whole number with a bit a pixel: shifting and joining such numbers is many
times faster than the same on arrays of truth values, and than a distance transform by far more.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def boundary_f1(prediction: NDArray[Any], reference: NDArray[Any], tolerance: float = 2.0) -> float:
    """Return the harmonic mean of boundary precision and recall, in [0, 1].

    A boundary pixel is one whose label differs from a neighbour along one of the first two axes.
    Both pixels of a differing pair are marked, so an outline is two pixels wide; the image's edge
    is none. Precision is the share of the predicted boundary within `tolerance` pixels
    (inclusive, Euclidean) of the reference boundary; recall the reverse. 1 if neither image has a
    boundary, 0 if only one has, or if nothing is near.

    Parameters
    ----------
    prediction, reference
        Label images of equal shape, any dtype.
    tolerance
        In pixels.
    """
    if not prediction.size:
        return 1.0
    reach = int(tolerance)
    edge_p, edge_g = _boundary(prediction, reach), _boundary(reference, reach)
    n_p, n_g = edge_p.bit_count(), edge_g.bit_count()
    if not n_p or not n_g:
        return float(n_p == n_g)
    shifts = _shifts(prediction.shape, tolerance)
    precision = (edge_p & _grown(edge_g, shifts)).bit_count() / n_p
    recall = (edge_g & _grown(edge_p, shifts)).bit_count() / n_g
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def _boundary(labels: NDArray[Any], reach: int) -> int:
    """Return the boundary pixels as bits, each axis but the first followed by a gap of zeros."""
    shape = _with_gaps(labels.shape, reach)
    edge = 0
    for axis in range(min(2, labels.ndim)):
        here = (slice(None),) * axis + (slice(None, -1),)
        there = (slice(None),) * axis + (slice(1, None),)
        differ = np.zeros(shape, bool)
        first = tuple(slice(length - (place == axis)) for place, length in enumerate(labels.shape))
        np.not_equal(labels[here], labels[there], out=differ[first])
        bits = int.from_bytes(np.packbits(differ, bitorder="little").tobytes(), "little")
        edge |= bits | bits << math.prod(shape[axis + 1 :])
    return edge


def _grown(edge: int, shifts: list[int]) -> int:
    """Return all pixels within reach of some."""
    grown = edge
    for shift in shifts:
        grown |= edge << shift | edge >> shift
    return grown


def _shifts(shape: tuple[int, ...], distance: float) -> list[int]:
    """Return by how many bits a pixel lies from those within a distance, one of each two signs."""
    gapped = _with_gaps(shape, int(distance))
    strides = [math.prod(gapped[axis + 1 :]) for axis in range(len(shape))]
    steps = range(-int(distance), int(distance) + 1)
    return [
        shift
        for offset in product(steps, repeat=len(shape))
        if sum(step * step for step in offset) <= distance * distance
        and (shift := sum(map(int.__mul__, offset, strides))) > 0
    ]


def _with_gaps(shape: tuple[int, ...], reach: int) -> tuple[int, ...]:
    """Return the lengths of axes after which a shift within reach meets no other row."""
    return (shape[0], *(length + max(reach, 1) for length in shape[1:]))
