"""How long an object's outline is, and how far another outline of it lies off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# A grid's faces overrate an outline: a line of any direction crosses 4/π times its length of
# pixel edges on average, a surface 3/2 times its area of voxel faces (Crofton's formula).
_OVERRATED = {2: 4 / np.pi, 3: 3 / 2}


class OutlineCounter:
    """Measures the outlines of all labels, plane by plane.

    Parameters
    ----------
    spacing
        Size of a voxel along planes, rows and columns, in any unit of length.
    flat
        Whether each plane is an image of its own (the outline is a length), else the planes are a
        volume's (an area).
    """

    def __init__(self, spacing: Sequence[float], *, flat: bool) -> None:
        z, y, x = spacing
        self._face = (x, y) if flat else (z * x, z * y)
        self._between = None if flat else y * x
        self._overrated = _OVERRATED[2 if flat else 3]
        self._last: NDArray[Any] | None = None
        self._found: list[tuple[NDArray[Any], NDArray[np.float64]]] = []

    def add(self, plane: NDArray[Any]) -> None:
        """Count a plane of labels (Y, X); what the image's edge cuts is no outline."""
        self._count(plane[:-1], plane[1:], self._face[0])
        self._count(plane[:, :-1], plane[:, 1:], self._face[1])
        if self._between is not None:
            if self._last is not None:
                self._count(self._last, plane, self._between)
            self._last = plane

    def result(self, ids: NDArray[Any]) -> NDArray[np.float64]:
        """Return the outlines of labels, given in ascending order; 0 of those that have none."""
        total = np.zeros(len(ids))
        for labels, sizes in self._found:
            known = np.isin(labels, ids)
            total[np.searchsorted(ids, labels[known])] += sizes[known]
        return total / self._overrated

    def _count(self, one: NDArray[Any], other: NDArray[Any], face: float) -> None:
        differ = one != other
        labels, counts = np.unique(np.concatenate([one[differ], other[differ]]), return_counts=True)
        self._found.append((labels, counts.astype(np.float64) * face))


def outline_error(
    areas: NDArray[np.int64],
    other_areas: NDArray[np.int64],
    shared: NDArray[np.int64],
    outlines: NDArray[np.float64],
    voxel: float,
) -> NDArray[np.float64]:
    """Return how far two outlines of each object lie apart on average.

    It is what only one of the two objects covers, spread over the reference's outline: for an
    outline moved out or in by d everywhere it is d, for a disc shifted by a small d it is 2 d / π,
    the mean distance of the two circles.

    Parameters
    ----------
    areas, other_areas, shared
        Voxels of the reference objects, of their partners, and of both.
    outlines
        Outlines of the reference objects in a unit of length (or its square).
    voxel
        Size of a voxel in that unit squared (or cubed).

    Returns
    -------
    NDArray[np.float64]
        In the unit of length, 0 or larger, smaller is better. NaN for an object without outline.
    """
    apart = (areas + other_areas - 2 * shared) * voxel
    off = np.full(len(areas), np.nan)
    np.divide(apart, outlines, out=off, where=outlines > 0)
    return off
