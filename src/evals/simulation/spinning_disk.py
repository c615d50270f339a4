"""How a spinning-disk confocal microscope records stained nuclei and droplets in space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.condensates import DENSE, Droplets, add_droplets
from evals.simulation.nuclei3d import each_nucleus, grain
from evals.simulation.optics import (
    SIGMA_PER_FWHM,
    bin_mean,
    camera,
    gaussian_kernel,
    gaussian_psf_blur,
)
from evals.simulation.quantise import quantise, stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from evals.simulation.nuclei3d import Nuclei, Values

    Light = NDArray[np.float32]

_HAZE_UM = 1.6
_NUCLEOLI = 3
_CYTOPLASM = 0.08
_SLAB_SAMPLES = 3_000_000


@dataclass(frozen=True)
class Optics:
    """A grid of voxels and the point spread.

    Attributes
    ----------
    shape
        Planes, rows, columns.
    voxel_um
        Their distances.
    oversample
        Samples per voxel along each axis.
    fwhm_um
        Full width at half maximum of the point spread along z and in the plane.
    """

    shape: tuple[int, int, int]
    voxel_um: tuple[float, float, float]
    oversample: int
    fwhm_um: tuple[float, float]

    @property
    def size_um(self) -> tuple[float, float, float]:
        """Size of the field along z, y, x."""
        z, y, x = (n * step for n, step in zip(self.shape, self.voxel_um, strict=True))
        return z, y, x

    @property
    def fine_um(self) -> tuple[float, float, float]:
        """Distance of samples."""
        z, y, x = (step / self.oversample for step in self.voxel_um)
        return z, y, x

    @property
    def fine_shape(self) -> tuple[int, int, int]:
        """Samples of the grid."""
        z, y, x = (n * self.oversample for n in self.shape)
        return z, y, x

    @property
    def parted_um(self) -> tuple[float, float]:
        """Distances in the plane and along z at which two droplets can just be told apart."""
        return self.fwhm_um[1], self.fwhm_um[0]


@dataclass(frozen=True)
class Exposure:
    """The light of one channel.

    Attributes
    ----------
    photons
        Electrons of a voxel full of stain 1.
    background
        Light from everywhere as a share of that.
    haze
        Light from the whole depth, through neighbouring pinholes, as a share of that in focus.
    bleaching
        Share of the light lost from the first to the last plane.
    """

    photons: float
    background: float
    haze: float
    bleaching: float


@dataclass(frozen=True)
class Uptake:
    """What each nucleus takes up of the fine grid.

    Attributes
    ----------
    samples, place
        Its number of samples, and its centroid in voxels (z, y, x).
    protein
        Sum of the protein over its samples.
    """

    samples: NDArray[np.int64]
    place: Values
    protein: Values


def stain(
    nuclei: Nuclei, dissolved: Values, droplets: Droplets, optics: Optics, *key: int
) -> tuple[list[Light], Uptake]:
    """Fill nuclei with DNA and with protein, dissolved and in droplets.

    Parameters
    ----------
    nuclei, dissolved, droplets
        What lies in the field; how concentrated the dissolved protein is in each nucleus.
    optics
        The grid.
    *key
        Seed and keys of the texture's stream.

    Returns
    -------
    tuple
        Both stains on the fine grid, DNA first, in a list from which they can be taken one by one;
        and what each nucleus holds.
    """
    shape, step = optics.fine_shape, optics.fine_um
    nearest = np.ones(shape, np.float32)
    owner = np.full(shape, -1, np.int16)
    dna, protein = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    for index, window, rho in each_nucleus(nuclei, shape, step):
        rng = stream(*key, index)
        texture = grain(rng, window, step)
        texture -= _nucleoli(rng, rho)
        mine = rho < nearest[window]
        np.copyto(nearest[window], rho, where=mine)
        np.copyto(owner[window], np.int16(index), where=mine)
        bright = np.float32(rng.uniform(0.8, 1.25))
        np.copyto(dna[window], bright * (1 + 0.2 * texture).clip(0.25), where=mine)
        full = np.float32(dissolved[index])
        np.copyto(protein[window], full * (1 + 0.16 * texture).clip(0.4), where=mine)
        around = (owner[window] < 0) & (rho < 1.28)
        cytoplasm = protein[window]
        cytoplasm[around] = np.maximum(cytoplasm[around], _CYTOPLASM * full)
    del nearest
    add_droplets(protein, droplets, step, DENSE)
    count, place, total = _sums(owner, protein, len(nuclei))
    return [dna, protein], Uptake(count, (place + 0.5) / optics.oversample - 0.5, total)


def _sums(
    owner: NDArray[np.int16], protein: Light, nuclei: int
) -> tuple[NDArray[np.int64], Values, Values]:
    """Return samples, centroids and protein of each nucleus, gone through plane by plane."""
    count = np.zeros(nuclei, np.int64)
    place, total = np.zeros((nuclei, 3)), np.zeros(nuclei)
    for z, (whose, light) in enumerate(zip(owner, protein, strict=True)):
        y, x = np.nonzero(whose >= 0)
        at = whose[y, x]
        here = np.bincount(at, minlength=nuclei)
        count += here
        place[:, 0] += z * here
        place[:, 1] += np.bincount(at, y, minlength=nuclei)
        place[:, 2] += np.bincount(at, x, minlength=nuclei)
        total += np.bincount(at, light[y, x], minlength=nuclei)
    return count, place / count.clip(1)[:, None], total


def _nucleoli(rng: np.random.Generator, rho: Light) -> Light:
    """Return by how much the texture is lower where nucleoli lie: balls near the middle."""
    shape = np.array(rho.shape)
    hole = np.zeros(rho.shape, np.float32)
    for _ in range(int(rng.integers(1, _NUCLEOLI + 1))):
        centre = quantise(shape * rng.uniform(0.36, 0.64, 3))
        radius = quantise(shape * rng.uniform(0.08, 0.13))
        z, y, x = (
            (((np.arange(n) - at) / wide) ** 2).astype(np.float32)
            for n, at, wide in zip(shape, centre, radius, strict=True)
        )
        near = z[:, None, None] + y[None, :, None] + x[None, None, :]
        hole = np.maximum(hole, np.float32(2.5) * (near < 1))
    return hole


def focus(samples: Light, optics: Optics) -> Light:
    """Blur by the point spread and integrate over voxels, a slab of planes at a time."""
    axial, lateral = optics.fwhm_um
    widths = (axial, lateral, lateral)
    sigma = [w * SIGMA_PER_FWHM / step for w, step in zip(widths, optics.fine_um, strict=True)]
    light = np.empty(optics.shape, np.float32)
    fine = optics.oversample
    # As many planes above and below as the blur reaches, in whole voxels.
    halo = -(-(len(gaussian_kernel(sigma[0])) // 2) // fine)
    slab = max(1, _SLAB_SAMPLES // samples[0].size)
    for start in range(0, optics.shape[0], slab):
        stop = min(start + slab, optics.shape[0])
        low, high = max(start - halo, 0), min(stop + halo, optics.shape[0])
        blurred = gaussian_psf_blur(samples[low * fine : high * fine], sigma)
        light[start:stop] = bin_mean(blurred, fine)[start - low : stop - low]
    return light


def expose(
    light: Light, exposure: Exposure, optics: Optics, rng: np.random.Generator
) -> Iterator[NDArray[np.uint16]]:
    """Yield the recorded planes of one channel, one after the other.

    Parameters
    ----------
    light
        What `focus` returned.
    exposure
        Light of the channel.
    optics
        The grid.
    rng
        Random stream of the noise.
    """
    total = np.zeros(light.shape[1:], np.float32)
    for plane in light:
        total += plane
    haze = gaussian_psf_blur(total / len(light), _HAZE_UM / optics.voxel_um[1])
    for index, plane in enumerate(light):
        kept = exposure.photons * (1 - exposure.bleaching * index / len(light))
        seen = plane + np.float32(exposure.haze) * haze + np.float32(exposure.background)
        yield camera(seen * kept, rng, offset_adu=100.0, read_noise_e=1.4, gain=0.5)


def tops(light: Light, droplets: Droplets, optics: Optics) -> tuple[NDArray[np.int64], Values]:
    """Find the top of light that each droplet is seen as.

    Parameters
    ----------
    light
        What `focus` returned, or a projection of it: one plane.
    droplets
        Droplets within the field.
    optics
        The grid.

    Returns
    -------
    tuple
        The voxel of the top (flat index; -1 where the droplet is but the flank of another one),
        which droplets share that the optics cannot part, and its light, both of shape (m,).
    """
    from scipy import ndimage

    axial, lateral = optics.fwhm_um
    widths = (axial, lateral, lateral)
    reach = np.array([max(1, int(w / v)) for w, v in zip(widths, optics.voxel_um, strict=True)])
    reach[0] *= len(light) > 1
    highest = ndimage.maximum_filter(light, tuple(2 * reach + 1)).reshape(-1)
    last = np.array(light.shape) - 1
    at = np.floor(droplets.place_um / optics.voxel_um).astype(np.int64).clip(0, last)
    window = np.stack(
        np.meshgrid(*(np.arange(-r, r + 1) for r in reach), indexing="ij"), axis=-1
    ).reshape(1, -1, 3)
    around = (at[:, None, :] + window).clip(0, last)
    flat = np.ravel_multi_index(tuple(np.moveaxis(around, -1, 0)), light.shape)
    seen = light.reshape(-1)[flat]
    best = np.argmax(seen, axis=1)
    rows = np.arange(len(at))
    top, value = flat[rows, best], seen[rows, best]
    return np.where(value >= highest[top], top, -1), value.astype(np.float64)
