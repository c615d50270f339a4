"""Rounding and random streams that are the same on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def quantise(values: ArrayLike, step: float = 1 / 64) -> NDArray[np.float64]:
    """Round values to a grid, so that differences in their last bits vanish.

    Exponentials, sines and sums may differ in the last bit between processors (wide instructions
    evaluate them by another polynomial or in another order). A Poisson draw with a mean that
    differs at all may take another number of random words, and everything after it differs too.
    Evaluate such functions in double precision: the last bits of single precision are so coarse
    that many values would fall on the other side of a step.

    Parameters
    ----------
    values
        Numbers of any shape.
    step
        Distance of the grid. A power of two keeps the result exact.

    Returns
    -------
    NDArray[np.float64]
        The nearest multiples of `step`, halves to the even multiple.
    """
    if step <= 0:
        raise ValueError(f"step of the grid must be positive, got {step}")
    return np.asarray(np.rint(np.asarray(values, dtype=np.float64) / step) * step)


def stream(seed: int, *keys: int) -> np.random.Generator:
    """Open an independent random stream for one part of a scene.

    Parts that own a stream stay the same when another part draws more or fewer numbers: a scene
    keeps its layout while the difficulty changes its light.

    Parameters
    ----------
    seed
        Seed of the edition, 0 or larger.
    *keys
        Whole numbers, 0 or larger, that name the part (image, component).
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=keys)))
