"""A wound in a sheet of cells: edges, velocities, and what is carried along by them.

Cells at the edge move first; the motion spreads into the sheet as a wave that runs backwards (A.
Zaritsky and others 2014). On top, groups of neighbours swirl: velocities are correlated over some
150 µm and for an hour or two. Cells and their granules go along, each with a little motion of its
own, and granules come and go, so that the texture is never quite the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.optics import gaussian_psf_blur
from evals.simulation.quantise import quantise
from evals.simulation.scatter import keep_apart
from evals.simulation.texture import smooth_noise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Field = NDArray[np.float64]

EDGE_FASTEST, ALL_ALIKE, DEPTH_FASTEST = range(3)
# The correlation of a Gaussian field of standard deviation s falls to 1/e at 2 s.
_SWIRL_SIGMA_UM = 65.0
_SWIRL_HOURS = 2.0


@dataclass(frozen=True)
class Motion:
    """How a sheet moves.

    Attributes
    ----------
    speed_um_h
        Of the fastest cells on average.
    towards, along
        Share of it that points at the gap, and along the wound.
    profile
        Where cells are fastest: EDGE_FASTEST, ALL_ALIKE or DEPTH_FASTEST.
    slowest
        Speed of the slowest cells as a share of that of the fastest.
    reach_um, wave_um_h
        Distance from the edge at which half of the lead is lost at first, and how fast it grows.
    swirl
        Standard deviation of each component of the swirls as a share of the speed.
    """

    speed_um_h: float
    towards: float = 1.0
    along: float = 0.0
    profile: int = EDGE_FASTEST
    slowest: float = 0.35
    reach_um: float = 50.0
    wave_um_h: float = 8.0
    swirl: float = 0.15


@dataclass(frozen=True)
class Wound:
    """A field with a gap along its columns, the sheet above and below.

    Attributes
    ----------
    shape
        Rows and columns, margins included.
    middle
        Row of the middle of the gap.
    upper, lower
        Row of either edge at the start for each column.
    closing
        Pairs of frames until the edges first touch.
    """

    shape: tuple[int, int]
    middle: float
    upper: Field
    lower: Field
    closing: int

    def cells(self) -> NDArray[np.bool_]:
        """Return where cells are at the start."""
        rows = np.arange(self.shape[0], dtype=np.float64)[:, None]
        return np.asarray((rows <= self.upper) | (rows >= self.lower))


def flow(
    rng: np.random.Generator,
    motion: Motion,
    wound: Wound,
    nominal_gap_px: float,
    pixel_um: float,
    interval_h: float,
) -> Iterator[Field]:
    """Yield the velocity of each place in µm/h, shape (2, rows, columns), rows first.

    In the gap cells go on as fast as at the edge. Once the edges have met, motion ebbs.
    """
    rows = np.arange(wound.shape[0], dtype=np.float64)[:, None]
    above = rows < wound.middle
    behind = np.where(above, wound.upper - rows, rows - wound.lower)
    depth_um = np.maximum(behind, 0) * pixel_um
    side = np.where(above, 1.0, -1.0)
    clamped = _clamped_rows(wound, nominal_gap_px)
    for time, swirl in enumerate(swirls(rng, wound.shape, pixel_um, interval_h)):
        reach = motion.reach_um + motion.wave_um_h * interval_h * time
        lead = 1 / (1 + (depth_um / reach) ** 2)
        calm = 0.6 ** max(0, time - wound.closing)
        speed = motion.speed_um_h * calm * _share(motion, lead)
        own = motion.swirl * motion.speed_um_h * calm * swirl[:, clamped[0], clamped[1]]
        yield quantise(
            np.stack([side * motion.towards * speed + own[0], motion.along * speed + own[1]])
        )


def swirls(
    rng: np.random.Generator, shape: tuple[int, int], pixel_um: float, interval_h: float
) -> Iterator[NDArray[np.float32]]:
    """Yield smooth random velocities of unit variance that change slowly, shape (2, Y, X)."""
    sigma = _SWIRL_SIGMA_UM / pixel_um
    keep = np.float32(np.exp(-interval_h / _SWIRL_HOURS).round(4))
    fresh = np.sqrt(1 - keep * keep)

    def draw() -> NDArray[np.float32]:
        return np.stack([smooth_noise(rng, shape, sigma) for _ in range(2)])

    now = draw()
    while True:
        yield now
        now = keep * now + fresh * draw()


def cut_wound(
    rng: np.random.Generator,
    swirl: Iterator[NDArray[np.float32]],
    motion: Motion,
    shape: tuple[int, int],
    closing: int,
    px_per_um_h: float,
) -> tuple[Wound, float]:
    """Cut a gap that closes after a number of frames, with wavy edges.

    Parameters
    ----------
    rng
        Random stream of the edges.
    swirl
        The sheet's swirls from the start, as `swirls` gives them.
    motion
        How the sheet moves; one that does not close the gap gets one of the width it would close.
    shape
        Rows and columns, margins included.
    closing
        Pairs of frames until the edges first touch.
    px_per_um_h
        Pixels that 1 µm/h makes from frame to frame.

    Returns
    -------
    wound, nominal
        The wound, and the width of the strip in which velocities are those of its rims.
    """
    middle = shape[0] / 2 + float(quantise(rng.uniform(-0.03, 0.03) * shape[0]))
    edge_speed = motion.speed_um_h * float(_share(motion, np.ones(1))[0])
    nominal = 1.4 * max(2 * motion.speed_um_h * closing * px_per_um_h, 20.0)
    wavy = [2.5 * _waves(rng, shape[1], length) for length in (14.0, 30.0)]
    upper, lower = wavy[0] + wavy[1], 2.5 * _waves(rng, shape[1], 20.0)
    flat = np.full(shape[1], middle)
    clamped = _clamped_rows(Wound(shape, middle, flat, flat, closing), nominal)
    approach = np.zeros(shape[1])
    for _, drift in zip(range(closing), swirl, strict=False):
        rims = drift[0][clamped]
        own = motion.swirl * motion.speed_um_h * (rims[int(middle) - 1] - rims[int(middle) + 1])
        approach += px_per_um_h * (2 * motion.towards * edge_speed + own)
    gap = float(np.max(approach + upper - lower)) if motion.towards > 0 else 0.7 * nominal
    gap = float(quantise(max(gap, 16.0)))
    upper, lower = (quantise(middle + part) for part in (upper - gap / 2, lower + gap / 2))
    return Wound(shape, middle, upper, lower, closing), nominal


def _waves(rng: np.random.Generator, length: int, sigma: float) -> Field:
    lines = smooth_noise(rng, (1 + int(8 * sigma), length), sigma)
    return np.asarray(lines[0], np.float64)


def _share(motion: Motion, lead: Field) -> Field:
    slow = motion.slowest
    if motion.profile == ALL_ALIKE:
        return np.full_like(lead, 0.7)
    if motion.profile == DEPTH_FASTEST:
        return 1 - (1 - slow) * lead
    return slow + (1 - slow) * lead


def _clamped_rows(wound: Wound, nominal: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each place the row and column whose swirl it has: the rim's, within the gap."""
    rows = np.arange(wound.shape[0], dtype=np.float64)[:, None]
    rim = np.where(
        rows < wound.middle,
        np.minimum(rows, wound.middle - nominal / 2),
        np.maximum(rows, wound.middle + nominal / 2),
    )
    row = np.clip(np.rint(rim), 0, wound.shape[0] - 1).astype(np.int64)
    return row, np.arange(wound.shape[1])[None, :]


@dataclass(frozen=True)
class Texture:
    """How cells look and how fast their looks change, in pixels and frames.

    Attributes
    ----------
    cell_px
        Distance of neighbouring cells.
    granules
        Number of granules of a cell.
    granule_life
        Frames that a granule lasts on average; cells last ten times as long.
    jitter_px
        Standard deviation of a granule's own motion from frame to frame; cells have a third of it.
    """

    cell_px: float
    granules: int
    granule_life: float
    jitter_px: float


class Carried:
    """Points that the sheet carries along: cells or granules."""

    def __init__(
        self,
        rng: np.random.Generator,
        wound: Wound,
        points: Field,
        life: float,
        jitter_px: float,
    ) -> None:
        self.rng, self.wound, self.life, self.jitter = rng, wound, life, jitter_px
        self.places = points
        self.weight = quantise(
            rng.uniform(0.5, 1.5, len(points)) * rng.choice([1, 1, 1, -0.6], len(points))
        )

    def move(self, velocity_px: Field, upper: Field, lower: Field) -> None:
        """Move by one frame; those that end, or leave the sheet, begin anew somewhere in it."""
        rows, columns = self.wound.shape
        row, column = self._pixels()
        step = velocity_px[:, row, column].T
        own = self.jitter * self.rng.standard_normal(self.places.shape)
        self.places = quantise(self.places + step + own, 2.0**-12)
        row, column = self._pixels()
        y = self.places[:, 0]
        lost = (y > upper[column] + 1) & (y < lower[column] - 1)
        lost |= (y < 0) | (y > rows - 1) | (self.places[:, 1] < 0)
        lost |= self.places[:, 1] > columns - 1
        lost |= self.rng.random(len(y)) < 1 / self.life
        fresh = scatter_in_sheet(self.rng, upper, lower, rows, len(y))
        self.places = np.where(lost[:, None], fresh, self.places)

    def _pixels(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        top = np.array(self.wound.shape) - 1
        row, column = np.clip(np.rint(self.places), 0, top).astype(np.int64).T
        return row, column

    def drawn(self) -> Field:
        """Return the points' weights on the grid, each shared among four pixels."""
        rows, columns = self.wound.shape
        low = np.clip(np.floor(self.places), 0, np.array([rows, columns]) - 2)
        part = self.places - low
        row, column = low.astype(np.int64).T
        total = np.zeros(rows * columns)
        for down in (0, 1):
            for right in (0, 1):
                share = np.where(down, part[:, 0], 1 - part[:, 0])
                share = share * np.where(right, part[:, 1], 1 - part[:, 1])
                place = (row + down) * columns + column + right
                total += np.bincount(place, share * self.weight, rows * columns)
        return total.reshape(rows, columns)


def scatter_in_sheet(
    rng: np.random.Generator, upper: Field, lower: Field, rows: int, count: int
) -> Field:
    """Draw random places in the sheet as it lies now, shape (count, 2)."""
    x = rng.uniform(0, len(upper) - 1, count)
    column = np.rint(x).astype(np.int64)
    above, below = upper[column], rows - 1 - lower[column]
    far = rng.random(count) * (above + below)
    y = np.where(far < above, far, lower[column] + far - above)
    return quantise(np.stack([y, x], axis=1), 2.0**-12)


def optical_paths(
    rng: np.random.Generator,
    wound: Wound,
    velocities: Iterator[Field],
    texture: Texture,
    px_per_um_h: float,
) -> Iterator[tuple[Field, Field]]:
    """Yield for each frame the optical path through the sheet, and the velocities from it on."""
    rows, columns = wound.shape
    upper, lower = wound.upper.copy(), wound.lower.copy()
    many = int(6 * rows * columns / texture.cell_px**2)
    points = scatter_in_sheet(rng, upper, lower, rows, many)
    points = points[keep_apart(points, texture.cell_px)]
    cells = Carried(rng, wound, points, 10 * texture.granule_life, texture.jitter_px / 3)
    cells.weight = np.abs(cells.weight)
    spots = scatter_in_sheet(rng, upper, lower, rows, texture.granules * len(points))
    granules = Carried(rng, wound, spots, texture.granule_life, texture.jitter_px)
    for velocity in velocities:
        sigma = texture.cell_px / 4
        height = 2 * np.pi * sigma**2 * gaussian_psf_blur(cells.drawn(), sigma)
        grain = 2 * np.pi * gaussian_psf_blur(granules.drawn(), 1.0)
        # Cells flatten where they are crowded, and are thin where there are none.
        yield 4.0 * height / (1 + 0.7 * height) + 0.9 * grain, velocity
        pixels = px_per_um_h * velocity
        cells.move(pixels, upper, lower)
        granules.move(pixels, upper, lower)
        column = np.arange(columns)
        for edge in (upper, lower):
            row = np.clip(np.rint(edge), 0, rows - 1).astype(np.int64)
            edge += pixels[0, row, column]
        met = upper > lower
        upper[met] = lower[met] = (upper[met] + lower[met]) / 2
