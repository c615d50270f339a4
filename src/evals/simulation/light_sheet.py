"""How a light-sheet microscope sees vessels in cleared tissue, plane by plane.

The sheet comes in from the left, along x, and is thinnest in the middle of the field; the camera
looks along z. On its way the sheet gets dimmer and throws shadows behind whatever absorbs it, which
show as stripes along x. What lies deeper in z is dimmed on the way to the camera.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.optics import (
    SIGMA_PER_FWHM,
    bin_mean,
    camera,
    gaussian_kernel,
    gaussian_psf_blur,
)
from evals.simulation.quantise import quantise, stream
from evals.simulation.texture import smooth_noise
from evals.simulation.tubes import Grid, Tubes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Plane = NDArray[np.float32]

FINE = 2  # samples per voxel along each axis
# Tissue differs over tens of µm (bundles of fibres), the illumination over hundreds.
_BUNDLE_UM, _KEYFRAME = 11.0, 16


@dataclass(frozen=True)
class Sheet:
    """The light and the optics.

    Attributes
    ----------
    photons
        Electrons in a voxel that the stain of an average wall fills.
    background
        Tissue's own light as a share of that.
    lateral_um
        Standard deviation of the point spread across z.
    waist_um, flare
        Full width at half maximum of the point spread along z in the middle of the field, and by
        which factor it is wider at its left and right edge.
    depth_loss, sheet_loss
        Share of the light lost from the upper to the lower and from the left to the right side.
    stripes
        Depth of the shadows, standard deviation of the logarithm of the light.
    haze
        Share of the light that is scattered widely.
    specks
        Bright grains of dye per mm³ that are no vessels.
    """

    photons: float
    background: float
    lateral_um: float
    waist_um: float
    flare: float
    depth_loss: float
    sheet_loss: float
    stripes: float
    haze: float
    specks: float


@dataclass(frozen=True)
class Volume:
    """Planes, rows and columns, and the size of a voxel in µm."""

    shape: tuple[int, int, int]
    voxel_um: tuple[float, float, float]

    @property
    def size_um(self) -> tuple[float, float, float]:
        """Lengths of the three sides."""
        z, y, x = (n * step for n, step in zip(self.shape, self.voxel_um, strict=True))
        return z, y, x

    @property
    def grid(self) -> Grid:
        """The pixels of a plane."""
        return Grid(self.shape[1:], self.voxel_um[1])

    def depth_um(self, plane: int) -> float:
        """Depth of the middle of a plane."""
        return (plane + 0.5) * self.voxel_um[0]


def record(
    tubes: Tubes, volume: Volume, sheet: Sheet, seed: int, *keys: int
) -> Iterator[NDArray[np.uint16]]:
    """Yield the recorded planes from the surface downwards; memory follows a plane.

    Parameters
    ----------
    tubes
        The vessels.
    volume
        Planes to record.
    sheet
        Light and optics.
    seed, *keys
        Name the volume. What lies in the tissue has streams of its own, so that another sheet
        finds the same grains and bundles.
    """
    tissue = _tissue(volume, seed, *keys)
    shadow = _shadows(volume, seed, *keys)
    noise = stream(seed, *keys, 2)
    columns = volume.shape[2]
    across = (np.arange(columns) + 0.5) / columns
    along = quantise(np.exp(np.log1p(-sheet.sheet_loss) * across), 2.0**-16).astype(np.float32)
    wide = sheet.haze > 0
    grains = _grains(volume, sheet, seed, *keys)
    light = _through_sheet(_fine_planes(tubes, grains, volume, sheet), volume, sheet)
    for index, plane in enumerate(light):
        if wide:
            plane = (1 - sheet.haze) * plane + sheet.haze * gaussian_psf_blur(plane, 9.0)
        plane = plane + np.float32(sheet.background) * next(tissue)
        depth = float(np.exp(np.log1p(-sheet.depth_loss) * index / volume.shape[0]))
        dark = np.exp(sheet.stripes * next(shadow).astype(np.float64))
        factor = quantise(sheet.photons * depth * dark, 2.0**-10)
        yield camera(plane * along * factor, noise, offset_adu=100.0, read_noise_e=1.6)


def _fine_planes(
    tubes: Tubes, grains: NDArray[np.float64], volume: Volume, sheet: Sheet
) -> Iterator[Plane]:
    """Yield the stain of finely spaced planes, blurred across z, on the pixels of the volume."""
    half = _half_width(volume, sheet)
    step = volume.voxel_um[0] / FINE
    pixel = volume.voxel_um[1] / FINE
    grid = Grid((volume.shape[1] * FINE, volume.shape[2] * FINE), pixel)
    plane_of = np.floor(grains[:, 0] / step).astype(np.int64)
    for fine in range(-half, volume.shape[0] * FINE + half):
        stain = tubes.light((fine + 0.5) * step, grid)
        for _, y, x, bright in grains[plane_of == fine]:
            stain[int(y / pixel), int(x / pixel)] += np.float32(bright)
        yield bin_mean(gaussian_psf_blur(stain, sheet.lateral_um / pixel), FINE)


def _through_sheet(fine: Iterator[Plane], volume: Volume, sheet: Sheet) -> Iterator[Plane]:
    """Blur along z, the more the farther from the sheet's waist, and take every second plane."""
    half = _half_width(volume, sheet)
    step = volume.voxel_um[0] / FINE
    columns = volume.shape[2]
    kernels = []
    for fwhm in (sheet.waist_um, sheet.waist_um * sheet.flare):
        blur = gaussian_kernel(fwhm * SIGMA_PER_FWHM / step)
        blur = np.pad(blur, half - len(blur) // 2)
        # A voxel is as deep as FINE samples.
        shifted = [np.pad(blur, (k, FINE - 1 - k)) for k in range(FINE)]
        kernels.append(np.sum(shifted, axis=0) / FINE)
    edge = np.abs((np.arange(columns) + 0.5) / columns * 2 - 1) ** 2
    thin, thick = (kernel[:, None] for kernel in kernels)
    profile = quantise((1 - edge) * thin + edge * thick, 2.0**-20).astype(np.float32)
    window: deque[Plane] = deque(islice(fine, 2 * half), maxlen=2 * half + FINE)
    for _ in range(volume.shape[0]):
        window.extend(islice(fine, FINE))
        total = np.zeros(volume.shape[1:], np.float32)
        for plane, weight in zip(window, profile, strict=True):
            total += plane * weight
        yield total


def _half_width(volume: Volume, sheet: Sheet) -> int:
    step = volume.voxel_um[0] / FINE
    return len(gaussian_kernel(sheet.waist_um * sheet.flare * SIGMA_PER_FWHM / step)) // 2


def _tissue(volume: Volume, seed: int, *keys: int) -> Iterator[Plane]:
    """Yield the tissue's own light: 1 on average, with bundles of fibres and slow changes."""
    rng = stream(seed, *keys, 0)
    shape = volume.shape[1:]
    fields = [_field(rng, shape, volume.voxel_um[1]) for _ in range(2)]
    for index in range(volume.shape[0]):
        share = (index % _KEYFRAME) / _KEYFRAME
        if index and not index % _KEYFRAME:
            fields = [fields[1], _field(rng, shape, volume.voxel_um[1])]
        mixed = np.float32(1 - share) * fields[0] + np.float32(share) * fields[1]
        yield np.maximum(np.float32(1) + mixed, np.float32(0.3))


def _field(rng: np.random.Generator, shape: tuple[int, int], pixel_um: float) -> Plane:
    bundles = smooth_noise(rng, shape, _BUNDLE_UM / pixel_um)
    slow = smooth_noise(rng, shape, 60.0 / pixel_um)
    # Bundles of nerve fibres in the striatum are darker or brighter patches with clear borders.
    return np.float32(0.18) * np.clip(bundles, -1, 1) + np.float32(0.15) * slow


def _shadows(volume: Volume, seed: int, *keys: int) -> Iterator[Plane]:
    """Yield the shadows of a plane: fields of unit variance, long along x, coherent over planes."""
    rng = stream(seed, *keys, 1)
    rows, columns = volume.shape[1:]
    # Each row of a field is one height in one plane; a sheet is two or three planes thick.
    depth = volume.shape[0]
    narrow, broad = smooth_noise(rng, (depth, rows), 1.6), smooth_noise(rng, (depth, rows), 7.0)
    late = smooth_noise(rng, (depth, rows), 1.6)
    across = ((np.arange(columns, dtype=np.float32) + 0.5) / columns)[None, :]
    for index in range(depth):
        start, end = (field[index][:, None] for field in (narrow, late))
        fine = start * (1 - across) + end * across
        yield np.float32(0.75) * fine + np.float32(0.6) * broad[index][:, None]


def _grains(volume: Volume, sheet: Sheet, seed: int, *keys: int) -> NDArray[np.float64]:
    """Return places (z, y, x) of grains in µm and how bright a fine sample they fill is.

    A sparser sample of the same order leaves the first ones where they are.
    """
    rng = stream(seed, *keys, 3)
    size = np.asarray(volume.size_um)
    mm3 = float(size.prod()) * 1e-9
    most = int(60_000 * mm3) + 1
    drawn = rng.random((most, 4))
    count = min(most, round(sheet.specks * mm3))
    bright = 15 + 75 * drawn[:count, 3:] ** 2
    return quantise(np.concatenate([drawn[:count, :3] * size * 0.9999, bright], axis=1))
