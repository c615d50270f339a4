"""Contact mechanics of rods in a plane: overlapping cells shift and turn until they fit.

Sums run cell by cell in a fixed order and turns need no sine: the outcome is the same on every
machine once positions are rounded after each step, which `Colony.moved` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evals.simulation.bacteria import Colony

    Table = NDArray[np.float64]

# Overlap at which walls give way no further.
_SLACK_PX = 0.25


def turned(heading: Table, half_tangent: Table) -> Table:
    """Turn unit vectors by angles given as the tangent of their half."""
    squared = half_tangent * half_tangent
    cosine, sine = (1 - squared) / (1 + squared), 2 * half_tangent / (1 + squared)
    row, column = heading[:, 0], heading[:, 1]
    return np.stack([row * cosine + column * sine, column * cosine - row * sine], axis=1)


@dataclass(frozen=True)
class Contacts:
    """Touching points of pairs of cells: an end of one against the body of the other."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    overlap: Table
    normal: Table
    arm_first: Table
    arm_second: Table


def contacts_of(colony: Colony, a: NDArray[np.int64], b: NDArray[np.int64]) -> Contacts:
    """Test both ends of each cell of a pair against the other cell's axis."""
    first = np.concatenate([a, a, b, b])
    second = np.concatenate([b, b, a, a])
    sign = np.repeat([1.0, -1.0, 1.0, -1.0], len(a))
    arm = colony.heading[first] * (sign * colony.length[first] * 0.5)[:, None]
    tip = colony.position[first] + arm
    axis, half = colony.heading[second], colony.length[second] * 0.5
    apart = tip - colony.position[second]
    along = np.clip(apart[:, 0] * axis[:, 0] + apart[:, 1] * axis[:, 1], -half, half)
    lever = axis * along[:, None]
    gap = apart - lever
    distance = np.sqrt(gap[:, 0] * gap[:, 0] + gap[:, 1] * gap[:, 1])
    overlap = colony.radius[first] + colony.radius[second] - distance
    touch = (overlap > 0) & (distance > 0)
    normal = gap[touch] / distance[touch, None]
    return Contacts(first[touch], second[touch], overlap[touch], normal, arm[touch], lever[touch])


def push_apart(colony: Colony, steps: int) -> Colony:
    """Let overlapping cells shift and turn, as in position-based dynamics without inertia."""
    pairs = _neighbours(colony)
    for _ in range(steps):
        contacts = contacts_of(colony, pairs[:, 0], pairs[:, 1])
        if contacts.overlap.max(initial=0.0) < _SLACK_PX:
            break
        colony = _relax(colony, contacts)
    return colony


def _neighbours(colony: Colony) -> NDArray[np.int64]:
    """Pairs of cells that can touch within a minute, in a fixed order."""
    from scipy.spatial import cKDTree

    reach = float(np.max(colony.length + 2 * colony.radius)) + 6.0
    pairs = cKDTree(colony.position).query_pairs(reach, output_type="ndarray")
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].astype(np.int64)
    half = (colony.length * 0.5 + colony.radius)[pairs]
    apart = colony.position[pairs[:, 0]] - colony.position[pairs[:, 1]]
    limit = half[:, 0] + half[:, 1] + 4.0
    near = apart[:, 0] * apart[:, 0] + apart[:, 1] * apart[:, 1] < limit * limit
    return np.asarray(pairs[near])


def _relax(colony: Colony, contacts: Contacts, share: float = 0.35) -> Colony:
    """Resolve a share of every overlap; heavier and longer cells yield less."""
    mass = colony.length + 2 * colony.radius
    ease = 1 / mass
    spin = 12 / (mass * mass * mass)
    who = np.concatenate([contacts.first, contacts.second])
    arm = np.concatenate([contacts.arm_first, contacts.arm_second])
    normal = np.concatenate([contacts.normal, -contacts.normal])
    lever = arm[:, 0] * normal[:, 1] - arm[:, 1] * normal[:, 0]
    give = ease[who] + spin[who] * lever * lever
    half = len(contacts.overlap)
    push = share * contacts.overlap / (give[:half] + give[half:])
    push = np.concatenate([push, push])
    move = np.stack(
        [_gather(who, push * ease[who] * normal[:, axis], len(colony)) for axis in range(2)],
        axis=1,
    )
    turn = _gather(who, push * spin[who] * lever, len(colony))
    # Positive turn carries the row axis towards the column axis; `turned` goes the other way.
    return colony.moved(
        colony.position + np.clip(move, -3, 3),
        turned(colony.heading, -0.5 * np.clip(turn, -0.3, 0.3)),
    )


def _gather(who: NDArray[np.int64], amount: Table, count: int) -> Table:
    """Add up amounts cell by cell, one after the other in order."""
    return np.bincount(who, amount, minlength=count).astype(np.float64)
