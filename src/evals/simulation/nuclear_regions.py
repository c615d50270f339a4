"""What a measurement of two nuclei, their core, rim and cytoplasm comes to without noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

CORE_SHARE = 0.25  # of the equivalent radius: how deep the inner core begins
_RING_PX = (5.0, 10.0)


@dataclass(frozen=True)
class Regions:
    """What the recipe of the instruction measures in one nucleus.

    Attributes
    ----------
    voxels
        Of the nucleus.
    cytoplasm
        Mean 5 to 10 pixels outside of both nuclei, within the cell.
    core, rim
        Sums of corrected light in the inner core and in the rest.
    """

    voxels: int
    cytoplasm: float
    core: float
    rim: float


def measure_regions(
    light: NDArray[np.float64],
    nuclei: NDArray[np.uint8],
    body: NDArray[np.float64],
    spacing_px: tuple[float, ...],
) -> list[Regions]:
    """Measure nuclei 1 and 2 in an image or stack without noise.

    Parameters
    ----------
    light
        GFP, any number of axes.
    nuclei
        Labels.
    body
        Share of each voxel within a cell.
    spacing_px
        Distance of samples along each axis in pixels.
    """
    from scipy import ndimage

    outside = ndimage.distance_transform_edt(nuclei == 0, spacing_px)
    near = np.minimum(*_distances(nuclei, spacing_px))
    ring = (near >= _RING_PX[0]) & (near <= _RING_PX[1]) & (outside >= _RING_PX[0]) & (body >= 1)
    cytoplasm = float(light[ring].mean())
    found = []
    for label in (1, 2):
        mask = nuclei == label
        radius = _equivalent_radius(int(mask.sum()), spacing_px)
        deep = ndimage.distance_transform_edt(mask, spacing_px) > CORE_SHARE * radius
        core = light[mask & deep] - 0.25 * cytoplasm
        rim = light[mask & ~deep] - 0.07 * float(light[mask].mean())
        found.append(Regions(int(mask.sum()), cytoplasm, float(core.sum()), float(rim.sum())))
    return found


def _distances(
    nuclei: NDArray[np.uint8], spacing_px: tuple[float, ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from scipy import ndimage

    one, other = (
        np.asarray(ndimage.distance_transform_edt(nuclei != label, spacing_px)) for label in (1, 2)
    )
    return one, other


def _equivalent_radius(voxels: int, spacing_px: tuple[float, ...]) -> float:
    """Return the radius in pixels of the disc or ball of as many voxels."""
    size = voxels * float(np.prod(spacing_px))
    if len(spacing_px) == 2:
        return float(np.sqrt(size / np.pi))
    return float((3 * size / (4 * np.pi)) ** (1 / 3))
