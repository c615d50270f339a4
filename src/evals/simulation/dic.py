"""Differential interference contrast: a picture of the slope of optical path along one direction.

Two images of the specimen, a resolution apart along the shear, interfere at a bias of about a
quarter wave; to first order the intensity is then a mean plus a multiple of the difference in path
(Preza, Snyder and Conchello 1999, doi:10.1364/JOSAA.16.002185). Thickness shows as relief lit from
one side, and flat areas as even grey.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.optics import camera
from evals.simulation.texture import illumination, smooth_noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Image = NDArray[np.float64]


@dataclass(frozen=True)
class Dic:
    """A microscope for differential interference contrast with an 8-bit camera.

    Attributes
    ----------
    contrast
        Change of intensity by a difference in path of 1 between the two images.
    photons
        Photo-electrons of a pixel in an even area.
    dirt
        Depth of the pattern that dust leaves on all frames alike, as a share of the light.
    flicker
        How far the lamp varies from frame to frame, as a share.
    grey
        Grey level of an even area.
    """

    contrast: float
    photons: float
    dirt: float
    flicker: float = 0.015
    grey: float = 118.0

    def field(self, rng: np.random.Generator, shape: tuple[int, int]) -> Image:
        """Return what the optics themselves add to each frame: a gradient and out-of-focus dust."""
        even = illumination(rng, shape, 0.12).astype(np.float64)
        return np.asarray(even * (1 + self.dirt * smooth_noise(rng, shape, 2.5)), np.float64)

    def record(self, path: Image, field: Image, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Record a frame.

        Parameters
        ----------
        path
            Optical path, two rows and columns larger than the frame on every side.
        field
            What the optics add, as `field` gives it.
        rng
            Random stream of the noise.
        """
        # The shear runs along the diagonal: lit from the upper left.
        slope = (path[3:-1, 3:-1] - path[1:-3, 1:-3]) / 2
        light = np.clip(1 + self.contrast * slope, 0.05, 2.2)
        lamp = 1 + self.flicker * float(rng.uniform(-1, 1))
        gain = self.grey / self.photons
        counts = camera(
            self.photons * lamp * field * light,
            rng,
            offset_adu=0,
            read_noise_e=2,
            gain=gain,
            bits=8,
        )
        return counts.astype(np.uint8)
