"""Velocity fields of a sheet of cells: whether they point at the gap, and how far they err."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STILL = 1e-6
_BAND_PERCENTILE = 40
_LEAST_BAND = 1.0


def gap_cosine(
    vx: NDArray[np.float64], vy: NDArray[np.float64], cells: NDArray[Any]
) -> float | None:
    """Return how far velocities near the edge of a sheet point towards the gap, in [0, 1].

    The mean cosine between the velocity and the descending gradient of the distance from the gap,
    at least 0, over the cells' pixels within the nearest 40 % of distances (at least one pixel).

    Parameters
    ----------
    vx, vy
        Components along columns and rows; any unit, cropped to what the three arrays share.
    cells
        Above 0 where cells are.

    Returns
    -------
    float or None
        None if less than 2 × 2 pixels are shared, there are only cells or none, or nothing moves.
    """
    from scipy.ndimage import distance_transform_edt

    rows = min(part.shape[0] for part in (vx, vy, cells))
    columns = min(part.shape[1] for part in (vx, vy, cells))
    inside = cells[:rows, :columns] > 0
    if min(rows, columns) < 2 or inside.all() or not inside.any():
        return None
    distance = distance_transform_edt(inside)
    along_y, along_x = (-slope for slope in np.gradient(distance))
    own_x, own_y = vx[:rows, :columns], vy[:rows, :columns]
    near = max(float(np.percentile(distance[inside], _BAND_PERCENTILE)), _LEAST_BAND)
    with np.errstate(over="ignore", invalid="ignore"):
        speed, slope = np.hypot(own_x, own_y), np.hypot(along_x, along_y)
        band = inside & (distance <= near) & (speed > _STILL) & (slope > _STILL)
        if not band.any():
            return None
        dot = own_x[band] * along_x[band] + own_y[band] * along_y[band]
        mean = float((dot / (speed[band] * slope[band])).mean())
    return max(0.0, mean) if np.isfinite(mean) else 0.0


def endpoint_errors(
    predicted: tuple[NDArray[np.float64], NDArray[np.float64]],
    true: tuple[NDArray[np.float64], NDArray[np.float64]],
    cells: NDArray[np.bool_] | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the length of each velocity error, and of each true velocity, in their unit.

    The endpoint error of optical flow (S. Baker and others, A database and evaluation methodology
    for optical flow, International Journal of Computer Vision 92, 1-31, 2011).

    Parameters
    ----------
    predicted, true
        Components x and y, all of one shape. A predicted velocity that is not finite counts as
        the true one turned round.
    cells
        Which pixels count; None for all. Those without a finite true velocity never do.

    Returns
    -------
    error, speed
        Shape (n,) each.
    """
    counted = np.isfinite(true[0]) & np.isfinite(true[1])
    if cells is not None:
        counted &= cells
    known_x, known_y = (part[counted] for part in true)
    own_x, own_y = (part[counted] for part in predicted)
    missing = ~(np.isfinite(own_x) & np.isfinite(own_y))
    own_x, own_y = np.where(missing, -known_x, own_x), np.where(missing, -known_y, own_y)
    with np.errstate(over="ignore"):
        error = np.hypot(own_x - known_x, own_y - known_y)
    return error, np.hypot(known_x, known_y)


def endpoint_score(error: float, speed: float) -> float:
    """Return 1 less the mean error over the mean true speed, in [0, 1].

    A field at rest scores 0, so does one turned round.
    """
    if speed == 0:
        return float(error == 0)
    return max(0.0, 1 - error / speed)
