"""Fluorescence of cell membranes in a cleared-out stack: sheets of light seen through a PSF.

A flat sheet of dye blurred by a Gaussian point spread function is again a Gaussian across the
sheet, whose variance is that of the PSF along the sheet's normal. This closed form stands for
infinite supersampling: no mask is ever drawn on the pixel grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.cells3d import Cells, Slab, cut_slab
from evals.simulation.optics import FWHM_PER_SIGMA, gaussian_psf_blur
from evals.simulation.primordium import draw_wave, undulation
from evals.simulation.quantise import quantise
from evals.simulation.skin import Skin, grow_skin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Grid = NDArray[np.float32]

_FINE = 2.0**-16
# exp(-t) at t = k / 128. A table, because NumPy's exponential differs between processors.
_STEPS = 128
_DECAY = quantise(np.exp(-np.arange(12 * _STEPS) / _STEPS), _FINE).astype(np.float32)
_DECAY[-1] = 0
# Beyond this difference of squared distances (µm²) no wall is seen.
_GAP = 10.0
# Dye in the skin relative to an ordinary wall.
_SKIN = np.float32(0.8)


@dataclass(frozen=True)
class Imaging:
    """How a stack is recorded; difficulty moves these numbers and nothing else.

    Attributes
    ----------
    photons
        Detected photons at the middle of an ordinary wall that stands upright, at the surface.
    decay_um
        Depth over which the signal falls to 1/e.
    haze
        Out-of-focus light inside the tissue, share of `photons`.
    background
        Photons of a voxel outside the tissue.
    fwhm_um
        Full widths at half maximum of the PSF, axial and lateral.
    counts
        Grey levels per photon of the 8-bit export.
    step
        The focus stops at every so many planes of the tissue's grid.
    """

    photons: float
    decay_um: float
    haze: float
    background: float = 0.4
    fwhm_um: tuple[float, float] = (0.4, 0.14)
    counts: float = 4.0
    step: int = 1


@dataclass(frozen=True)
class Dye:
    """Amount of membrane dye, relative to an ordinary wall.

    Attributes
    ----------
    walls
        (N + 1, N + 1) symmetric: wall between two labels; row 0: free surface of each cell.
    patches
        (M, 3, 3) undulations by which the dye varies along the walls.
    vesicles
        (K, 3) positions z, y, x in µm of bright vesicles.
    skin
        What covers the tissue; it carries dye as well but is no part of the reference.
    """

    walls: Grid
    patches: NDArray[np.float64]
    vesicles: NDArray[np.float64]
    skin: Skin


def stain(
    cells: Cells,
    rng: np.random.Generator,
    *,
    weak_share: float = 0.1,
    vesicles_per_cell: float = 2.0,
) -> Dye:
    """Draw the dye on every wall; a share of the walls is nearly empty."""
    count = len(cells.seeds) + 1
    level = np.exp(rng.normal(0, 0.22, (count, count)))
    weak = rng.random((count, count)) < weak_share
    weak[0] = False
    level = np.where(weak, rng.uniform(0.12, 0.35, (count, count)), level)
    walls = np.triu(level) + np.triu(level, 1).T
    size = np.array(cells.tissue.shape) * np.array(cells.tissue.voxel_um)
    spots = quantise(rng.random((int(vesicles_per_cell * count * 2), 3)) * size, _FINE)
    patches = np.stack([draw_wave(rng, (0.15, 0.25), (1.2, 5.0)) for _ in range(5)])
    skin = grow_skin(cells.tissue, rng)
    return Dye(quantise(walls, _FINE).astype(np.float32), patches, spots, skin)


def image_slabs(
    cells: Cells, dye: Dye, imaging: Imaging, rng: np.random.Generator, planes: int = 8
) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.uint16]]]:
    """Record a stack from top to bottom, a slab of the tissue's planes at a time.

    Parameters
    ----------
    cells, dye
        The scene.
    imaging
        How it is recorded.
    rng
        Random stream of the noise.
    planes
        Planes of a slab; the result does not depend on it.

    Yields
    ------
    tuple
        8-bit image and reference labels (0: outside the tissue), both (Z, Y, X), of the planes
        that the focus stops at.
    """
    total = cells.tissue.shape[0]
    for start in range(0, total, planes):
        slab = cut_slab(cells, start, min(start + planes, total))
        labels, photons = expose(cells, dye, imaging, slab, start)
        stops = slice(-start % imaging.step, None, imaging.step)
        yield _export(photons[stops], imaging, rng), labels[stops]


def expose(
    cells: Cells, dye: Dye, imaging: Imaging, slab: Slab, start: int
) -> tuple[NDArray[np.uint16], Grid]:
    """Return reference labels and mean photons of a slab that begins at plane `start`."""
    variance = _variances(cells, imaging)
    at, squared, normal_z = _walls(cells, slab)
    surface = slab.depth - _dip(slab, at, squared)
    inside = surface > 0
    first, second = slab.first.ravel()[at], slab.second.ravel()[at]
    flat = np.zeros(slab.first.size, np.float32)
    flat[at] = dye.walls[first, second] * _sheet(squared, normal_z, variance) * inside.ravel()[at]
    light: Grid = flat.reshape(slab.first.shape)
    light += dye.walls[0][slab.first] * _sheet(surface * surface, slab.slope_z, variance)
    depth_um = (start + np.arange(slab.first.shape[0]) + 0.5) * cells.tissue.voxel_um[0]
    _add_skin(light, dye.skin, depth_um.astype(np.float32)[:, None, None], variance)
    light *= _patchiness(cells, dye, slab, start)
    light += np.float32(imaging.haze) * np.clip(slab.depth + np.float32(0.5), 0, 1)
    _add_vesicles(light, dye, cells, slab, start)
    fading = quantise(np.exp(-depth_um / imaging.decay_um), _FINE).astype(np.float32)
    photons = light * (np.float32(imaging.photons) * fading[:, None, None])
    photons += np.float32(imaging.background)
    return np.where(inside, slab.first, 0).astype(np.uint16), photons


def _variances(cells: Cells, imaging: Imaging) -> tuple[np.float32, np.float32]:
    """Axial and lateral variance in µm² of PSF and voxel together."""
    pitch = cells.tissue.voxel_um[0], cells.tissue.voxel_um[2]
    axial, lateral = (
        (fwhm / FWHM_PER_SIGMA) ** 2 + width**2 / 12
        for fwhm, width in zip(imaging.fwhm_um, pitch, strict=True)
    )
    return np.float32(axial), np.float32(lateral)


def _sheet(squared_um2: Grid, normal_z: Grid, variance: tuple[np.float32, np.float32]) -> Grid:
    """Brightness of a blurred sheet; 1 in the middle of one that stands along z."""
    axial, lateral = variance
    across = lateral + normal_z * (axial - lateral)
    step = np.minimum(squared_um2 / across * np.float32(_STEPS / 2), np.float32(len(_DECAY) - 1))
    return np.asarray(_DECAY[step.astype(np.int32)] * np.sqrt(lateral / across))


def _walls(cells: Cells, slab: Slab) -> tuple[NDArray[np.int64], Grid, Grid]:
    """Find voxels near walls: flat index, squared distance in µm², squared z of the normal."""
    at = np.flatnonzero((slab.gap < _GAP) & (slab.depth > -1))
    padded = slab.warped[0].shape
    strides = padded[1] * padded[2], padded[2], 1
    z, y, x = np.unravel_index(at, slab.first.shape)
    there = (z + 1) * strides[0] + (y + 1) * strides[1] + (x + 1)
    seeds = cells.seeds.astype(np.float32)
    away = 2 * (seeds[slab.first.ravel()[at] - 1] - seeds[slab.second.ravel()[at] - 1])
    slopes = []
    for stride, voxel in zip(strides, cells.tissue.voxel_um, strict=True):
        slope = np.zeros(at.size, np.float32)
        for axis, grid in enumerate(slab.warped):
            flat = grid.ravel()
            slope += away[:, axis] * (flat[there + stride] - flat[there - stride])
        slopes.append(slope * np.float32(0.5 / voxel))
    steepness = slopes[0] * slopes[0] + slopes[1] * slopes[1] + slopes[2] * slopes[2]
    gap = slab.gap.ravel()[at]
    return at, gap * gap / steepness, slopes[0] * slopes[0] / steepness


def _dip(slab: Slab, at: NDArray[np.int64], squared_um2: Grid) -> Grid:
    """Return by how many µm the free surface sinks where two cells meet under it."""
    dip = np.zeros(slab.first.size, np.float32)
    close = np.maximum(1 - np.sqrt(squared_um2), 0)
    dip[at] = np.float32(0.6) * close * close
    return dip.reshape(slab.first.shape)


def _patchiness(cells: Cells, dye: Dye, slab: Slab, start: int) -> Grid:
    """Return the local amount of dye relative to its mean, at least a quarter."""
    z, y, x = (
        ((begin + np.arange(size)) * voxel).astype(np.float32).reshape(shape)
        for begin, size, voxel, shape in zip(
            (start, 0, 0),
            slab.first.shape,
            cells.tissue.voxel_um,
            ((-1, 1, 1), (1, -1, 1), (1, 1, -1)),
            strict=True,
        )
    )
    total = np.ones(slab.first.shape, np.float32)
    for wave in dye.patches:
        total += undulation(wave, z, y, x)
    return np.maximum(total, np.float32(0.25))


def _add_skin(light: Grid, skin: Skin, z: Grid, variance: tuple[np.float32, np.float32]) -> None:
    """Add the two sheets of the skin, which lie flat, and the walls between its cells."""
    if float(z.min()) > float(skin.low.max()) + 1:
        return
    flat, upright = np.ones((1, 1, 1), np.float32), np.zeros((1, 1), np.float32)
    for height in (skin.low, skin.high):
        light += _SKIN * _sheet((z - height) ** 2, flat, variance)
    between = (z > skin.high) & (z < skin.low)
    light += _SKIN * _sheet(skin.border, upright, variance) * between


def _add_vesicles(light: Grid, dye: Dye, cells: Cells, slab: Slab, start: int) -> None:
    """Add small bright bodies within cells, blurred spots of about 0.3 µm."""
    voxel = np.array(cells.tissue.voxel_um)
    centre = np.rint(dye.vesicles / voxel - 0.5).astype(np.int64)
    offsets = np.stack(np.meshgrid(*[np.arange(-3, 4)] * 3, indexing="ij"), -1).reshape(-1, 3)
    where = centre[:, None] + offsets
    apart = ((where + 0.5) * voxel - dye.vesicles[:, None]) ** 2
    spread = apart[..., 0] / 0.05 + (apart[..., 1] + apart[..., 2]) / 0.02
    bright = quantise(1.1 * np.exp(-spread / 2), _FINE).astype(np.float32)
    where = where - np.array([start, 0, 0])
    held = ((where >= 0) & (where < light.shape)).all(axis=-1)
    spots = tuple(where[held].T)
    bright = bright[held] * (slab.depth[spots] > np.float32(0.3))
    np.add.at(light, spots, bright)


def _export(photons: Grid, imaging: Imaging, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Draw shot noise and smooth it over neighbours, as the detector array's processing does."""
    drawn = rng.poisson(quantise(photons)).astype(np.float32)
    smooth = gaussian_psf_blur(drawn, (0, 0.6, 0.6))
    grey = np.rint(np.float32(imaging.counts) * (smooth - np.float32(imaging.background)))
    return np.asarray(np.clip(grey, 0, 255).astype(np.uint8))
