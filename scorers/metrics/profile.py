"""Intensity profiles along x of a mosaic's central band, and how alike two mosaics' are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.metrics.correlation import pearson

if TYPE_CHECKING:
    from numpy.typing import NDArray


def central_rows(height: int, band: int) -> slice:
    """Return the rows of the central band, all of them if there are fewer than `band`."""
    first = max(0, height // 2 - band // 2)
    return slice(first, min(height, first + band))


def band_profiles(
    page: NDArray[Any], channel: int | None, y: int, x: int, band: int
) -> NDArray[np.float64]:
    """Return the mean over the central band for each channel and column, shape (channels, X).

    Parameters
    ----------
    page
        Intensities; of axes other than the three the mean is taken.
    channel, y, x
        Positions of the axes; without a channel axis there is one channel.
    band
        Height of the band in pixels.
    """
    if channel is None:
        page, channel, y, x = page[None], 0, y + 1, x + 1
    ordered = np.moveaxis(page, (channel, x, y), (0, 1, 2))
    rows = ordered[:, :, central_rows(ordered.shape[2], band)]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = rows.reshape(*rows.shape[:2], -1).mean(axis=-1, dtype=np.float64)
    return np.asarray(mean)


def stretched(profile: NDArray[np.float64], width: int) -> NDArray[np.float64] | None:
    """Return a profile (n,) interpolated linearly at `width` equidistant places from end to end.

    A profile of that width is returned as it is. None where one of the widths is below 2.
    """
    if len(profile) == width:
        return profile
    if min(len(profile), width) < 2:
        return None
    places = np.linspace(0, 1, width)
    values: NDArray[np.float64] = np.interp(places, np.linspace(0, 1, len(profile)), profile)
    return values


def profile_correlation(
    predicted: NDArray[np.float64] | None, reference: NDArray[np.float64] | None
) -> float | None:
    """Return Pearson's r of two profiles, the predicted one brought to the reference's width.

    None where either is missing, holds a value that is not finite, or does not vary.
    """
    if predicted is None or reference is None:
        return None
    same = stretched(predicted, len(reference))
    if same is None or not (np.isfinite(same).all() and np.isfinite(reference).all()):
        return None
    return pearson(same, reference)


def shape_score(
    predicted: tuple[int, int], reference: tuple[int, int], tolerance: float
) -> tuple[int, float]:
    """Return how far (X, Y) of two mosaics are apart in pixels, and the score in [0, 1] for it.

    The score falls linearly from 1 to 0 at twice the tolerance, summed over both axes.
    """
    apart = abs(predicted[0] - reference[0]) + abs(predicted[1] - reference[1])
    return apart, max(0.0, 1 - apart / (2 * tolerance))
