"""Smooth random fields, uneven illumination and dirt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.optics import gaussian_kernel, gaussian_psf_blur
from evals.simulation.quantise import quantise
from evals.simulation.shapes import deposit, draw_blobs, rasterise

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COARSE_SIGMA = 1.1


def smooth_noise(
    rng: np.random.Generator, shape: tuple[int, int], sigma: float
) -> NDArray[np.float32]:
    """Draw a Gaussian random field of mean 0 and about unit variance.

    Parameters
    ----------
    rng
        Random stream.
    shape
        Rows and columns.
    sigma
        Standard deviation of the smoothing in pixels; structures are about 2.4 sigma wide. Long
        waves are drawn on a coarser grid and interpolated.
    """
    step = max(1, int(sigma / _COARSE_SIGMA))
    coarse = (-(-shape[0] // step) + 2, -(-shape[1] // step) + 2)
    noise = rng.standard_normal(coarse, dtype=np.float32)
    kernel = gaussian_kernel(sigma / step)
    field = gaussian_psf_blur(noise, sigma / step) / np.float32((kernel**2).sum())
    if step > 1:
        field = enlarge(field, step)
    return np.asarray(field[: shape[0], : shape[1]], dtype=np.float32)


def enlarge(field: NDArray[np.float32], step: int) -> NDArray[np.float32]:
    """Interpolate linearly on a finer grid.

    Parameters
    ----------
    field
        Samples, shape (Y, X).
    step
        New samples per old one; the result has shape ((Y - 1) * step, (X - 1) * step).
    """
    share = (np.arange(step, dtype=np.float32) / np.float32(step))[None, :, None]
    for _ in range(2):
        low, high = field[:-1, None, :], field[1:, None, :]
        field = (low + share * (high - low)).reshape(-1, field.shape[1]).T
    return field


def illumination(
    rng: np.random.Generator, shape: tuple[int, int], falloff: float
) -> NDArray[np.float32]:
    """Return a vignette: 1 at its off-centre maximum, `1 - falloff` about at the far corner.

    Parameters
    ----------
    rng
        Random stream; the maximum lies within the middle third.
    shape
        Rows and columns.
    falloff
        Share of light lost, 0 to 1 (10 to 30 % is common in wide field).
    """
    centre = rng.uniform(1 / 3, 2 / 3, 2)
    y, x = (
        ((np.arange(n, dtype=np.float32) + np.float32(0.5)) / n - np.float32(c)) ** 2
        for n, c in zip(shape, centre, strict=True)
    )
    return np.asarray(1 - np.float32(falloff) * (y[:, None] + x[None, :]), dtype=np.float32)


def debris(
    rng: np.random.Generator,
    shape: tuple[int, int],
    *,
    specks: int,
    fibres: int,
    oversample: int = 1,
) -> NDArray[np.float32]:
    """Draw what lies about in a dish: shards brighter than cells, and thin bent fibres.

    Parameters
    ----------
    rng
        Random stream.
    shape
        Rows and columns in pixels.
    specks, fibres
        Their numbers.
    oversample
        Samples per pixel along each axis.

    Returns
    -------
    NDArray[np.float32]
        Light on the oversampled grid in units of a cell's brightness.
    """
    grid = (shape[0] * oversample, shape[1] * oversample)
    y, x = rng.uniform(0, shape[0], specks), rng.uniform(0, shape[1], specks)
    radius = 0.7 + 3.0 * rng.random(specks) ** 2
    stretch = rng.uniform(1, 3.5, specks)
    shards = draw_blobs(rng, y, x, radius=radius, elongation=stretch, roughness=0.18)
    bright = quantise(rng.uniform(0.5, 3.0, specks))
    samples = rasterise(shards, shape, oversample)
    light = deposit(samples, bright[samples.owner], grid)
    start = quantise(rng.uniform(0, 1, (fibres, 2)) * np.asarray(shape))
    reach = 0.35 * min(shape)
    return light + np.float32(0.8) * bent_lines(rng, shape, start, reach, oversample)


def bent_lines(
    rng: np.random.Generator,
    shape: tuple[int, int],
    start: NDArray[np.float64],
    reach: float,
    oversample: int = 1,
) -> NDArray[np.float32]:
    """Draw thin curves (fibres, neurites): quadratic Bézier arcs for the optics to blur.

    Parameters
    ----------
    rng
        Random stream.
    shape
        Rows and columns in pixels.
    start
        Where each begins (y, x), in pixels, shape (n, 2).
    reach
        Largest distance along each axis from the beginning to bend and end.
    oversample
        Samples per pixel along each axis.

    Returns
    -------
    NDArray[np.float32]
        Light on the oversampled grid, 1 along curves one sample wide.
    """
    grid = (shape[0] * oversample, shape[1] * oversample)
    canvas = np.zeros(grid[0] * grid[1], dtype=np.float32)
    if len(start):
        begin = start[:, None, :]
        bend, end = (begin + rng.uniform(-reach, reach, (len(start), 1, 2)) for _ in range(2))
        t = np.linspace(0, 1, int(3 * reach * oversample) + 2)[None, :, None]
        curve = quantise((1 - t) ** 2 * begin + 2 * t * (1 - t) * bend + t**2 * end)
        row, column = (np.rint(curve[..., k] * oversample).astype(np.int64) for k in (0, 1))
        inside = (row >= 0) & (row < grid[0]) & (column >= 0) & (column < grid[1])
        canvas[(row * grid[1] + column)[inside]] = 1.0
    return canvas.reshape(grid)
