"""Masks kept in one bit a voxel, so that two large ones and their centre lines fit into memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray


@dataclass(frozen=True)
class PackedMask:
    """A mask of two or more axes as packed planes of its last two.

    Attributes
    ----------
    shape
        Of the mask, axes in the order planes, rows, columns.
    bits
        (planes, bytes), the voxels of a plane in memory order, eight a byte.
    size
        Number of voxels that are there.
    """

    shape: tuple[int, ...]
    bits: NDArray[np.uint8]
    size: int

    @classmethod
    def of(cls, planes: Iterable[NDArray[np.bool_]], shape: tuple[int, ...]) -> Self:
        """Pack planes of two axes, as many as the shape has."""
        empty = cls.nothing(shape)
        size = 0
        for place, plane in zip(empty.bits, planes, strict=True):
            # What is empty stays memory that was never touched.
            if filled := np.count_nonzero(plane):
                size += int(filled)
                place[:] = np.packbits(plane)
        return cls(shape, empty.bits, size)

    @classmethod
    def of_array(cls, mask: NDArray[np.bool_]) -> Self:
        """Pack a whole mask."""
        return cls.of(mask.reshape(-1, *mask.shape[-2:]), mask.shape)

    @classmethod
    def nothing(cls, shape: tuple[int, ...]) -> Self:
        """Return a mask of a shape in which nothing is there."""
        n_planes, area = math.prod(shape[:-2]), math.prod(shape[-2:])
        return cls(shape, np.zeros((n_planes, -(-area // 8)), np.uint8), 0)

    @property
    def depth(self) -> int:
        """Number of planes."""
        return len(self.bits)

    def planes(self) -> Iterator[NDArray[np.bool_]]:
        """Yield the planes in order."""
        area = math.prod(self.shape[-2:])
        for place in self.bits:
            plane = np.unpackbits(place, count=area).view(np.bool_)
            yield plane.reshape(self.shape[-2:])

    def array(self) -> NDArray[np.bool_]:
        """Return the whole mask."""
        planes = [*self.planes()] or [np.zeros(self.shape[-2:], bool)]
        return np.stack(planes).reshape(self.shape)

    def holds(self, places: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return whether voxels, given by their positions in the flattened mask, are there."""
        plane, rest = np.divmod(places, math.prod(self.shape[-2:]))
        found: NDArray[np.bool_] = self.bits[plane, rest >> 3] >> (7 - (rest & 7)) & 1 == 1
        return found

    def overlap(self, other: PackedMask) -> int:
        """Return how many voxels both masks have; they must be of equal shape."""
        if self.shape != other.shape:
            raise ValueError(f"shapes differ: {self.shape}, {other.shape}")
        pairs = zip(self.bits, other.bits, strict=True)
        return sum(int(np.bitwise_count(one & two).sum(dtype=np.int64)) for one, two in pairs)
