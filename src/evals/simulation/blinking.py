"""Molecules that bind and leave, as the frames of a camera see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evals.simulation.quantise import quantise

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TIME_STEP = 2.0**-16


class Events(NamedTuple):
    """Times in which molecules shine.

    Attributes
    ----------
    site
        Where, shape (n,).
    start, end
        In frames since the movie began, not rounded; events that overlap its ends are cut off.
    """

    site: NDArray[np.int64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]


class Glimpses(NamedTuple):
    """What single frames see of events: one entry per event and frame.

    Attributes
    ----------
    event, frame
        Indices, shape (n,).
    share
        Of the frame's exposure in which the molecule shone, above 0 and at most 1.
    """

    event: NDArray[np.int64]
    frame: NDArray[np.int64]
    share: NDArray[np.float64]


def bind(
    rng: np.random.Generator, sites: int, *, frames: int, bound: float, unbound: float
) -> Events:
    """Let molecules bind to sites and leave: two exponential waiting times in turn.

    The movie begins in equilibrium, so that some sites are occupied already.

    Parameters
    ----------
    rng
        Random stream.
    sites
        Their number; each holds at most one molecule.
    frames
        Length of the movie.
    bound, unbound
        Mean dwell times in frames: 1 / k_off and 1 / (k_on concentration).

    Returns
    -------
    Events
        Ordered by site and time.
    """
    turns = frames / (bound + unbound)
    rounds = int(np.ceil(turns + 8 * np.sqrt(turns) + 8))
    taken = rng.random(sites) < bound / (bound + unbound)
    off = unbound * rng.standard_exponential((sites, rounds))
    on = bound * rng.standard_exponential((sites, rounds))
    off[:, 0] = np.where(taken, 0.0, off[:, 0])
    end = np.cumsum(quantise(off, _TIME_STEP) + quantise(on, _TIME_STEP), axis=1)
    start = end - quantise(on, _TIME_STEP)
    during = (start < frames) & (end > 0)
    site = np.nonzero(during)[0]
    return Events(site, start[during].clip(0, frames), end[during].clip(0, frames))


def expose(events: Events) -> Glimpses:
    """Cut events into frames: the first and the last one usually see a part of the light only."""
    first = np.floor(events.start).astype(np.int64)
    count = np.ceil(events.end).astype(np.int64) - first
    event = np.repeat(np.arange(len(first)), count)
    nth = np.arange(len(event)) - np.repeat(np.cumsum(count) - count, count)
    frame = first[event] + nth
    share = np.minimum(events.end[event], frame + 1) - np.maximum(events.start[event], frame)
    seen = share > 0
    return Glimpses(event[seen], frame[seen], share[seen])


def drift(
    rng: np.random.Generator, frames: int, *, speed: float, jitter: float
) -> NDArray[np.float64]:
    """Let a stage drift: steadily in one direction, with a random walk on top.

    Parameters
    ----------
    rng
        Random stream.
    frames
        Length of the movie.
    speed, jitter
        Steady motion and standard deviation of each random step along y and x, in pixels a frame.

    Returns
    -------
    NDArray[np.float64]
        Shift (y, x) in each frame, 0 in the first, shape (frames, 2).
    """
    angle = rng.uniform(-np.pi, np.pi)
    steps = speed * np.array([np.sin(angle), np.cos(angle)])
    walk = steps + jitter * rng.standard_normal((frames, 2))
    walk[0] = 0
    return np.cumsum(quantise(walk, 2.0**-20), axis=0)


def unite(
    frame: NDArray[np.int64],
    place: NDArray[np.float64],
    light: NDArray[np.float64],
    distance_px: float,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Take molecules of one frame that are too close to be told apart for one.

    Parameters
    ----------
    frame
        Of each molecule, shape (n,).
    place
        Its (y, x), shape (n, 2).
    light
        Its photons, above 0, shape (n,).
    distance_px
        Molecules this close, and chains of such, become one.

    Returns
    -------
    tuple
        Frames, centroids weighted with the light, and sums of the light of those that are left.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    count = len(frame)
    if not count:
        return frame, place, light
    # Frames lie further apart in the third coordinate than molecules may be in the others.
    apart = np.column_stack([place, frame * (2.0 * distance_px + 1.0)])
    pairs = cKDTree(apart).query_pairs(distance_px, output_type="ndarray")
    links = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    groups, owner = connected_components(links, directed=False)
    total = np.asarray(np.bincount(owner, light, groups), dtype=np.float64)
    centre = [np.bincount(owner, light * place[:, k], groups) / total for k in (0, 1)]
    first = np.zeros(groups, dtype=np.int64)
    first[owner] = frame
    return first, np.stack(centre, axis=1), total
