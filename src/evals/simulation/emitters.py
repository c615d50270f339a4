"""Light of points, integrated over pixels exactly instead of on a finer grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.quantise import quantise

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_SHARE_STEP = 2.0**-24
_REACH = 4.0  # in standard deviations
_CHUNK_SAMPLES = 2**21  # pixels of all spots that are computed at once


def shine(
    shape: tuple[int, ...],
    place: NDArray[np.float64],
    photons: ArrayLike,
    sigma_px: ArrayLike,
    plane: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Add up the images of points of light under a Gaussian point spread function.

    A pixel gets the integral of each Gaussian over its square, which is what a camera collects
    (an infinitely fine grid). Pixel (0, 0) spans -0.5 to 0.5 along both axes.

    Parameters
    ----------
    shape
        (Y, X), or (T, Y, X) together with `plane`.
    place
        Points (y, x) in pixels, shape (n, 2); they may lie outside.
    photons
        Of each point, one value or shape (n,).
    sigma_px
        Standard deviation of the spot, above 0, one value or shape (n,).
    plane
        In which plane each point lies, shape (n,).

    Returns
    -------
    NDArray[np.float64]
        Mean photons of each pixel; what falls beyond the edge is lost.
    """
    count = len(place)
    light = np.broadcast_to(np.asarray(photons, dtype=np.float64), (count,))
    sigma = np.broadcast_to(np.asarray(sigma_px, dtype=np.float64), (count,))
    if count and sigma.min() <= 0:
        raise ValueError(f"sigma of a spot must be positive, got {sigma.min()}")
    first = np.zeros(count, dtype=np.int64) if plane is None else plane * (shape[-2] * shape[-1])
    total = np.zeros(int(np.prod(shape)))
    half = int(np.ceil(_REACH * sigma.max())) + 1 if count else 0
    chunk = max(1, _CHUNK_SAMPLES // (2 * half + 1) ** 2)
    for start in range(0, count, chunk):
        part = slice(start, start + chunk)
        _add(total, shape[-2:], place[part], light[part], sigma[part], first[part])
    return total.reshape(shape)


def _add(
    total: NDArray[np.float64],
    size: tuple[int, ...],
    place: NDArray[np.float64],
    photons: NDArray[np.float64],
    sigma: NDArray[np.float64],
    first: NDArray[np.int64],
) -> None:
    half = int(np.ceil(_REACH * sigma.max())) + 1
    window = np.arange(-half, half + 1)
    pixels = np.rint(place).astype(np.int64)[:, :, None] + window
    shares = pixel_shares(pixels - place[:, :, None], sigma[:, None, None])
    inside = (pixels >= 0) & (pixels < np.array(size)[None, :, None])
    shares *= inside
    pixels = pixels.clip(0, np.array(size)[None, :, None] - 1)
    amount = photons[:, None, None] * shares[:, 0, :, None] * shares[:, 1, None, :]
    where = first[:, None, None] + pixels[:, 0, :, None] * size[1] + pixels[:, 1, None, :]
    # `bincount` adds in the order of the points, on every machine.
    low = int(where.min())
    sums = np.bincount((where - low).ravel(), amount.ravel())
    total[low : low + len(sums)] += sums


def pixel_shares(offset: NDArray[np.float64], sigma: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of a Gaussian that falls into the pixel at each distance, along one axis.

    Parameters
    ----------
    offset
        From the Gaussian's centre to the pixel's, in pixels.
    sigma
        Standard deviation, broadcast against `offset`.

    Returns
    -------
    NDArray[np.float64]
        Multiples of 2**-24, the same on every machine.
    """
    from scipy import special

    scaled = np.sqrt(2.0) * sigma
    edges = special.erf((offset + 0.5) / scaled) - special.erf((offset - 0.5) / scaled)
    return quantise(edges / 2, _SHARE_STEP)
