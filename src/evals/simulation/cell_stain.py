"""How stains fill adherent cells: chromatin, cortical actin and its fibres, a grainy cytoplasm.

Every function returns amounts of stain relative to a mean cell, on the fine grid of `Territories`;
light and camera come after. Falls and rises are rational functions, the same on every processor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.optics import bin_mean, gaussian_psf_blur, upsampled
from evals.simulation.quantise import quantise
from evals.simulation.shapes import deposit, draw_blobs, rasterise
from evals.simulation.texture import enlarge, smooth_noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evals.simulation.monolayer import Territories

    Plane = NDArray[np.float32]

# Steps (rows, columns) along which fibres run, a quarter turn and less apart.
_DIRECTIONS = ((0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (2, -1), (2, -2), (1, -2))
_FIBRE_STEPS = 7


def of_cells(values: NDArray[np.float64], owner: NDArray[np.int32]) -> Plane:
    """Spread one value per cell over its samples; 0 where there is no cell."""
    padded = np.append(values, 0.0).astype(np.float32)
    return np.asarray(padded[owner])


def thickness(ground: Territories, edge: float) -> Plane:
    """Return a cell's height, 0 at its edge, 1 far inside.

    Parameters
    ----------
    ground
        Who lies where.
    edge
        Depth at which half of the height is reached, as a share of the body's radius.
    """
    depth = ground.depth
    return np.asarray(depth * np.float32(1 + edge) / (depth + np.float32(edge)))


def chromatin(rng: np.random.Generator, ground: Territories, fine: int) -> Plane:
    """Return DNA of nuclei: a flattened ball with coarse clumps and a few dark nucleoli.

    Parameters
    ----------
    rng
        Random stream.
    ground
        Who lies where.
    fine
        Samples per pixel.
    """
    rows, columns = ground.inner.shape
    clumps = upsampled(smooth_noise(rng, (rows // fine, columns // fine), 1.3), fine)
    holes = upsampled(smooth_noise(rng, (rows // fine, columns // fine), 2.4), fine)
    height = np.sqrt(np.float32(1.06) - ground.inner * ground.inner)
    dna = height * (1 + np.float32(0.12) * clumps) - np.float32(0.16) * (holes - 1).clip(0, 1)
    return np.where(ground.nucleus >= 0, dna.clip(0.05, None), np.float32(0))


def actin(
    rng: np.random.Generator, ground: Territories, fine: int, *, cortex: float, uneven: float
) -> Plane:
    """Return F-actin: a thin sheet, brighter at the cell's edge, with bundles of fibres.

    Parameters
    ----------
    rng
        Random stream.
    ground
        Who lies where.
    fine
        Samples per pixel.
    cortex
        How much brighter the edge is than the sheet.
    uneven
        Standard deviation of patches of stain within and across cells.
    """
    rows, columns = ground.cell.shape
    field = (rows // fine, columns // fine)
    patches = upsampled(smooth_noise(rng, field, 7.0), fine)
    ruffles = upsampled(smooth_noise(rng, field, 3.0), fine)
    bundle = fibres(rng, ground.cell, field, fine)
    # The sheet is thin at the edge and rises towards the nucleus.
    sheet = np.float32(0.25) + np.float32(0.5) * (thickness(ground, 0.12) + ground.depth)
    at_edge = 1 / (1 + (ground.depth / np.float32(0.07)) ** 2)
    rim = np.float32(cortex) * at_edge * (1 + np.float32(0.6) * ruffles).clip(0.1, None)
    streaky = np.float32(0.11) * bundle * (1 + np.float32(0.7) * ruffles).clip(0, None)
    stain = (sheet * (1 + streaky).clip(0.2, None) + rim) * (1 + np.float32(uneven) * patches).clip(
        0.25, None
    )
    return np.where(ground.cell >= 0, stain, np.float32(0))


def fibres(
    rng: np.random.Generator, cell: NDArray[np.int32], field: tuple[int, int], fine: int
) -> Plane:
    """Draw a streaky texture of mean 0 and unit variance, in another direction in each cell."""
    noise = smooth_noise(rng, field, 0.7)
    turn = rng.integers(0, len(_DIRECTIONS), int(cell.max(initial=-1)) + 2)
    way = turn[cell[fine // 2 :: fine, fine // 2 :: fine]]
    streaks = np.zeros(field, dtype=np.float32)
    for index, (down, right) in enumerate(_DIRECTIONS):
        total = np.zeros(field, dtype=np.float32)
        for step in range(-_FIBRE_STEPS, _FIBRE_STEPS + 1):
            shift = (step * down // 2, step * right // 2)
            total += np.roll(noise, shift, axis=(0, 1))
        streaks = np.where(way == index, total, streaks)
    # Neighbours along a streak are alike over about three pixels, so a sum of n has variance 3 n.
    return upsampled(streaks / np.float32(np.sqrt(3.0 * (2 * _FIBRE_STEPS + 1))), fine)


def grain(rng: np.random.Generator, shape: tuple[int, int], fine: int, depth: float) -> Plane:
    """Return a factor about 1 that makes a soluble stain look grainy and cloudy.

    Parameters
    ----------
    rng
        Random stream.
    shape
        Rows and columns of the fine grid.
    fine
        Samples per pixel.
    depth
        Standard deviation of the factor.
    """
    field = (shape[0] // fine, shape[1] // fine)
    spots = smooth_noise(rng, field, 0.9)
    clouds = smooth_noise(rng, field, 4.0)
    mixed = np.float32(0.8) * spots + np.float32(0.6) * clouds
    return upsampled((1 + np.float32(depth) * mixed).clip(0.2, None), fine)


def litter(
    rng: np.random.Generator,
    shape: tuple[int, int],
    fine: int,
    *,
    count: int,
    most: int,
    radius_px: tuple[float, float],
    bright: tuple[float, float],
) -> Plane:
    """Return the light of debris or dead cells; the first of many are the same at any count.

    Parameters
    ----------
    rng
        Random stream.
    shape
        Rows and columns of the field in pixels.
    fine
        Samples per pixel.
    count, most
        How many lie there, and how many at most.
    radius_px, bright
        Smallest and largest radius, and brightness relative to a mean cell. Small ones are more
        common.
    """
    small, large = radius_px
    specks = draw_blobs(
        rng,
        rng.uniform(0, shape[0], most),
        rng.uniform(0, shape[1], most),
        radius=small + (large - small) * rng.random(most) ** 2,
        elongation=rng.uniform(1, 2, most),
        roughness=0.12,
    )
    light = quantise(rng.uniform(*bright, most))
    samples = rasterise(specks.take(slice(min(count, most))), shape, fine)
    return deposit(samples, light[samples.owner], (shape[0] * fine, shape[1] * fine))


def wide_field(sharp: Plane, fine: int, *, sigma_px: float, haze: float, haze_px: float) -> Plane:
    """Image a layer: the sharp share through the optics, the rest out of focus and spread wide.

    Light from above and below the focal plane is not lost in wide field; it lies as a veil over
    the picture, also over what holds no stain itself.

    Parameters
    ----------
    sharp
        Light on the fine grid.
    fine
        Samples per pixel.
    sigma_px
        Standard deviation of the point spread function in pixels.
    haze
        Light out of focus as a share of the light in focus.
    haze_px
        Standard deviation of its blur in pixels.

    Returns
    -------
    Plane
        Light of each pixel.
    """
    pixels = bin_mean(gaussian_psf_blur(sharp, sigma_px * fine), fine)
    if haze <= 0:
        return np.asarray(pixels, dtype=np.float32)
    step = max(1, int(haze_px / 2))
    rows, columns = pixels.shape
    wide = np.pad(pixels, ((0, -rows % step + step), (0, -columns % step + step)), mode="edge")
    veil = enlarge(np.asarray(gaussian_psf_blur(bin_mean(wide, step), haze_px / step)), step)
    # Blocks are known at their middle, half a step from where `enlarge` puts them.
    veil = np.pad(veil, ((step // 2, step), (step // 2, step)), mode="edge")
    return np.asarray(pixels + np.float32(haze) * veil[:rows, :columns], dtype=np.float32)
