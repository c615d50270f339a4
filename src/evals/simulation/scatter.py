"""Point patterns: clusters, and points that keep their distance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evals.simulation.quantise import quantise

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def thomas_points(
    rng: np.random.Generator,
    size: tuple[float, float],
    *,
    parents: int,
    children: float,
    spread: float,
    margin: float = 0.0,
) -> NDArray[np.float64]:
    """Scatter points round hidden parents: the modified Thomas process (Thomas 1949).

    Parameters
    ----------
    rng
        Random stream.
    size
        Height and width of the window in pixels.
    parents
        Number of clusters, uniform in the window and its margin.
    children
        Mean number of points of a cluster (Poisson).
    spread
        Standard deviation of a cluster in pixels.
    margin
        Width of the strip round the window that parents may lie in.

    Returns
    -------
    NDArray[np.float64]
        Points (y, x) on a grid of 1/64 px, shape (n, 2), in random order, some outside the window.
    """
    low, high = -margin, np.asarray(size) + margin
    centres = rng.uniform(low, high, (parents, 2))
    family = np.repeat(centres, rng.poisson(children, parents), axis=0)
    points = family + spread * rng.standard_normal(family.shape)
    return quantise(points[rng.permutation(len(points))])


def keep_apart(points: NDArray[np.float64], distance: ArrayLike) -> NDArray[np.bool_]:
    """Thin points to a hard-core pattern: in their order, each is kept if it has room.

    The result is that of random sequential adsorption one point at a time. All points without an
    undecided earlier rival are settled at once, which takes a few rounds instead of a loop.

    Parameters
    ----------
    points
        Positions (y, x), shape (n, 2); the first have priority.
    distance
        Least distance between two kept points: one value, or one per point, of which a pair
        uses the mean.

    Returns
    -------
    NDArray[np.bool_]
        Which points stay, shape (n,).
    """
    from scipy.spatial import cKDTree

    count = len(points)
    keep = np.ones(count, dtype=bool)
    if count < 2:
        return keep
    room = np.broadcast_to(np.asarray(distance, dtype=np.float64), (count,))
    pairs = cKDTree(points).query_pairs(float(room.max()), output_type="ndarray")
    apart = points[pairs[:, 0]] - points[pairs[:, 1]]
    squared = apart[:, 0] ** 2 + apart[:, 1] ** 2
    needed = (room[pairs[:, 0]] + room[pairs[:, 1]]) / 2
    return _settle(pairs[squared < needed**2], keep)


def _settle(pairs: NDArray[Any], keep: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Decide pairs (earlier, later) round by round."""
    while len(pairs):
        undecided = np.zeros(keep.size, dtype=bool)
        undecided[pairs[:, 1]] = True  # has an earlier rival that may stay
        winners = ~undecided[pairs[:, 0]]
        keep[pairs[winners, 1]] = False
        pairs = pairs[~winners & keep[pairs[:, 0]] & keep[pairs[:, 1]]]
    return keep


def candidates(
    rng: np.random.Generator, mask: NDArray[np.bool_], count: int
) -> NDArray[np.float64]:
    """Draw random positions (y, x) inside a mask, each within its pixel, in random order.

    Parameters
    ----------
    rng
        Random stream.
    mask
        Where points may fall, shape (Y, X).
    count
        Number of draws, with repetition; none where the mask is empty.
    """
    flat = np.flatnonzero(mask)
    if not flat.size:
        return np.empty((0, 2))
    chosen = flat[rng.integers(0, flat.size, count)]
    corner = np.stack(np.divmod(chosen, mask.shape[1]), axis=1)
    return quantise(corner + rng.uniform(-0.5, 0.5, (count, 2)))
