"""What taking a voxel off does to a mask, decided from its 26 neighbours for many voxels at once.

A neighbourhood is a whole number: bit 9(p + 1) + 3(r + 1) + (c + 1) says whether the neighbour at
plane p, row r, column c (each -1, 0 or 1) is there; bit 13, the voxel itself, is 0.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Cubes = NDArray[np.uint32]

CENTRE = np.uint32(1 << 13)
EARLIER = np.uint32((1 << 13) - 1)
_STEPS = tuple(product((-1, 0, 1), repeat=3))
_TWO_PLANES = np.uint32((1 << 18) - 1)
_ONE_PLANE = np.uint32((1 << 9) - 1)


def _bits(steps: Iterable[tuple[int, ...]]) -> np.uint32:
    return np.uint32(sum(1 << (9 * (p + 1) + 3 * (r + 1) + c + 1) for p, r, c in steps))


_NO_ROW = {side: _bits(step for step in _STEPS if step[1] != side) for side in (-1, 1)}
_NO_COLUMN = {side: _bits(step for step in _STEPS if step[2] != side) for side in (-1, 1)}


def in_one_piece(cubes: Cubes) -> NDArray[np.bool_]:
    """Return whether the neighbours are 26-connected among themselves; none counts as that."""
    result = np.ones(len(cubes), bool)
    unsure = np.arange(len(cubes))
    piece = cubes & (~cubes + np.uint32(1))
    while len(unsure):
        wider = _grown(piece) & cubes
        whole = wider == cubes
        apart = (wider == piece) & ~whole
        result[unsure[apart]] = False
        on = ~(whole | apart)
        unsure, piece, cubes = unsure[on], wider[on], cubes[on]
    return result


def euler_change(cubes: Cubes) -> NDArray[np.int8]:
    """Return by how much a voxel raises the Euler characteristic of what its neighbours are.

    Voxels are taken as closed cubes, which is 26-connectivity: the number of corners that no
    neighbour has, minus edges, plus faces, minus 1.
    """
    lower, upper = _tables()
    change: NDArray[np.int8] = lower[cubes & _TWO_PLANES] + upper[cubes >> np.uint32(9)]
    return change


def _grown(cubes: Cubes) -> Cubes:
    column, row, plane = np.uint32(1), np.uint32(3), np.uint32(9)
    cubes = cubes | (cubes << column & _NO_COLUMN[-1]) | (cubes >> column & _NO_COLUMN[1])
    cubes = cubes | (cubes << row & _NO_ROW[-1]) | (cubes >> row & _NO_ROW[1])
    grown: Cubes = cubes | cubes << plane | cubes >> plane
    return grown


@cache
def _tables() -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return the change by the planes -1 and 0 with all that lies within 0, and by 0 and 1."""
    cubes = np.arange(1 << 18, dtype=np.uint32)

    def free(*axes: tuple[int, ...]) -> NDArray[np.int8]:
        sharing = cubes & _bits(step for step in product(*axes) if any(step))
        nothing: NDArray[np.bool_] = np.equal(sharing, 0)
        return nothing.astype(np.int8)

    below, within = free((-1,), (0,), (0,)), np.full(len(cubes), -1, np.int8)
    for a in (-1, 1):
        below -= free((-1, 0), (0, a), (0,)) + free((-1, 0), (0,), (0, a))
        within += free((0,), (a,), (0,)) + free((0,), (0,), (a,))
        for b in (-1, 1):
            below += free((-1, 0), (0, a), (0, b))
            within -= free((0,), (0, a), (0, b))
    mirrored: NDArray[np.int8] = below[(cubes & _ONE_PLANE) << np.uint32(9) | cubes >> np.uint32(9)]
    return below + within, mirrored
