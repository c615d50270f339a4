"""Masks of oblong voxels as masks of cubes."""

from __future__ import annotations

from itertools import groupby, repeat
from typing import TYPE_CHECKING

import numpy as np

from scorers.metrics.packed import PackedMask

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

MOST_COARSENING = 3.0
_EQUAL = 1.01


def cube_edge(spacing: Sequence[float]) -> float:
    """Return the edge of cubes for a voxel size: the longest side, at most 3 times the shortest.

    Finer cubes would need planes that nobody recorded and eight times the work.
    """
    return min(max(spacing), MOST_COARSENING * min(spacing))


def isotropic(mask: PackedMask, spacing: Sequence[float]) -> PackedMask:
    """Return a volume resampled to cubes of the edge `cube_edge(spacing)`.

    Where cubes are longer than voxels, a cube is there if any voxel with its centre in it is, so
    that the thinnest line stays whole; where they are shorter, it is what the voxel at its centre
    is.

    Parameters
    ----------
    mask
        Axes planes, rows, columns.
    spacing
        Size of a voxel along the three axes, in any one unit.
    """
    if len(mask.shape) != 3 or len(spacing) != 3 or not min(spacing) > 0:
        raise ValueError(f"expected 3 axes and sizes above 0, got {mask.shape}, {spacing}")
    if max(spacing) <= _EQUAL * min(spacing):
        return mask
    edge = cube_edge(spacing)
    axes = [_Axis(length, size / edge) for length, size in zip(mask.shape, spacing, strict=True)]
    shape = tuple(axis.length for axis in axes)
    return PackedMask.of(_resampled(mask, axes), shape)


class _Axis:
    """How positions along one axis change; `source[i]` is the voxel at the centre of cube i."""

    def __init__(self, length: int, ratio: float) -> None:
        self.length = max(1, round(length * ratio))
        self.coarser = ratio < 1
        self.target = np.minimum(((np.arange(length) + 0.5) * ratio).astype(int), self.length - 1)
        self.source = np.minimum(((np.arange(self.length) + 0.5) / ratio).astype(int), length - 1)


def _resampled(mask: PackedMask, axes: Sequence[_Axis]) -> Iterator[NDArray[np.bool_]]:
    depth, rows, columns = axes
    flat = _Flat(rows, columns)
    planes = zip(depth.target.tolist(), mask.planes(), strict=True)
    if depth.coarser:
        for _, group in groupby(planes, key=lambda pair: pair[0]):
            yield np.logical_or.reduce([flat.resampled(plane) for _, plane in group])
        return
    repeats = np.bincount(depth.source, minlength=mask.depth).tolist()
    for count, (_, plane) in zip(repeats, planes, strict=True):
        if count:
            yield from repeat(flat.resampled(plane), count)


class _Flat:
    """Where each pixel of a plane goes that has the finer axes already."""

    def __init__(self, rows: _Axis, columns: _Axis) -> None:
        self._axes = rows, columns
        self._shape = rows.length, columns.length
        row, column = (
            axis.target if axis.coarser else np.arange(axis.length) for axis in self._axes
        )
        self._target = (row[:, None] * columns.length + column).reshape(-1)

    def resampled(self, plane: NDArray[np.bool_]) -> NDArray[np.bool_]:
        for index, axis in enumerate(self._axes):
            if not axis.coarser:
                plane = plane.take(axis.source, axis=index)
        result = np.zeros(self._shape, bool)
        result.reshape(-1)[self._target[np.flatnonzero(plane)]] = True
        return result
