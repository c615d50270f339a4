"""The end of a cell division in 3D: chromosomes part, and two nuclei grow inside the cell.

Lengths are in µm, times in minutes after the sister chromosomes begin to move, axes are zyx. A
nucleus is an ellipsoid of revolution round the axis of division, bent a little and with a lumpy
outline; depth below its surface is what masks, envelope and inner core are drawn from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evals.simulation.optics import gaussian_psf_blur
from evals.simulation.quantise import quantise

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FINE = 2.0**-12
# Metaphase plates of human cells are about 3 µm thick and 11 µm wide; sisters part by some
# 2 µm a minute at first and come to rest about 11 µm apart (HeLa).
_PLATE_UM = 1.3
_APART_UM = 11.0
_PARTING_MIN = 3.0
_CELL_UM = 9.0
_LUMPS = ((0, 1), (0, 2), (1, 2), (0, 0))
_GRAIN = 40


@dataclass(frozen=True)
class Shape:
    """Both sets of chromosomes at one time.

    Attributes
    ----------
    separation
        Distance of their centres.
    thickness
        Half axis along the axis of division.
    width
        Half axes across it.
    """

    separation: float
    thickness: float
    width: float

    @property
    def gap(self) -> float:
        """Free space between the two sets, negative while they are one plate."""
        return self.separation - 2 * self.thickness

    @property
    def volume_um3(self) -> float:
        """Of one set."""
        return 4 / 3 * np.pi * self.thickness * self.width**2

    @property
    def surface_um2(self) -> float:
        """Of one set, by Thomsen's formula for ellipsoids, which is within 1.2 %."""
        p = 1.6075
        across, along = (self.width**2) ** p, (self.thickness * self.width) ** p
        return float(4 * np.pi * ((across + 2 * along) / 3) ** (1 / p))


@dataclass(frozen=True)
class Division:
    """One dividing cell.

    Attributes
    ----------
    size
        Linear size of everything, 1 for a HeLa cell.
    centre
        Of the cell at time 0, shape (3,).
    drift
        Of the cell per minute, shape (3,).
    axis
        Unit vector from the first daughter to the second, shape (3,).
    speed
        Of the parting, 1 on average.
    lumps
        Amplitudes of the outline's lumps, shape (2, 4), by daughter.
    grain
        Unevenness of the stain in the chromatin, mean 1, on a cube of samples.
    """

    size: float
    centre: NDArray[np.float64]
    drift: NDArray[np.float64]
    axis: NDArray[np.float64]
    speed: float
    lumps: NDArray[np.float64]
    grain: NDArray[np.float64]

    def shape(self, minute: float) -> Shape:
        """Return the size of the chromosome sets and how far apart they are."""
        late = max(minute, 0.0) * self.speed
        moved = 1 - float(np.exp(-late / _PARTING_MIN))
        swollen = late**2 / (late**2 + 16.0**2)
        thickness = _PLATE_UM - 0.25 * moved + 1.9 * swollen
        width = 4.6 - 0.7 * moved + 0.7 * swollen
        separation = 0.9 + (_APART_UM - 0.9) * moved
        values = quantise(np.array([separation, thickness, width]) * self.size, _FINE)
        return Shape(*values.tolist())

    def centres(self, minute: float) -> NDArray[np.float64]:
        """Return the centres of both sets, shape (2, 3)."""
        middle = self.centre + self.drift * minute
        half = self.axis * (self.shape(minute).separation / 2)
        return quantise(np.stack([middle - half, middle + half]), _FINE)

    def minute_of_gap(self, gap_um: float) -> float:
        """Return when the free space between the sets reaches a width, to a hundredth minute."""
        minutes = np.arange(0, 1500) / 100
        wide = [self.shape(minute).gap >= gap_um for minute in minutes.tolist()]
        return float(minutes[int(np.argmax(wide))])


def draw_division(
    rng: np.random.Generator, size: float, middle: tuple[float, float, float], drift_um: float
) -> Division:
    """Draw a cell whose axis of division lies nearly along x.

    Parameters
    ----------
    rng
        Random stream.
    size
        Linear size, 1 for a HeLa cell.
    middle
        About where the cell lies when its chromosomes part.
    drift_um
        How far it may drift within 100 minutes, in each direction.
    """
    tilt, turn = rng.normal(0, 0.08), rng.normal(0, 0.15)
    axis = np.array([tilt, turn, 1.0])
    lumps = np.clip(rng.normal(0, 0.06, (2, len(_LUMPS))), -0.12, 0.12)
    noise = gaussian_psf_blur(rng.standard_normal((_GRAIN, _GRAIN, _GRAIN)), (2.0, 1.6, 1.6))
    grain = 1 + 0.22 * noise / np.sqrt((noise**2).mean())
    return Division(
        size=float(quantise(size * rng.uniform(0.96, 1.04), _FINE)),
        centre=quantise(np.array(middle) + rng.uniform(-0.3, 0.3, 3) * size, _FINE),
        drift=quantise(rng.uniform(-1, 1, 3) * np.array([0.3, 1, 1]) * drift_um / 100, 2.0**-20),
        axis=quantise(axis / np.sqrt((axis**2).sum()), _FINE),
        speed=float(quantise(rng.uniform(0.9, 1.1), _FINE)),
        lumps=quantise(lumps, _FINE),
        grain=quantise(np.clip(grain, 0.3, 1.8), _FINE),
    )


@dataclass(frozen=True)
class Window:
    """A box of fine samples round a nucleus, clipped to the field.

    Attributes
    ----------
    place
        Slices into the fine grid of the field.
    depth
        Depth below the surface in µm at each sample, negative outside; exact at the surface.
    grain
        Unevenness of the stain, shape of `depth`.
    """

    place: tuple[slice, slice, slice]
    depth: NDArray[np.float64]
    grain: NDArray[np.float64]


def nucleus_window(
    division: Division, minute: float, which: int, grid: tuple[int, int, int], step_um: float
) -> Window | None:
    """Sample one nucleus on the part of a grid that it may fill, with room for its envelope.

    Parameters
    ----------
    division
        The cell.
    minute
        Time.
    which
        0 or 1.
    grid
        Samples of the whole field along z, y, x; the first lies at 0 µm.
    step_um
        Their distance.
    """
    shape, centre = division.shape(minute), division.centres(minute)[which]
    reach = 1.25 * max(shape.width, shape.thickness) + 0.8
    low = np.maximum(np.ceil((centre - reach) / step_um).astype(int), 0)
    high = np.minimum(np.floor((centre + reach) / step_um).astype(int) + 1, grid)
    if (high - low < 1).any():
        return None
    spans = [np.arange(a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    z, y, x = (
        (span * step_um - at).reshape([-1 if k == axis else 1 for k in range(3)])
        for axis, (span, at) in enumerate(zip(spans, centre.tolist(), strict=True))
    )
    outward = division.axis * (1 if which else -1)
    depth = _depth(z, y, x, outward, shape, division.lumps[which])
    anchor = np.rint(centre / step_um).astype(int) - _GRAIN // 2
    # Chromatin moves with its nucleus.
    picked = [
        (span - start + 7 * which) % _GRAIN for span, start in zip(spans, anchor, strict=True)
    ]
    place = (slice(low[0], high[0]), slice(low[1], high[1]), slice(low[2], high[2]))
    return Window(place, depth, division.grain[np.ix_(*picked)])


def _depth(
    z: NDArray[np.float64],
    y: NDArray[np.float64],
    x: NDArray[np.float64],
    outward: NDArray[np.float64],
    shape: Shape,
    lumps: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Evaluate depth with sums, products and roots alone, which are the same everywhere."""
    along = z * outward[0] + y * outward[1] + x * outward[2]
    squared = z * z + y * y + x * x
    across2 = np.maximum(squared - along * along, 0.0)
    # The rims of the sets trail behind their middles.
    bent = along + 0.25 * shape.thickness * (across2 / shape.width**2 - 0.5)
    p, q = bent / shape.thickness, across2 / shape.width**2
    level = np.sqrt(p * p + q)
    slope = np.sqrt(p * p / shape.thickness**2 + q / shape.width**2) / np.maximum(level, 1e-6)
    slope = np.maximum(slope, 1 / shape.width)
    length = np.sqrt(squared) + 1e-6
    unit = (z / length, y / length, x / length)
    lump: Any = sum(
        float(amplitude) * unit[one] * unit[other]
        for amplitude, (one, other) in zip(lumps, _LUMPS, strict=True)
    )
    return np.asarray((1 + lump - level) / slope)


def cell_body(
    division: Division,
    minute: float,
    planes_um: NDArray[np.float64],
    field: tuple[int, int],
    step_um: float,
) -> NDArray[np.float64]:
    """Return how much of each voxel lies in the cell: a ball that pinches in and becomes two.

    Parameters
    ----------
    division
        The cell.
    minute
        Time.
    planes_um
        Heights of the planes.
    field
        Rows and columns.
    step_um
        Width of a pixel.
    """
    middle = division.centre + division.drift * minute
    part = division.shape(minute).separation / (_APART_UM * division.size)
    half = division.axis * (0.55 * part * _CELL_UM * division.size * 0.75)
    radius = _CELL_UM * division.size * (1 - 0.2 * part)
    z, y, x = planes_um[:, None, None], *np.ogrid[: field[0], : field[1]]
    inside = []
    for sign in (-1, 1):
        centre = middle + sign * half
        # Cells are flatter than they are wide.
        away2 = 1.3 * (z - centre[0]) ** 2 + (y * step_um - centre[1]) ** 2
        away2 = away2 + (x * step_um - centre[2]) ** 2
        inside.append(radius - np.sqrt(away2))
    return np.asarray(np.clip(np.maximum(*inside) / (2 * step_um) + 0.5, 0.0, 1.0))
