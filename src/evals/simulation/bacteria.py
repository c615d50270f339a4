"""A monolayer of rod-shaped bacteria that grow, snap apart at division and push each other.

Rods are segments with round caps (spherocylinders), all lengths in pixels. Orientations are unit
vectors and turns are made with products and square roots only, and positions are rounded to a grid
after every step: contact mechanics amplifies any difference in a last bit, and there is none.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.crowding import contacts_of, push_apart, turned
from evals.simulation.quantise import quantise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Table = NDArray[np.float64]

_GRID = 2.0**-20
_FINE = 2.0**-12


@dataclass(frozen=True)
class Growth:
    """How the cells live. Defaults: Corynebacterium glutamicum at 0.072 µm a pixel.

    Attributes
    ----------
    doubling_min
        Time in which the biomass doubles.
    width_px
        Mean width of a cell.
    birth_px
        Mean length of a newborn cell, caps included; a cell adds about as much until it divides
        (the adder rule).
    spread
        Coefficient of variation of added length, growth rate and division plane.
    snap
        Mean tangent of half the angle by which two sisters bend when the mother's wall tears.
    relaxations
        Steps of contact mechanics a minute.
    """

    doubling_min: float = 84.0
    width_px: float = 12.5
    birth_px: float = 28.0
    spread: float = 0.1
    snap: float = 0.42
    relaxations: int = 8


@dataclass(frozen=True)
class Colony:
    """State of all cells at one moment; every array has one entry (or row) a cell.

    Attributes
    ----------
    ident, mother
        Number of the cell, counted from 1, and of its mother (0: founder).
    position, heading
        (N, 2) centre and unit vector along the cell, (row, column).
    length
        Distance of the two cap centres.
    radius
        Half the width.
    added, target
        Length gained since birth, and length to gain until division.
    rate
        Relative growth per minute.
    """

    ident: NDArray[np.int64]
    mother: NDArray[np.int64]
    position: Table
    heading: Table
    length: Table
    radius: Table
    added: Table
    target: Table
    rate: Table

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self.ident)

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> Colony:
        """Return the chosen cells."""
        return Colony(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def join(self, other: Colony) -> Colony:
        """Return the cells of both."""
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return Colony(*(np.concatenate(pair) for pair in pairs))

    def moved(self, position: Table, heading: Table) -> Colony:
        """Return the cells at other places, rounded to the grid."""
        norm = np.sqrt(heading[:, 0] * heading[:, 0] + heading[:, 1] * heading[:, 1])
        state = {field.name: getattr(self, field.name) for field in fields(self)}
        state["position"] = quantise(position, _GRID)
        state["heading"] = quantise(heading / norm[:, None], _GRID)
        return Colony(**state)


def found_colony(
    rng: np.random.Generator, growth: Growth, centre: tuple[float, float], founders: int = 2
) -> Colony:
    """Place a few young cells side by side."""
    turn = quantise(rng.uniform(-0.8, 0.8, founders), _FINE)
    heading = turned(np.tile([0.0, 1.0], (founders, 1)), turn)
    position = np.array(centre) + quantise(rng.uniform(-4, 4, (founders, 2)), _FINE)
    position[:, 0] += (np.arange(founders) - (founders - 1) / 2) * 2.2 * growth.width_px
    newborn = _newborn(rng, growth, founders)
    return Colony(
        np.arange(1, founders + 1),
        np.zeros(founders, np.int64),
        position,
        heading,
        newborn["length"],
        newborn["radius"],
        np.zeros(founders),
        newborn["target"],
        newborn["rate"],
    ).moved(position, heading)


def _newborn(rng: np.random.Generator, growth: Growth, count: int) -> dict[str, Table]:
    def vary(mean: float, spread: float) -> Table:
        return quantise(mean * (1 + spread * np.clip(rng.standard_normal(count), -2, 2)), _FINE)

    return {
        "length": vary(growth.birth_px - growth.width_px, growth.spread),
        "radius": vary(growth.width_px / 2, growth.spread / 3),
        "target": vary(growth.birth_px, growth.spread),
        "rate": quantise(vary(np.log(2) / growth.doubling_min, growth.spread), 2.0**-24),
    }


def live(
    colony: Colony, rng: np.random.Generator, growth: Growth, bounds: tuple[Table, Table]
) -> Iterator[Colony]:
    """Yield the colony minute after minute, the given state first.

    Parameters
    ----------
    colony
        State at minute 0.
    rng
        Random stream of the biology.
    growth
        How the cells live.
    bounds
        Lowest and highest (row, column); cells whose centre passes them have left the chamber.
    """
    next_ident = int(colony.ident.max()) + 1
    while len(colony):
        yield colony
        colony = _grow(colony)
        due = np.flatnonzero(colony.added >= colony.target)
        for cell in due:
            colony = _divide(colony, int(cell), rng, growth, next_ident)
            next_ident += 2
        colony = colony.take(np.delete(np.arange(len(colony)), due))
        colony = _jostle(colony, rng)
        colony = push_apart(colony, growth.relaxations)
        inside = (colony.position >= bounds[0]) & (colony.position <= bounds[1])
        colony = colony.take(np.flatnonzero(inside.all(axis=1)))


def _grow(colony: Colony) -> Colony:
    gain = quantise((colony.length + 2 * colony.radius) * colony.rate, _GRID)
    state = {field.name: getattr(colony, field.name) for field in fields(colony)}
    state["length"], state["added"] = colony.length + gain, colony.added + gain
    return Colony(**state)


def _jostle(colony: Colony, rng: np.random.Generator) -> Colony:
    """Shake every cell a little; without it, rows of cells stay in unlikely order."""
    shift = quantise(rng.normal(0, 0.12, colony.position.shape), _FINE)
    turn = quantise(rng.normal(0, 0.006, len(colony)), _FINE)
    return colony.moved(colony.position + shift, turned(colony.heading, turn))


def _divide(
    colony: Colony, cell: int, rng: np.random.Generator, growth: Growth, ident: int
) -> Colony:
    """Append the two daughters of one cell; the mother is removed by the caller.

    The septum is complete on one side before the other: the outer wall tears there and the sisters
    swing round the side that holds, into a V, between two frames. Where neighbours leave no room
    the bend is smaller or goes the other way.
    """
    mother = colony.take(np.array([cell]))
    others = colony.take(np.delete(np.arange(len(colony)), cell))
    plane = float(quantise(np.clip(rng.normal(0.5, growth.spread / 3, 1), 0.4, 0.6), _FINE)[0])
    bend = float(quantise(np.clip(rng.normal(growth.snap, growth.snap / 3, 1), 0.1, 0.9), _FINE)[0])
    side = 1.0 if rng.random() < 0.5 else -1.0
    newborn = _newborn(rng, growth, 2)
    newborn["radius"][:] = 0.5 * (newborn["radius"] + mother.radius[0])
    best, least = None, np.inf
    for factor in (1.0, -1.0, 0.6, -0.6, 0.3, -0.3, 0.1):
        pair = _sisters(mother, ident, plane, side * factor * bend, newborn)
        deepest = _deepest_overlap(pair, others)
        if deepest < least - 0.5:
            best, least = pair, deepest
        if deepest < 1.5:
            break
    return colony if best is None else colony.join(best)


def _sisters(
    mother: Colony, ident: int, plane: float, bend: float, newborn: dict[str, Table]
) -> Colony:
    """Lay two daughters into the mother's outline and bend them round the hinge."""
    radius = float(mother.radius[0])
    axis = mother.heading[0]
    total = float(mother.length[0]) + 2 * radius
    sizes = np.array([plane, 1 - plane]) * total
    side = np.array([axis[1], -axis[0]]) * (radius if bend > 0 else -radius)
    septum = mother.position[0] + axis * (total * (plane - 0.5))
    # Each sister turns by a quarter of tan: half of the whole bend, both to the side of the hinge.
    headings = turned(np.stack([axis, axis]), np.array([bend, -bend]) * 0.5)
    arms = turned(np.stack([side, side]), np.array([bend, -bend]) * 0.5)
    outward = np.array([[-1.0], [1.0]])
    centres = septum + side - arms + outward * headings * (sizes[:, None] / 2)
    length = np.maximum(sizes - 2 * newborn["radius"], 1.0)
    return Colony(
        np.array([ident, ident + 1]),
        np.repeat(mother.ident, 2),
        centres,
        headings,
        quantise(length, _FINE),
        quantise(newborn["radius"], _FINE),
        np.zeros(2),
        newborn["target"],
        newborn["rate"],
    ).moved(centres, headings)


def _deepest_overlap(pair: Colony, others: Colony) -> float:
    if not len(others):
        return 0.0
    both = pair.join(others)
    a, b = np.divmod(np.arange(2 * len(others)), len(others))
    contacts = contacts_of(both, a, b + 2)
    return float(contacts.overlap.max(initial=0.0))
