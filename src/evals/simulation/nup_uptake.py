"""When a protein of the nuclear pore arrives at two new nuclei, in minutes after anaphase onset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.quantise import quantise

if TYPE_CHECKING:
    from numpy.typing import NDArray

PATTERNS = ("canonical", "no difference", "reversed", "core empty", "one daughter")


@dataclass(frozen=True)
class Uptake:
    """How much of the protein has arrived, by time.

    Attributes
    ----------
    rim_half_min
        Half-time in the non-core, by daughter.
    core_half_min
        Half-time of the slow phase in the core, by daughter.
    core_fast
        Share of the core's protein that comes first, with a half-time of 5 min, by daughter.
    core_full
        Plateau of the core, 1 as published, by daughter.
    """

    rim_half_min: tuple[float, float]
    core_half_min: tuple[float, float]
    core_fast: tuple[float, float]
    core_full: tuple[float, float] = (1.0, 1.0)

    def rim(self, minute: float) -> tuple[float, float]:
        """Return the share that has arrived in the non-core of each daughter."""
        time = np.array(minute)
        one, other = (float(quantise(hill(time, half, 3), 2.0**-16)) for half in self.rim_half_min)
        return one, other

    def core(self, minute: float) -> tuple[float, float]:
        """Return the share that has arrived in the core of each daughter."""
        time = np.array(minute)
        early = float(hill(time, 5.0, 3))
        one, other = (
            float(quantise(full * (fast * early + (1 - fast) * saturation(time, half)), 2.0**-16))
            for half, fast, full in zip(
                self.core_half_min, self.core_fast, self.core_full, strict=True
            )
        )
        return one, other


RESTING = Uptake((1e-3, 1e-3), (1e-3, 1e-3), (0.0, 0.0), (0.3, 0.3))


def draw_uptakes(rng: np.random.Generator, cells: int, *, randomised: bool) -> list[Uptake]:
    """Draw the kinetics of each cell: those published, or one of `PATTERNS` for all of them.

    Published is a rapid non-core, half after 7 to 10 min, and a core in which some pores come
    first and most of them slowly, half after 30 to 45 min (Otsuka and others 2018, 2023).
    """
    pattern = PATTERNS[int(rng.integers(len(PATTERNS)))]
    pattern = pattern if randomised else "canonical"
    rim = quantise(rng.uniform(7.2, 9.8, (cells, 1)) + rng.normal(0, 0.25, (cells, 2)))
    slow = quantise(rng.uniform(31, 44, (cells, 1)) + rng.normal(0, 1.0, (cells, 2)))
    fast = quantise(rng.uniform(0.25, 0.35, (cells, 1)) + rng.normal(0, 0.01, (cells, 2)))
    full = np.ones((cells, 2))
    if pattern == "no difference":
        slow, fast = rim.copy(), np.zeros_like(fast)
    elif pattern == "reversed":
        rim, slow, fast = slow / 1.5, rim / 2, np.zeros_like(fast)
    elif pattern == "core empty":
        full[:] = 0.05
    elif pattern == "one daughter":
        full[:, 1] = 0.05
    return [
        Uptake(*((float(a), float(b)) for a, b in (rim[k], slow[k], fast[k], full[k])))
        for k in range(cells)
    ]


def hill(minutes: NDArray[np.float64], half_min: float, order: int) -> NDArray[np.float64]:
    """Rise from 0 to 1 with half at `half_min`, 0 before time 0."""
    late = np.maximum(minutes, 0.0) ** order
    return np.asarray(late / (late + half_min**order))


def saturation(minutes: NDArray[np.float64], half_min: float) -> NDArray[np.float64]:
    """Rise from 0 to 1 at a first-order rate with half at `half_min`, 0 before time 0."""
    return quantise(1 - 2.0 ** (-np.maximum(minutes, 0.0) / half_min), 2.0**-20)
