"""Thinning of a mask to its centre lines, working only on the surface of what is there.

The method is that of Lee, Kashyap and Chu (1994, CVGIP: Graphical Models and Image Processing 56,
462-478): voxels are taken off from six sides in turn where that changes neither pieces nor holes
nor ends of lines; within one turn they are gone through one after the other, each seen with what
those before it left.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from scorers.metrics.neighbours import CENTRE, euler_change, in_one_piece

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from scorers.metrics.neighbours import Cubes

    Places = NDArray[np.intp]

# (planes, rows, columns), in the order of scikit-image, whose result depends on it.
_SIDES = ((0, -1, 0), (0, 1, 0), (0, 0, 1), (0, 0, -1), (1, 0, 0), (-1, 0, 0))

# A byte of the grid: whether the voxel before, the voxel itself and the one after it in the row
# are there; the same three for whether they are about to go; whether it is on the surface; whether
# it is a candidate of this turn.
_BEFORE, _SELF, _AFTER, _THERE = 1, 2, 4, 7
_GOING = 3
_SURFACE, _CANDIDATE = 64, 128
_BLOCK = 1 << 14


def thin(
    planes: Iterable[NDArray[np.bool_]], shape: tuple[int, int, int], *, keep_ends: bool
) -> Places:
    """Return the voxels that make up the centre lines of a mask.

    Parameters
    ----------
    planes
        The mask, plane after plane, each (rows, columns).
    shape
        (planes, rows, columns). A mask of one plane is thinned from its four sides only.
    keep_ends
        False: the voxels of scikit-image's `skeletonize(mask, method="lee")`, all of them and no
        others. It goes through a turn in memory order and takes off also what became the end of
        a line within the turn, by which a tube or sheet of even width can vanish. True: ends
        stay, and with them at least one voxel of every 26-connected piece; and a turn goes
        through every second voxel at a time, so that a line is not eaten up from its end.

    Returns
    -------
    NDArray[intp]
        Positions in the flattened mask, ascending, shape (n,).

    Notes
    -----
    Memory is one byte a voxel and some tens a voxel of the surface.
    """
    grid = _Grid(planes, shape)
    sides = _SIDES[:4] if shape[0] == 1 else _SIDES
    changed = True
    while changed:
        changed = False
        for side in sides:
            changed |= grid.take_off(side, keep_ends=keep_ends)
    return grid.left()


class _Grid:
    """The mask in bytes with a margin of one, and the places on its surface in memory order."""

    def __init__(self, planes: Iterable[NDArray[np.bool_]], shape: tuple[int, int, int]) -> None:
        self._shape = shape
        depth, rows, columns = (length + 2 for length in shape)
        self._strides = rows * columns, columns, 1
        self._rows = [p * rows * columns + r * columns for p, r in product((-1, 0, 1), repeat=2)]
        self._grid = np.zeros(depth * rows * columns, np.uint8)
        # Number of voxels that are there and not on the surface.
        self._inside = 0
        found: list[Places] = []
        before = np.zeros(0, np.intp)
        for index, plane in enumerate(planes, start=1):
            there = self._set(plane, index)
            self._inside += len(there)
            found.append(self._bare(before))
            before = there
        self._surface = np.concatenate([*found, self._bare(before)])
        self._grid[self._surface] |= _SURFACE
        self._inside -= len(self._surface)

    def left(self) -> Places:
        """Return what is left as positions in the mask without the margin."""
        there = self._surface if not self._inside else self._all_there()
        plane, rest = np.divmod(there, self._strides[0])
        row, column = np.divmod(rest, self._strides[1])
        return ((plane - 1) * self._shape[1] + row - 1) * self._shape[2] + column - 1

    def _all_there(self) -> Places:
        planes = self._grid.reshape(-1, self._strides[0])
        found = [
            np.flatnonzero(plane & _SELF != 0) + index * self._strides[0]
            for index, plane in enumerate(planes)
        ]
        return np.concatenate(found)

    def take_off(self, side: tuple[int, int, int], *, keep_ends: bool) -> bool:
        """Take off what may go from one side; return whether anything went."""
        found, cubes = self._candidates(side)
        at = self._surface[found]
        goes = self._by_halves(at) if keep_ends else self._in_memory_order(at, cubes)
        gone = at[goes]
        if not len(gone):
            return False
        stays = np.ones(len(self._surface), bool)
        stays[found[goes]] = False
        surface = np.concatenate([self._surface[stays], self._laid_bare(gone)])
        surface.sort(kind="stable")
        self._surface = surface
        return True

    def _set(self, plane: NDArray[np.bool_], index: int) -> Places:
        """Enter a plane; only what is there is written, the rest never takes up memory."""
        there = np.flatnonzero(plane)
        there += 2 * (there // self._shape[2]) + index * self._strides[0] + self._strides[1] + 1
        self._grid[there] |= _SELF
        self._grid[there + 1] |= _BEFORE
        self._grid[there - 1] |= _AFTER
        return there

    def _bare(self, there: Places) -> Places:
        """Return which of a plane's voxels lack one of their six neighbours."""
        inside = self._grid.take(there) == _THERE
        for stride in self._strides[:2]:
            for step in (stride, -stride):
                inside &= self._grid.take(there + step) & _SELF != 0
        bare: Places = there[~inside]
        return bare

    def _candidates(self, side: tuple[int, int, int]) -> tuple[Places, Cubes]:
        """Return which of the surface might go from a side, and their neighbours."""
        step = side[0] * self._strides[0] + side[1] * self._strides[1]
        bit = (_BEFORE, _SELF, _AFTER)[side[2] + 1]
        parts = []
        for start in range(0, len(self._surface), _BLOCK):
            surface = self._surface[start : start + _BLOCK]
            found = np.flatnonzero(self._grid.take(surface + step) & bit == 0)
            cubes = self._neighbours(surface[found])
            fit = (euler_change(cubes) == 0) & (np.bitwise_count(cubes) != 1)
            found, cubes = found[fit], cubes[fit]
            fit = in_one_piece(cubes)
            parts.append((found[fit] + start, cubes[fit]))
        if not parts:
            return np.zeros(0, np.intp), np.zeros(0, np.uint32)
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])

    def _neighbours(self, at: Places) -> Cubes:
        cubes = np.zeros(len(at), np.uint32)
        for row, step in enumerate(self._rows):
            bits = self._grid.take(at + step) & _THERE
            cubes |= bits.astype(np.uint32) << np.uint32(3 * row)
        return cubes & ~CENTRE

    def _remove(self, gone: Places) -> None:
        self._grid[gone] &= ~np.uint8(_SELF | _SELF << _GOING | _SURFACE)
        self._grid[gone + 1] &= ~np.uint8(_BEFORE | _BEFORE << _GOING)
        self._grid[gone - 1] &= ~np.uint8(_AFTER | _AFTER << _GOING)

    def _by_halves(self, at: Places) -> NDArray[np.bool_]:
        """Take candidates off, every second along each axis at a time; return which went.

        Those of one of the eight groups do not touch each other, so their order does not matter.
        """
        odd = at % self._strides[1] & 1
        for stride in self._strides[:2]:
            odd = odd << 1 | (at // stride & 1)
        goes = np.zeros(len(at), bool)
        for group in range(8):
            mine = np.flatnonzero(odd == group)
            cubes = self._neighbours(at[mine])
            off = mine[in_one_piece(cubes) & (np.bitwise_count(cubes) > 1)]
            self._remove(at[off])
            goes[off] = True
        return goes

    def _in_memory_order(self, at: Places, cubes: Cubes) -> NDArray[np.bool_]:
        """Take off candidates when each is seen with what those before it left; return which went.

        All are first taken to go; then those are corrected whose decision does not follow from
        the decisions before it, until there are none. Only one set of decisions is like that.
        """
        goes = np.ones(len(at), bool)
        self._grid[at] |= _CANDIDATE
        self._flip(at)
        unsure = np.arange(len(at))
        while len(unsure):
            seen = cubes[unsure] & ~self._going_before(at[unsure])
            decided = in_one_piece(seen)
            wrong = unsure[decided != goes[unsure]]
            goes[wrong] ^= True
            self._flip(at[wrong])
            unsure = self._candidates_after(at, at[wrong])
        self._grid[at] &= ~np.uint8(_CANDIDATE)
        self._remove(at[goes])
        return goes

    def _flip(self, at: Places) -> None:
        self._grid[at] ^= _SELF << _GOING
        self._grid[at + 1] ^= _BEFORE << _GOING
        self._grid[at - 1] ^= _AFTER << _GOING

    def _going_before(self, at: Places) -> Cubes:
        """Return which neighbours earlier in memory are about to go."""
        cubes = np.zeros(len(at), np.uint32)
        for row, step in enumerate(self._rows[:5]):
            bits = self._grid.take(at + step) >> _GOING & (_THERE if row < 4 else _BEFORE)
            cubes |= bits.astype(np.uint32) << np.uint32(3 * row)
        return cubes

    def _candidates_after(self, at: Places, changed: Places) -> Places:
        """Return which candidates are neighbours, later in memory, of changed ones."""
        steps = [1, *(row + column for row in self._rows[5:] for column in (-1, 0, 1))]
        near = self._near(changed, steps, of=_CANDIDATE, but=0, mark=_CANDIDATE)
        self._grid[near] |= _CANDIDATE
        return np.searchsorted(at, near)

    def _laid_bare(self, gone: Places) -> Places:
        """Return what is on the surface since its neighbours are gone, ascending."""
        steps = [sign * stride for stride in self._strides for sign in (-1, 1)]
        near = self._near(gone, steps, of=_SELF, but=_SURFACE, mark=_SURFACE)
        near.sort()
        self._inside -= len(near)
        return near

    def _near(self, at: Places, steps: list[int], *, of: int, but: int, mark: int) -> Places:
        """Return places some step away that have one bit and not another, each once.

        Their mark is flipped, by which they are not found again.
        """
        parts = []
        for step in steps:
            near = at + step
            near = near[self._grid.take(near) & (of | but) == of]
            self._grid[near] ^= mark
            parts.append(near)
        return np.concatenate(parts)
