"""A protein that separates from its solution in the nucleus once there is enough of it.

Below the saturation concentration all of it is dissolved. Above, the solution stays saturated and
the surplus gathers in droplets (Banani et al. 2017, Nature Reviews Molecular Cell Biology 18,
285-298). Concentrations are in units of the median of cells that express it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.nuclei3d import Nuclei, inside
from evals.simulation.quantise import quantise
from evals.simulation.scatter import keep_apart

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]
    Indices = NDArray[np.int64]

_FINE = 2.0**-12
EXPRESSION_CV = 1.0
TRANSFECTED = 0.8
# Of a cell that was not transfected: its own fluorescence.
_DARK = 0.02
DENSE = 16.0
_DROPLET_UM3 = 0.16
_RADIUS_UM = (0.22, 0.55)
# Nucleus per droplet at a surplus of 1: most of it stays in clusters too small to be seen.
_UM3_PER_DROPLET = 14.0
_MOST = 24


@dataclass(frozen=True)
class Droplets:
    """Droplets of one field: (m, 3) centres (z, y, x) in µm, radii, and whose they are."""

    place_um: Values
    radius_um: Values
    owner: Indices

    def __len__(self) -> int:
        return len(self.owner)

    @property
    def volume_um3(self) -> Values:
        """Volumes of the balls."""
        return 4 / 3 * np.pi * self.radius_um**3

    def take(self, chosen: NDArray[np.bool_]) -> Droplets:
        """Return the chosen ones."""
        return Droplets(self.place_um[chosen], self.radius_um[chosen], self.owner[chosen])


def express(rng: np.random.Generator, count: int) -> Values:
    """Draw how much of the protein cells hold after transient transfection.

    Lognormal with a coefficient of variation of 1, and a fifth of the cells without any.
    """
    sigma = np.sqrt(np.log1p(EXPRESSION_CV**2))
    level = np.exp(sigma * rng.standard_normal(count))
    dark = rng.random(count) >= TRANSFECTED
    return quantise(np.where(dark, _DARK, level.clip(0.05, 6.0)), 2.0**-10)


def condense(
    rng: np.random.Generator,
    nuclei: Nuclei,
    level: Values,
    saturation: float,
    apart_um: tuple[float, float],
) -> Droplets:
    """Gather what is above the saturation concentration in droplets.

    Parameters
    ----------
    rng
        Random stream. Numbers are drawn alike whatever the saturation, so that cells that are
        above it in two worlds differ by their surplus alone.
    nuclei, level
        Nuclei and how much they hold.
    saturation
        The saturation concentration.
    apart_um
        Least distance of two droplets in the plane, and along z where they are one above the
        other: closer ones have fused.
    """
    surplus = np.maximum(level - saturation, 0)
    wanted = surplus * nuclei.volume_um3 / _UM3_PER_DROPLET
    spread = rng.gamma(3.0, 1 / 3.0, len(nuclei))
    count = np.ceil((wanted * spread).clip(0, _MOST)).astype(np.int64)
    squeeze = np.array([apart_um[0] / apart_um[1], 1.0, 1.0])
    parts: list[tuple[Values, Values, Indices]] = []
    for index, number in enumerate(count.tolist()):
        # The drawing does not depend on the number, so that the first ones stay where they are.
        raw = rng.uniform(-1, 1, (4 * _MOST, 3))
        size = _DROPLET_UM3 * np.exp(0.45 * rng.standard_normal(4 * _MOST))
        if not number:
            continue
        long = float(nuclei.axes_um[index, 1])
        reach = np.array([nuclei.axes_um[index, 0], long, long])
        place = quantise(nuclei.centre_um[index] + raw * reach, _FINE)
        fits = inside(nuclei, index, place) < 0.86
        place, size = place[fits], size[fits]
        kept = np.flatnonzero(keep_apart(place * squeeze, apart_um[0]))[:number]
        radius = np.cbrt(size[kept] * 3 / 4 / np.pi).clip(*_RADIUS_UM)
        parts.append((place[kept], quantise(radius, _FINE), np.full(len(kept), index)))
    if not parts:
        return Droplets(np.zeros((0, 3)), np.zeros(0), np.zeros(0, np.int64))
    place, radius, owner = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Droplets(place, radius, owner)


def add_droplets(
    volume: NDArray[np.float32],
    droplets: Droplets,
    step_um: tuple[float, float, float],
    density: float = DENSE,
) -> None:
    """Add the dense phase to a grid: each droplet as a cloud of points spread evenly in its ball.

    Parameters
    ----------
    volume
        Samples (z, y, x), changed in place.
    droplets
        What to add.
    step_um
        Distance of samples.
    density
        Concentration inside.
    """
    if not len(droplets):
        return
    owner, flat = _samples(volume.shape, droplets, step_um)
    share = density * droplets.volume_um3 / len(_cloud()) / float(np.prod(step_um))
    weight = quantise(share, 2.0**-14)[owner]
    places, number = np.unique(flat, return_inverse=True)
    volume.reshape(-1)[places] += np.bincount(number, weight).astype(np.float32)


def droplet_mask(
    shape: tuple[int, ...], droplets: Droplets, step_um: tuple[float, float, float]
) -> NDArray[np.uint8]:
    """Return which voxels droplets reach into: 1, others 0."""
    mask = np.zeros(shape, np.uint8)
    mask.reshape(-1)[_samples(shape, droplets, step_um)[1]] = 1
    return mask


def _samples(
    shape: tuple[int, ...], droplets: Droplets, step_um: tuple[float, float, float]
) -> tuple[Indices, Indices]:
    """Return the points of all clouds within a grid: whose they are, and where (flat index)."""
    place = droplets.place_um[:, None, :] + droplets.radius_um[:, None, None] * _cloud()
    index = np.floor(place / step_um).astype(np.int64)
    there = ((index >= 0) & (index < shape)).all(axis=2)
    flat = np.ravel_multi_index(tuple(index[there].T), shape)
    return np.nonzero(there)[0], flat.astype(np.int64)


def _cloud() -> Values:
    """Return points spread evenly in the unit ball: those of a cubic lattice."""
    side = (np.arange(9) - 4) / 4.25
    grid = np.stack(np.meshgrid(side, side, side, indexing="ij"), axis=-1).reshape(-1, 3)
    return np.asarray(grid[(grid**2).sum(axis=1) < 1])
