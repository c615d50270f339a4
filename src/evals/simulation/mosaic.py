"""A sample scanned tile by tile: where the stage really stood, and the tiles fused in their places.

A stage that comes back from the other side stops short by its backlash, so in a serpentine scan
every second row is displaced; each stop errs a little besides, and a camera is never quite square
to the stage.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.quantise import quantise

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Plane = NDArray[np.uint16]
    Field = NDArray[np.float64]

# Stage errors are cut off here, in standard deviations: stages that err more are repaired.
_FARTHEST = 2.0


@dataclass(frozen=True)
class Grid:
    """A square grid of square tiles.

    Attributes
    ----------
    side
        Tiles along each axis.
    tile_px, overlap_px
        Width of a tile and of what neighbours are meant to share.
    """

    side: int
    tile_px: int
    overlap_px: int

    @property
    def step_px(self) -> int:
        """Distance of neighbouring tiles as meant."""
        return self.tile_px - self.overlap_px

    @property
    def extent_px(self) -> int:
        """Width of the mosaic as meant."""
        return self.step_px * (self.side - 1) + self.tile_px

    def serpentine(self) -> NDArray[np.int64]:
        """Return row and column of each tile in the order of scanning, shape (tiles, 2)."""
        row, column = np.divmod(np.arange(self.side**2), self.side)
        return np.stack([row, np.where(row % 2, self.side - 1 - column, column)], axis=1)


@dataclass(frozen=True)
class Stage:
    """How a stage errs, in pixels.

    Attributes
    ----------
    error_px
        Standard deviation of each stop along each axis.
    backlash_px
        How far rows that are scanned backwards lag behind.
    skew
        Angle between stage and camera in radians.
    """

    error_px: float
    backlash_px: float
    skew: float = 0.003


def true_places(rng: np.random.Generator, grid: Grid, stage: Stage) -> Field:
    """Return the upper left corner of each tile (y, x) in scanning order, shape (tiles, 2).

    The first tile is where it is meant to be; all are multiples of 1/64 px.
    """
    stops = grid.serpentine()
    error = np.clip(rng.standard_normal(stops.shape), -_FARTHEST, _FARTHEST) * stage.error_px
    backwards = (stops[:, 0] % 2).astype(np.float64)
    lag = np.stack([0 * backwards, stage.backlash_px * backwards], axis=1)
    turned = stops[:, ::-1] * np.array([stage.skew, -stage.skew])
    places = grid.step_px * (stops + turned) + lag + error
    return quantise(places - places[0])


def blend_weights(tile_px: int, ramp_px: int) -> Field:
    """Return the weight of each pixel of a tile: 1 inside, falling linearly to its edges."""
    near = np.minimum(np.arange(tile_px), np.arange(tile_px)[::-1]) + 1.0
    ramp = np.minimum(near / (ramp_px + 1.0), 1.0)
    return np.asarray(ramp[:, None] * ramp[None, :], dtype=np.float64)


def shift_by_fraction(plane: Field, fraction: tuple[float, float]) -> Field:
    """Move an image by less than a pixel, in Fourier space.

    White noise stays white, unlike with interpolation, and no detail is lost. The edges are
    mirrored, so that nothing comes in from the other side.
    """
    from scipy import fft

    if fraction == (0.0, 0.0):
        return plane
    pad = 8
    wide = np.pad(plane, pad, mode="symmetric")
    shape = wide.shape
    waves = [
        np.fft.fftfreq(shape[0])[:, None] * fraction[0],
        np.fft.rfftfreq(shape[1]) * fraction[1],
    ]
    spectrum = fft.rfft2(wide) * np.exp(-2j * np.pi * waves[0]) * np.exp(-2j * np.pi * waves[1])
    moved: Field = fft.irfft2(spectrum, shape)
    return moved[pad:-pad, pad:-pad]


@dataclass(frozen=True)
class Fusion:
    """How tiles become one plane.

    Attributes
    ----------
    places
        Upper left corners in the mosaic, 0 or more, shape (tiles, 2).
    shape
        Rows and columns of the mosaic.
    weights
        Of each pixel of a tile, shape (tile, tile).
    """

    places: Field
    shape: tuple[int, int]
    weights: Field

    def covered(self) -> NDArray[np.bool_]:
        """Return where tiles lie, shape `shape`."""
        tile, shown = self.weights.shape[0], np.zeros(self.shape, np.bool_)
        for top, left in np.floor(self.places).astype(np.int64):
            shown[top : top + tile, left : left + tile] = True
        return shown

    def plane(self, read: Callable[[int], Plane], light: Field) -> Plane:
        """Fuse one plane: even the light out, move to a fraction of a pixel, blend.

        Parameters
        ----------
        read
            Gives the plane of a tile.
        light
            Illumination within a tile, 1 at its brightest, shape (tile, tile).

        Returns
        -------
        NDArray[np.uint16]
            The mosaic, 0 where no tile lies. Worked out band by band, so that memory follows the
            tile and not the mosaic.
        """
        tile = self.weights.shape[0]
        whole = np.floor(self.places).astype(np.int64)
        fused = np.zeros(self.shape, np.uint16)
        edges = [*range(0, self.shape[0], tile), self.shape[0]]
        for top, bottom in pairwise(edges):
            total = np.zeros((bottom - top, self.shape[1]))
            weight = np.zeros_like(total)
            reached = (whole[:, 0] < bottom) & (whole[:, 0] + tile > top)
            for index in np.flatnonzero(reached):
                own, at = self._moved(read(int(index)), light, int(index)), whole[index]
                first, last = max(int(at[0]), top), min(int(at[0]) + tile, bottom)
                rows = slice(first - int(at[0]), last - int(at[0]))
                place = (slice(first - top, last - top), slice(int(at[1]), int(at[1]) + tile))
                total[place] += own[rows] * self.weights[rows]
                weight[place] += self.weights[rows]
            fused[top:bottom] = _counts(total, weight)
        return fused

    def _moved(self, plane: Plane, light: Field, index: int) -> Field:
        flat = plane.astype(np.float64) / light
        part = self.places[index] - np.floor(self.places[index])
        return shift_by_fraction(flat, (float(part[0]), float(part[1])))


def _counts(total: Field, weight: Field, rows: int = 128) -> Plane:
    """Divide, round and clip, some rows at a time; 0 where nothing was added."""
    counts = np.zeros(total.shape, np.uint16)
    for start in range(0, len(total), rows):
        part = slice(start, start + rows)
        mean = total[part] / np.maximum(weight[part], 1e-12)
        counts[part] = np.rint(np.clip(quantise(mean), 0, 65535)).astype(np.uint16)
    return counts
