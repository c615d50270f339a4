"""Absorbing dyes in bright-field light: Beer and Lambert's law."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evals.simulation.quantise import quantise

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

# Optical density in red, green and blue of a unit of dye: Ruifrok and Johnston 2001.
HEMATOXYLIN = (0.65, 0.70, 0.29)
EOSIN = (0.07, 0.99, 0.11)
# Red cells take eosin and keep some haemoglobin, which absorbs blue as well: red, not pink.
ERYTHROCYTE = (0.10, 0.85, 0.52)

Vector = tuple[float, float, float]


def transmit(
    dyes: Mapping[Vector, NDArray[np.floating[Any]]], white: Vector = (1.0, 1.0, 1.0)
) -> NDArray[np.float32]:
    """Pass white light through stained tissue: I = white * exp(-sum of density * vector).

    Parameters
    ----------
    dyes
        Amount of each dye (Y, X), by its optical density vector.
    white
        Light without tissue, per channel.

    Returns
    -------
    NDArray[np.float32]
        Light behind the tissue, shape (3, Y, X), rounded to 2**-16 of the white.
    """
    planes = []
    for channel, light in enumerate(white):
        density: Any = sum(vector[channel] * amount for vector, amount in dyes.items())
        # In double precision: last-bit differences must stay far below the step of rounding.
        passed = np.exp(-np.asarray(density, dtype=np.float64))
        planes.append(quantise(passed, 2.0**-16) * light)
    return np.stack(planes).astype(np.float32)


def vary_vector(rng: np.random.Generator, vector: Vector, spread: float) -> Vector:
    """Shift a stain's hue as between staining batches; its length stays 1.

    Parameters
    ----------
    rng
        Random stream.
    vector
        Optical densities in red, green and blue.
    spread
        Standard deviation of each component.
    """
    moved = np.maximum(np.asarray(vector) + spread * rng.standard_normal(3), 0.02)
    red, green, blue = quantise(moved / np.sqrt((moved**2).sum()), 2.0**-12).tolist()
    return red, green, blue
