"""Bending filaments: their course, the pixels they cover, how evenly they are labelled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.quantise import quantise

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

STEP_PX = 0.25  # between points of a centre line
_COURSE_STEP = 2.0**-16


def worm_like_chains(
    rng: np.random.Generator,
    start: NDArray[np.float64],
    heading: NDArray[np.float64],
    *,
    length_px: float,
    persistence_px: ArrayLike,
) -> NDArray[np.float64]:
    """Let filaments grow as worm-like chains: the heading diffuses along the contour.

    In a plane the heading has the variance s / P after a contour length s, so that the mean cosine
    is exp(-s / 2P) with the persistence length P (Gittes et al. 1993, J. Cell Biol. 120, 923).

    Parameters
    ----------
    rng
        Random stream.
    start
        First points (y, x) in pixels, shape (n, 2).
    heading
        First directions in radians, 0 along x, shape (n,).
    length_px
        Contour length of all; shorter filaments are cut from these.
    persistence_px
        Persistence length in pixels, one value or shape (n,).

    Returns
    -------
    NDArray[np.float64]
        Points (y, x) every `STEP_PX`, shape (n, points, 2).
    """
    count, steps = len(start), int(length_px / STEP_PX)
    turn = np.sqrt(STEP_PX / np.broadcast_to(np.asarray(persistence_px, float), (count,)))
    bends = turn[:, None] * rng.standard_normal((count, steps))
    angle = heading[:, None] + np.cumsum(bends, axis=1)
    moves = quantise(STEP_PX * np.stack([np.sin(angle), np.cos(angle)], axis=2), _COURSE_STEP)
    moves[:, 0] = quantise(start, _COURSE_STEP)
    return np.cumsum(moves, axis=1)


def covered(
    shape: tuple[int, int], points: NDArray[np.float64], radius_px: ArrayLike
) -> NDArray[np.bool_]:
    """Mark the pixels whose centres lie within a distance of the points of centre lines.

    Parameters
    ----------
    shape
        Rows and columns.
    points
        Points (y, x) in pixels, close together along each line, shape (n, 2).
    radius_px
        Half the width of the line, one value or shape (n,).
    """
    mask = np.zeros(shape, dtype=bool)
    if not len(points):
        return mask
    radius = np.broadcast_to(np.asarray(radius_px, dtype=np.float64), (len(points),))
    half = int(np.ceil(radius.max()))
    window = np.arange(-half, half + 1)
    pixels = np.rint(points).astype(np.int64)[:, :, None] + window
    square = (pixels - points[:, :, None]) ** 2
    near = square[:, 0, :, None] + square[:, 1, None, :] <= (radius**2)[:, None, None]
    y = np.broadcast_to(pixels[:, 0, :, None], near.shape)[near]
    x = np.broadcast_to(pixels[:, 1, None, :], near.shape)[near]
    inside = (y >= 0) & (y < shape[0]) & (x >= 0) & (x < shape[1])
    mask[y[inside], x[inside]] = True
    return mask


def speckles(
    rng: np.random.Generator,
    count: int,
    points: int,
    *,
    spacing_px: float,
    variation: float,
) -> NDArray[np.float64]:
    """Draw how densely fluorophores sit along filaments: gamma noise with a correlation length.

    Only some subunits bear a dye, at random, so that their number within the resolution varies as
    a Poisson number does; a gamma variable is its smooth stand-in (Waterman-Storer and Salmon
    1998, Biophys. J. 75, 2059).

    Parameters
    ----------
    rng
        Random stream; it draws the same numbers whatever the variation.
    count, points
        Filaments, and points `STEP_PX` apart of each.
    spacing_px
        Distance over which the density stays alike.
    variation
        Standard deviation over mean; 0 labels evenly.

    Returns
    -------
    NDArray[np.float64]
        Relative density of mean 1, shape (count, points), on a grid of 1/1024.
    """
    from scipy import special

    knots = int(np.ceil(points * STEP_PX / spacing_px)) + 2
    level = rng.uniform(0, 1, (count, knots))
    if variation <= 0:
        return np.ones((count, points))
    shape = 1 / variation**2
    density = special.gammaincinv(shape, level) / shape
    at = np.arange(points) * (STEP_PX / spacing_px)
    left = at.astype(np.int64)
    share = at - left
    return quantise(density[:, left] * (1 - share) + density[:, left + 1] * share, 2.0**-10)
