"""A population of microglia that crawl, keep apart, divide now and then, and change their shape.

A cell's shape is one continuous number: 0 is a ball, about a half an amoeboid cell, 1 a cell with
long branches. It follows the population's course, with a lasting offset and slow wandering of the
cell's own; nothing in a cell jumps from class to class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.quantise import quantise
from evals.simulation.scatter import keep_apart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Table = NDArray[np.float64]

_GRID = 2.0**-12
_RELAXATIONS = 4


@dataclass(frozen=True)
class Life:
    """How the cells live. Defaults: IMG cells at 0.65 µm a pixel and a frame each 30 min.

    Attributes
    ----------
    room_px
        Distance that two bodies keep, about.
    step_px
        Root of the mean squared move of a frame along each axis, of a crawling amoeboid cell;
        balls and branched cells move half as far.
    persistence
        Share of the velocity that is kept from one frame to the next.
    divisions
        Share of the cells that divide during the movie.
    own
        Standard deviation of a cell's lasting offset in shape.
    wandering
        Standard deviation of its slow changes of shape.
    memory
        Share of these that is kept from one frame to the next.
    """

    room_px: float = 25.0
    step_px: float = 3.2
    persistence: float = 0.78
    divisions: float = 0.15
    own: float = 0.2
    wandering: float = 0.1
    memory: float = 0.9


@dataclass(frozen=True)
class Moment:
    """All cells of one frame; every array has one entry (or row) a cell, present or not.

    Attributes
    ----------
    place
        Centres of the bodies (y, x) in pixels.
    shape
        0 (ball) to 1 (branched).
    present
        Which have been born.
    """

    place: Table
    shape: Table
    present: NDArray[np.bool_]


def population(
    rng: np.random.Generator, field: tuple[int, int], density: float, courses: Table, life: Life
) -> Iterator[Moment]:
    """Yield the cells of each frame.

    Parameters
    ----------
    rng
        Random stream of the biology.
    field
        Rows and columns in pixels; what leaves on one side comes back on the other.
    density
        Cells of the first frame per pixel.
    courses
        Mean shape in each frame, one row for each kind of cell, shape (kinds, frames).
    life
        How the cells live.
    """
    size = np.array(field, dtype=np.float64)
    place, birth, mother = _founders(rng, size, density, life, courses.shape[1])
    kind = (np.arange(len(mother)) % len(courses))[mother]
    own = (life.own * np.clip(rng.standard_normal(len(mother)), -2.2, 2.2))[mother]
    velocity, wander = np.zeros_like(place), life.wandering * rng.standard_normal(len(mother))
    fresh = np.sqrt(1 - life.memory**2) * life.wandering
    for frame in range(courses.shape[1]):
        ball = _rounding(birth, mother, frame)
        shape = quantise(np.clip(courses[kind, frame] + own + wander, 0, 1) * ball, _GRID)
        born = birth <= frame
        place = np.where(born[:, None], place, place[mother])
        place = _apart(place, born, birth == frame, mother, size, life.room_px, rng)
        yield Moment(place, shape, born)
        wander = life.memory * wander + fresh * rng.standard_normal(len(wander))
        pace = life.step_px * np.interp(shape, (0, 0.25, 0.5, 0.8, 1), (0.5, 0.7, 1, 0.6, 0.5))
        push = np.sqrt(1 - life.persistence**2) * rng.standard_normal(place.shape)
        velocity = life.persistence * velocity + push
        place = quantise((place + pace[:, None] * velocity) % size, _GRID)


def _founders(
    rng: np.random.Generator, size: Table, density: float, life: Life, frames: int
) -> tuple[Table, NDArray[np.int64], NDArray[np.int64]]:
    """Return places, frames of birth and mothers: first the founders, then their daughters."""
    wanted = round(density * float(size.prod()))
    tries = quantise(rng.uniform(0, 1, (8 * wanted, 2)) * size, _GRID)
    place = tries[keep_apart(tries, 0.8 * life.room_px)][:wanted]
    founders = len(place)
    dividing = rng.permutation(founders)[: round(life.divisions * founders)]
    birth = rng.integers(3, max(frames - 3, 4), len(dividing))
    mother = np.concatenate([np.arange(founders), dividing])
    births = np.concatenate([np.zeros(founders, np.int64), birth])
    return place[mother], births, mother


def _rounding(birth: NDArray[np.int64], mother: NDArray[np.int64], frame: int) -> Table:
    """Return the factor by which cells round up about their division: 1 far from it."""
    daughters = np.flatnonzero(mother != np.arange(len(mother)))
    away = np.abs(birth[daughters] - frame)
    factor = np.ones(len(mother))
    own = np.interp(away, (1, 3), (0.1, 1))
    factor[daughters], factor[mother[daughters]] = own, own
    return factor


def _apart(
    place: Table,
    born: NDArray[np.bool_],
    new: NDArray[np.bool_],
    mother: NDArray[np.int64],
    size: Table,
    room: float,
    rng: np.random.Generator,
) -> Table:
    """Split newborn pairs, then let neighbours that are too close push each other off."""
    from scipy.spatial import cKDTree

    daughters = np.flatnonzero(new & (mother != np.arange(len(mother))))
    side = 4.0 * np.where(rng.random((len(daughters), 2)) < 0.5, -1.0, 1.0)
    place = place.copy()
    place[daughters] += side
    place[mother[daughters]] -= side
    place %= size
    index = np.flatnonzero(born)
    for _ in range(_RELAXATIONS):
        here = quantise(place[index] % size, _GRID) % size
        pairs = cKDTree(here, boxsize=size).query_pairs(room, output_type="ndarray")
        pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        apart = here[pairs[:, 0]] - here[pairs[:, 1]]
        apart -= size * np.rint(apart / size)
        distance = np.sqrt(apart[:, 0] * apart[:, 0] + apart[:, 1] * apart[:, 1])
        move = apart * (0.25 * (room - distance) / np.maximum(distance, 1.0))[:, None]
        both, moves = np.concatenate([pairs[:, 0], pairs[:, 1]]), np.concatenate([move, -move])
        shift = [np.bincount(both, moves[:, axis], minlength=len(index)) for axis in (0, 1)]
        place[index] = (here + np.stack(shift, axis=1)) % size
    return quantise(place, _GRID)
