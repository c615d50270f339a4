"""Pieces, tunnels and cavities of a mask in space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.metrics.neighbours import EARLIER, euler_change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from scorers.metrics.packed import PackedMask

    Places = NDArray[np.intp]
    Keys = NDArray[np.int64]

MOST_RUNS = 8_000_000


@dataclass(frozen=True)
class Betti:
    """The Betti numbers of a mask in which voxels that share a corner are connected.

    Attributes
    ----------
    pieces, tunnels, cavities
        b0, b1 and b2: connected parts, independent loops, closed-in hollows.
    """

    pieces: int
    tunnels: int
    cavities: int

    @property
    def euler(self) -> int:
        """The Euler characteristic: pieces minus tunnels plus cavities."""
        return self.pieces - self.tunnels + self.cavities


def betti(mask: PackedMask, most_runs: int = MOST_RUNS) -> Betti | None:
    """Return the Betti numbers of a volume.

    Pieces and cavities are counted as connected runs of voxels (26-connected those of the mask,
    6-connected those of what surrounds it), tunnels follow from the Euler characteristic.

    Parameters
    ----------
    mask
        Of three axes.
    most_runs
        A run is an unbroken row of voxels. A mask of more runs, which is noise, is not counted.

    Returns
    -------
    Betti or None
        None for a mask of more runs than that.
    """
    if len(mask.shape) != 3:
        raise ValueError(f"expected 3 axes, got the shape {mask.shape}")
    runs = _runs(mask, most_runs)
    if runs is None:
        return None
    starts, ends = runs
    depth, rows, columns = mask.shape
    width, height = columns + 3, rows + 3
    near = [1, height - 1, height, height + 1]
    pieces, _ = _connected(starts, ends, [step * width for step in near], reach=1)
    around = np.arange(depth + 2)[:, None] * height + np.arange(rows + 2)
    row = around.reshape(-1) * width
    # Between two runs of a row lies one of what is around them, and one at either end.
    outer_starts = np.sort(np.concatenate([row, ends]), kind="stable")
    outer_ends = np.sort(np.concatenate([starts, row + columns + 2]), kind="stable")
    outside, _ = _connected(outer_starts, outer_ends, [width, height * width], reach=0)
    cavities = outside - 1
    return Betti(pieces, pieces + cavities - euler_characteristic(mask), cavities)


def pieces_at(mask: PackedMask, places: Places, most_runs: int = MOST_RUNS) -> Keys | None:
    """Return the piece (26-connected) that each of some voxels of a volume lies in.

    Parameters
    ----------
    mask
        Of three axes.
    places
        Positions in the flattened mask, shape (n,).
    most_runs
        As for `betti`.

    Returns
    -------
    (n,) int64 array or None
        From 0 on, in no order that means anything; -1 where the mask is not there. None for a mask
        of more runs than that.
    """
    runs = _runs(mask, most_runs)
    if runs is None:
        return None
    starts, ends = runs
    width, height = mask.shape[2] + 3, mask.shape[1] + 3
    near = [1, height - 1, height, height + 1]
    _, piece = _connected(starts, ends, [step * width for step in near], reach=1)
    plane, row, column = np.unravel_index(places, mask.shape)
    keys = (row + (plane + 1) * height + 1) * width + column + 1
    run = np.searchsorted(starts, keys, "right") - 1
    inside = (run >= 0) & mask.holds(places)
    return np.where(inside, np.append(piece, -1)[run], -1)


def euler_characteristic(mask: PackedMask) -> int:
    """Return corners minus edges plus faces minus cubes of a volume's voxels as closed cubes.

    The voxels are added one after the other, each with what it changes beside those before it.
    """
    return sum(int(euler_change(cubes).sum(dtype=np.int64)) for cubes in _earlier(mask))


def _earlier(mask: PackedMask) -> Iterator[NDArray[np.uint32]]:
    """Yield for each plane the neighbours before each of its voxels in memory."""
    columns = mask.shape[-1]
    stride = columns + 2
    before = np.zeros((mask.shape[-2] + 2) * stride, np.uint8)
    for plane in mask.planes():
        at = np.flatnonzero(plane)
        at += 2 * (at // columns) + stride + 1
        # A byte says whether the voxel before, the voxel itself and the one after it are there.
        here = np.zeros_like(before)
        here[at + 1] = 1
        here[at] |= 2
        here[at - 1] |= 4
        rows = [before.take(at + step) for step in (-stride, 0, stride)]
        rows += [here.take(at - stride), here.take(at)]
        cubes = np.zeros(len(at), np.uint32)
        for index, row in enumerate(rows):
            cubes |= row.astype(np.uint32) << np.uint32(3 * index)
        yield cubes & EARLIER
        before = here


def _runs(mask: PackedMask, most: int) -> tuple[Keys, Keys] | None:
    """Return where runs start and end (exclusive), in rows with a margin of one and a gap."""
    columns = mask.shape[-1]
    width, height = columns + 3, mask.shape[-2] + 3
    starts: list[Keys] = []
    ends: list[Keys] = []
    count = 0
    for index, plane in enumerate(mask.planes(), start=1):
        row, column = np.divmod(np.flatnonzero(plane), columns)
        keys = (row + index * height + 1) * width + column + 1
        breaks = np.flatnonzero(np.diff(keys) != 1)
        first = np.concatenate([keys[:1], keys[breaks + 1]])
        starts.append(first)
        ends.append(np.concatenate([keys[breaks], keys[-1:]]) + 1)
        count += len(first)
        if count > most:
            return None
    return np.concatenate(starts), np.concatenate(ends)


def _connected(starts: Keys, ends: Keys, shifts: list[int], *, reach: int) -> tuple[int, Keys]:
    """Return the number of connected sets of runs that meet when shifted, and each run's set."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    one: list[NDArray[Any]] = []
    other: list[NDArray[Any]] = []
    for shift in shifts:
        low = np.searchsorted(ends, starts + (shift - reach), "right")
        count = np.searchsorted(starts, ends + (shift + reach), "left") - low
        # Position within its own group of each partner, added to the group's first.
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        one.append(np.repeat(np.arange(len(starts)), count))
        other.append(np.repeat(low, count) + within)
    if not len(starts):
        return 0, np.zeros(0, np.int64)
    edges = np.concatenate(one), np.concatenate(other)
    shape = len(starts), len(starts)
    graph = coo_array((np.ones(len(edges[0]), np.uint8), edges), shape)
    count, labels = connected_components(graph, directed=False)
    return int(count), labels.astype(np.int64)
