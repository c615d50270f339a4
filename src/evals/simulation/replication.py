"""Nuclei that copy their DNA under the microscope: replication foci, and a protein that joins some.

Positions are in pixels (y, x) and planes (z), times in frames. PCNA shows many small foci all over
the nucleus early in S phase, foci along its border and round the nucleoli in the middle of it, and
few large ones late (Leonhardt and others 2000; Chagin and others 2010). A focus lasts an hour or
two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.quantise import quantise
from evals.simulation.scatter import keep_apart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_FINE = 2.0**-12
# Of S phase: when a generation of foci begins, how long its foci last, and where they lie.
_GENERATIONS = (
    *((0.12 * k, 0.17, "inside") for k in range(4)),
    *((0.42 + 0.12 * k, 0.17, "border") for k in range(3)),
    *((0.74 + 0.13 * k, 0.18, "large") for k in range(2)),
)
NUCLEOLUS = 0.26  # radius as a share of the nucleus'


@dataclass(frozen=True)
class Spots:
    """Foci of one protein in one nucleus.

    Attributes
    ----------
    place
        In the unit ball of the nucleus (z, y, x), shape (n, 3).
    first, last
        Frames between which they shine, shape (n,).
    bright
        Peak in units of even nucleoplasm, shape (n,).
    spread_px
        Their own standard deviation, shape (n,).
    """

    place: NDArray[np.float64]
    first: NDArray[np.float64]
    last: NDArray[np.float64]
    bright: NDArray[np.float64]
    spread_px: NDArray[np.float64]

    def __len__(self) -> int:
        return self.first.size

    def shining(self, frame: int) -> NDArray[np.float64]:
        """Return their brightness in a frame: full from `first` to `last`, half one frame off."""
        rise = np.clip((frame - self.first + 2) / 2, 0, 1)
        fall = np.clip((self.last - frame + 2) / 2, 0, 1)
        return self.bright * rise * fall


def joined(parts: Sequence[Spots]) -> Spots:
    """Put foci together."""
    names = ("place", "first", "last", "bright", "spread_px")
    return Spots(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


@dataclass(frozen=True)
class Nucleus:
    """One nucleus over a whole movie.

    Attributes
    ----------
    radius_px, elongation, half_planes
        Of the ellipsoid.
    path
        Centre in each frame, shape (T, 2).
    turn
        Cosine and sine of its direction in each frame, shape (T, 2).
    nucleoli
        Centres in the unit disc, shape (k, 2).
    entry, exit
        First and last frame with replication foci; outside of the movie if it has none of them.
    pcna, rad18
        Their foci.
    onsets
        Frames in which RAD18 first lies on a replication focus, shape (m,).
    """

    radius_px: float
    elongation: float
    half_planes: float
    path: NDArray[np.float64]
    turn: NDArray[np.float64]
    nucleoli: NDArray[np.float64]
    entry: int
    exit: int
    pcna: Spots
    rad18: Spots
    onsets: NDArray[np.int64]


def wander(
    rng: np.random.Generator, frames: int, home: NDArray[np.float64], reach_px: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Let a nucleus drift round its home and turn, smoothly.

    Parameters
    ----------
    rng
        Random stream.
    frames
        Length of the movie.
    home
        Where it stays about, (y, x).
    reach_px
        How far it goes.

    Returns
    -------
    tuple
        Centres, shape (T, 2), and cosine and sine of the direction, shape (T, 2).
    """
    time = np.arange(frames)[:, None] / 100.0
    rate = 2 * np.pi * rng.uniform(0.3, 1.6, (1, 3, 3))
    phase = rng.uniform(0, 2 * np.pi, (1, 3, 3))
    waves = np.sin(rate * time[..., None] + phase).sum(axis=2) / 3
    angle = rng.uniform(0, 2 * np.pi) + 0.5 * waves[:, 2] + rng.normal(0, 0.4) * time[:, 0]
    path = quantise(home + reach_px * waves[:, :2], _FINE)
    return path, quantise(np.stack([np.cos(angle), np.sin(angle)], axis=1), 2.0**-16)


def inside(rng: np.random.Generator, count: int, where: str) -> NDArray[np.float64]:
    """Draw places in the unit ball: `inside` it, along its `border`, or for `large` foci."""
    direction = rng.standard_normal((count, 3))
    direction /= np.sqrt((direction**2).sum(axis=1, keepdims=True))
    if where == "border":
        # A flat nucleus: the border that a projection shows is its equator.
        direction[:, 0] *= 0.3
        radius = rng.uniform(0.78, 0.88, count)
    else:
        radius = (0.62 if where == "large" else 0.78) * rng.random(count) ** (1 / 3)
    return quantise(direction * radius[:, None], _FINE)


def replication_foci(
    rng: np.random.Generator, entry: int, length: int, number: int, nucleoli: NDArray[np.float64]
) -> Spots:
    """Draw the PCNA foci of one S phase.

    Parameters
    ----------
    rng
        Random stream.
    entry, length
        First frame and number of frames of S phase.
    number
        Foci at a time early in S phase; later ones are fewer.
    nucleoli
        Centres in the unit disc; no focus lies within.
    """
    parts = []
    for start, lasting, where in _GENERATIONS:
        count = {"inside": number, "border": (3 * number) // 5, "large": max(number // 5, 3)}[where]
        place = inside(rng, count, where)
        begin = start + rng.uniform(0, 0.06 if start else 0.01, count)
        end = np.minimum(begin + lasting * rng.uniform(0.85, 1.2, count), 1.0)
        if start + lasting > 0.95:
            end[:2] = 1.0
        bright = rng.uniform(0.7, 1.3, count) * {"inside": 1.0, "border": 1.2, "large": 2.0}[where]
        wide = 1.3 if where == "large" else 0.5
        free = ~in_nucleoli(place, nucleoli)
        parts.append(
            Spots(
                place[free],
                np.rint(entry + begin * length)[free],
                np.rint(entry + end * length)[free],
                quantise(bright)[free],
                np.full(count, wide)[free],
            )
        )
    return joined(parts)


def in_nucleoli(place: NDArray[np.float64], nucleoli: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which places lie within a nucleolus."""
    away = ((place[:, None, 1:] - nucleoli[None]) ** 2).sum(axis=2)
    return np.asarray((away < (NUCLEOLUS + 0.06) ** 2).any(axis=1))


def recruitment(
    rng: np.random.Generator,
    onsets: NDArray[np.int64],
    exit_frame: int,
    nucleoli: NDArray[np.float64],
    apart: float,
) -> tuple[Spots, Spots, NDArray[np.int64]]:
    """Draw replication foci that stall, and the RAD18 that joins them.

    Parameters
    ----------
    rng
        Random stream.
    onsets
        Frames of recruitment that are wanted, shape (m,).
    exit_frame
        Last frame of S phase.
    nucleoli
        Centres in the unit disc; no focus lies within.
    apart
        Least distance of two such foci in the projection, as a share of the nucleus' radius.

    Returns
    -------
    tuple
        PCNA foci, RAD18 foci on them, and the onsets that found room.
    """
    tries = inside(rng, 40 * max(onsets.size, 1), "inside")
    tries = tries[~in_nucleoli(tries, nucleoli)]
    tries = tries[keep_apart(tries[:, 1:], apart)][: onsets.size]
    onsets = onsets[: len(tries)]
    before = rng.integers(3, 9, onsets.size)
    lasting = rng.integers(7, 15, onsets.size)
    last = np.minimum(onsets + lasting, exit_frame)
    rest = {"place": tries, "spread_px": np.full(onsets.size, 0.5)}
    strong = quantise(rng.uniform(1.2, 1.7, onsets.size))
    pcna = Spots(first=(onsets - before).astype(float), last=last + 1.0, bright=strong, **rest)
    found = quantise(rng.uniform(2.2, 3.2, onsets.size))
    rad18 = Spots(first=onsets.astype(float), last=last.astype(float), bright=found, **rest)
    return pcna, rad18, onsets


def nuclear_bodies(
    rng: np.random.Generator, count: int, frames: int, nucleoli: NDArray[np.float64]
) -> Spots:
    """Draw RAD18 that gathers beside the nucleoli, where no DNA is copied, at any time."""
    own = nucleoli[rng.integers(0, len(nucleoli), count)]
    flat = own + rng.uniform(-0.1, 0.1, (count, 2))
    place = np.concatenate([rng.uniform(-0.3, 0.3, (count, 1)), flat], axis=1)
    first = rng.integers(-20, frames, count).astype(float)
    return Spots(
        quantise(place, _FINE),
        first,
        first + rng.integers(15, 60, count),
        quantise(rng.uniform(2.0, 3.0, count)),
        np.full(count, 0.6),
    )
