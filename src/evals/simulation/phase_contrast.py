"""Positive phase contrast with its halo and shade-off.

Light that a cell leaves undeviated passes the ring of the phase plate, which retards it by a
quarter wave and dims it; deviated light passes beside the ring. Light deviated by little still hits
the ring: that share is the object blurred by a broad kernel, the ring's own image. It makes the
halo round a cell and lets wide or crowded objects lose contrast inside (Yin, Kanade and Chen 2012,
doi:10.1016/j.media.2011.12.006).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.optics import camera
from evals.simulation.quantise import quantise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Image = NDArray[np.float64]

_FINE = 2.0**-14


@dataclass(frozen=True)
class PhaseContrast:
    """A phase contrast microscope with an 8-bit camera.

    Attributes
    ----------
    pixel_um
        Width of a pixel.
    index_step
        Refractive index of a cell less that of the medium.
    photons
        Photo-electrons of a pixel in the empty field.
    psf_px
        Sigma of the point spread function, defocus included.
    ring
        Amplitude that the phase plate's ring lets through.
    halo_px
        Sigmas of the narrow and the wide part of the ring's image.
    grey
        Grey level of the empty field.
    wavelength_um
        Wavelength of the light.
    """

    pixel_um: float
    index_step: float
    photons: float
    psf_px: float
    ring: float = 0.6
    halo_px: tuple[float, float] = (4.5, 15.0)
    grey: float = 120.0
    wavelength_um: float = 0.55

    def defocused(self, blur_px: float) -> PhaseContrast:
        """Return the microscope with its focus off by so much more blur (sigma)."""
        psf_px = float(quantise(np.sqrt(self.psf_px**2 + blur_px**2), 2.0**-6))
        return replace(self, psf_px=psf_px) if blur_px else self

    def intensity(self, thickness_px: Image) -> Image:
        """Return the light behind cells of a given thickness, 1 in the empty field.

        Parameters
        ----------
        thickness_px
            (Y, X) thickness of cells in pixels. The field repeats beyond its edges, so leave a
            margin of twice the wide halo.
        """
        # Everything is rounded before and after the two Fourier transforms; the rest is exact.
        turn = 2 * np.pi * self.index_step * self.pixel_um / self.wavelength_um
        phase = quantise(thickness_px * turn, _FINE)
        parts = (quantise(np.cos(phase), _FINE), quantise(np.sin(phase), _FINE))
        (real, real_ring), (imaginary, imaginary_ring) = (self._split(part) for part in parts)
        seen_real = real - real_ring + self.ring * imaginary_ring
        seen_imaginary = imaginary - imaginary_ring - self.ring * real_ring
        return (seen_real * seen_real + seen_imaginary * seen_imaginary) / self.ring**2

    def _split(self, field: Image) -> tuple[Image, Image]:
        """Return a field as the lens resolves it, and the share of it that hits the ring."""
        from scipy import fft

        spectrum = fft.rfft2(field, workers=1)
        sharp, broad = (
            quantise(fft.irfft2(spectrum * transfer, field.shape, workers=1), _FINE)
            for transfer in _transfers(field.shape, self.psf_px, self.halo_px)
        )
        return sharp, broad

    def record(
        self, intensity: Image, illumination: Image, rng: np.random.Generator
    ) -> NDArray[np.uint8]:
        """Expose the camera; `illumination` is 1 on average."""
        photons = self.photons * (intensity * illumination)
        grey = camera(photons, rng, offset_adu=6, gain=(self.grey - 6) / self.photons, bits=8)
        return grey.astype(np.uint8)


@lru_cache(maxsize=4)
def _transfers(
    shape: tuple[int, int], psf_px: float, halo_px: tuple[float, float]
) -> tuple[Image, Image]:
    """Transfer functions of the lens, and of lens and ring one after the other."""
    from scipy import fft

    rows = fft.fftfreq(shape[0])[:, None]
    columns = fft.rfftfreq(shape[1])
    squared = -2 * np.pi**2 * (rows * rows + columns * columns)
    lens = np.exp(squared * psf_px**2)
    narrow, wide = (np.exp(squared * sigma**2) for sigma in halo_px)
    return lens, lens * (narrow + wide) / 2


def uneven_illumination(
    rng: np.random.Generator, shape: tuple[int, int], *, falloff: float = 0.12, mottle: float = 0.01
) -> Image:
    """Draw the field's fixed pattern: brighter off its middle, with faint out-of-focus dirt.

    Parameters
    ----------
    rng
        Random stream of the optics.
    shape
        Rows and columns.
    falloff
        Loss of light from the brightest place to the farthest corner, about.
    mottle
        Standard deviation of the dirt's shadows.
    """
    from scipy import ndimage

    middle = quantise(rng.uniform(0.3, 0.7, 2), _FINE)
    rows = (np.arange(shape[0]) / shape[0] - middle[0])[:, None]
    columns = np.arange(shape[1]) / shape[1] - middle[1]
    field = 1 - falloff * (rows * rows + columns * columns)
    dirt = ndimage.gaussian_filter(rng.standard_normal(shape), 6.0, mode="reflect")
    # A Gaussian of sigma s leaves 1 / (2 s sqrt(pi)) of white noise.
    field += mottle * 2 * 6.0 * np.sqrt(np.pi) * dirt
    return quantise(field, _FINE)
