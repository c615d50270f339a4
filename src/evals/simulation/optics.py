"""From a continuous scene to camera counts: point spread, pixels, detector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evals.simulation.quantise import quantise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# Of a Gaussian: full width at half maximum over standard deviation, 2 sqrt(2 ln 2), and back.
FWHM_PER_SIGMA = 2.3548
SIGMA_PER_FWHM = 1 / FWHM_PER_SIGMA

_WEIGHT_STEP = 2.0**-20


def gaussian_kernel(sigma: float, truncate: float = 4.0) -> NDArray[np.float64]:
    """Return a normalised Gaussian kernel whose weights are exact binary fractions.

    Parameters
    ----------
    sigma
        Standard deviation in samples; 0 gives the unit kernel.
    truncate
        Half-width in standard deviations.

    Returns
    -------
    NDArray[np.float64]
        Odd number of weights that add up to 1; multiples of 2**-20, the same on every machine.
    """
    if sigma < 0:
        raise ValueError(f"sigma must not be negative, got {sigma}")
    half = int(truncate * sigma + 0.5)
    offsets = np.arange(-half, half + 1, dtype=np.float64)
    weights = np.exp(-0.5 * (offsets / sigma) ** 2) if half else np.ones(1)
    weights = quantise(weights / weights.sum(), _WEIGHT_STEP)
    weights[half] += 1.0 - weights.sum()
    return weights


def gaussian_psf_blur(
    image: NDArray[np.floating[Any]], sigma_px: float | Sequence[float]
) -> NDArray[np.floating[Any]]:
    """Convolve an image or volume with a Gaussian model of the point spread function.

    The Gaussian is the usual stand-in for the in-focus wide-field and confocal spot: its sigma is
    0.21 wavelengths / NA for wide field (Zhang, Zerubia and Olivo-Marin 2007).

    Parameters
    ----------
    image
        Light before the optics, any number of axes, float32 or float64.
    sigma_px
        Standard deviation in samples of `image`, one for all axes or one per axis.

    Returns
    -------
    NDArray[np.floating]
        Same shape and dtype; edges are mirrored, so that no light is lost there.
    """
    from scipy import ndimage

    sigmas = [float(sigma_px)] * image.ndim if isinstance(sigma_px, int | float) else [*sigma_px]
    if len(sigmas) != image.ndim:
        raise ValueError(f"{image.ndim} axes need as many sigmas, got {len(sigmas)}")
    blurred = image
    for axis, sigma in enumerate(sigmas):
        kernel = gaussian_kernel(sigma)
        if kernel.size > 1:
            blurred = ndimage.correlate1d(blurred, kernel, axis=axis, mode="reflect")
    return blurred


def bin_mean(
    image: NDArray[np.floating[Any]], factor: int | Sequence[int]
) -> NDArray[np.floating[Any]]:
    """Average blocks of samples into pixels.

    Parameters
    ----------
    image
        Supersampled light; each axis is a multiple of its factor.
    factor
        Samples per pixel along every axis, or one number per axis.

    Returns
    -------
    NDArray[np.floating]
        Means, each axis shorter by its factor. Added up slice by slice, in one order everywhere.
    """
    factors = [factor] * image.ndim if isinstance(factor, int) else [*factor]
    if len(factors) != image.ndim or any(
        size % step for size, step in zip(image.shape, factors, strict=True)
    ):
        raise ValueError(f"image of shape {image.shape} does not fall into blocks of {factor}")
    binned = image
    for axis, step in enumerate(factors):
        parts = [binned[(slice(None),) * axis + (slice(k, None, step),)] for k in range(step)]
        total = parts[0].copy()
        for part in parts[1:]:
            total += part
        binned = total / step
    return binned


def upsampled(plane: NDArray[np.floating[Any]], factor: int) -> NDArray[np.floating[Any]]:
    """Repeat the pixels of a plane on a finer grid; the optics smooth the steps.

    Parameters
    ----------
    plane
        Light (Y, X).
    factor
        Samples per pixel along both axes.
    """
    return np.asarray(plane.repeat(factor, axis=0).repeat(factor, axis=1))


def camera(
    photons: NDArray[np.floating[Any]],
    rng: np.random.Generator,
    *,
    offset_adu: float = 100.0,
    read_noise_e: float = 1.5,
    gain: float = 1.0,
    bits: int = 16,
    excess_noise: float = 1.0,
) -> NDArray[np.uint16]:
    """Record detected photons with a digital camera.

    A pixel reads `offset + gain * (N + multiplication noise + read noise)`, N ~ Poisson(photons),
    rounded and clipped to the bit depth. Its variance is gain² (F² photons + read noise²) plus
    1/12 of a count for the rounding (EMVA 1288, with F the excess noise factor).

    Parameters
    ----------
    photons
        Mean photo-electrons of each pixel, 0 or more.
    rng
        Random stream; one Poisson and one or two normal fields are drawn from it.
    offset_adu
        Counts of a dark pixel.
    read_noise_e
        Standard deviation of the read noise in electrons (1 to 2 for sCMOS).
    gain
        Counts per electron.
    bits
        Bit depth, 1 to 16.
    excess_noise
        F: 1 for CCD and sCMOS, about 1.41 for electron multiplying cameras.

    Returns
    -------
    NDArray[np.uint16]
        Counts from 0 to 2**bits - 1, shape of `photons`.
    """
    if not 1 <= bits <= 16:
        raise ValueError(f"bit depth must lie within 1 to 16, got {bits}")
    electrons = rng.poisson(quantise(np.maximum(photons, 0))).astype(np.float64)
    if excess_noise > 1:
        spread = np.sqrt(electrons * (excess_noise**2 - 1))
        electrons += spread * rng.standard_normal(photons.shape)
    if read_noise_e > 0:
        electrons += read_noise_e * rng.standard_normal(photons.shape, dtype=np.float32)
    counts = np.rint(offset_adu + gain * electrons)
    return np.clip(counts, 0, 2**bits - 1).astype(np.uint16)
