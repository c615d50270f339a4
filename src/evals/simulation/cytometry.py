"""Moments of cells: total intensity, spatial size, spatial frequency and their product."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.shapes import paint_labels, rasterise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evals.simulation.shapes import Blobs

    Field = NDArray[np.float64]

FEATURES = ("Sigma", "r", "rf", "M")
_CHUNK = 256


def whole_regions(
    outlines: Blobs, shape: tuple[int, int], covered: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Paint outlines and return their labels, and which of them lie wholly in what is covered.

    Parameters
    ----------
    outlines
        In pixels of the image.
    shape
        Of the image.
    covered
        Where the image shows something, shape `shape`.

    Returns
    -------
    labels, chosen
        Label k + 1 is outline k; the outlines that are neither cut nor hidden by a later one.
    """
    samples = rasterise(outlines, shape)
    labels = paint_labels(samples, np.arange(1, len(outlines) + 1, dtype=np.int32), shape)
    count = len(outlines)
    drawn = np.bincount(samples.owner, minlength=count)
    seen = (labels.ravel()[samples.place] == samples.owner + 1) & covered.ravel()[samples.place]
    shown = np.bincount(samples.owner[seen], minlength=count)
    # What lies partly outside has fewer samples than its area says.
    area = np.pi * outlines.radius**2
    whole = (drawn > 0.93 * area) & (shown >= 0.9 * drawn) & (drawn > 0)
    return labels, np.flatnonzero(whole)


def moments(
    image: NDArray[np.uint16],
    labels: NDArray[np.int32],
    outlines: Blobs,
    chosen: NDArray[np.int64],
    pixel_um: float,
) -> Field:
    """Measure labelled regions of one image.

    Sigma = 10 log10 of the sum of intensities I, in dBct. <r>: root of the second moment of I about
    its centroid, in µm. <rf>: root of the second moment of the power spectrum of I less its mean in
    the region and 0 beyond, in 1/µm. <M> = <r> <rf>.

    Parameters
    ----------
    image, labels
        Shape (Y, X).
    outlines
        Of the regions; outline k has label k + 1.
    chosen
        Outlines to measure, shape (n,).
    pixel_um
        Width of a pixel.

    Returns
    -------
    NDArray[np.float64]
        Shape (n, 4), in the order of `FEATURES`.
    """
    parts = [
        _moments(image, labels, outlines, chosen[start : start + _CHUNK], pixel_um)
        for start in range(0, len(chosen), _CHUNK)
    ]
    return np.concatenate(parts) if parts else np.empty((0, len(FEATURES)))


def _moments(
    image: NDArray[np.uint16],
    labels: NDArray[np.int32],
    outlines: Blobs,
    chosen: NDArray[np.int64],
    pixel_um: float,
) -> Field:
    half = int(np.ceil(outlines.radius[chosen].max() * 2.0)) + 2
    window = np.arange(-half, half + 1)
    rows = np.rint(outlines.y[chosen]).astype(np.int64)[:, None] + window
    columns = np.rint(outlines.x[chosen]).astype(np.int64)[:, None] + window
    inside = ((rows >= 0) & (rows < image.shape[0]))[:, :, None]
    inside = inside & ((columns >= 0) & (columns < image.shape[1]))[:, None, :]
    at = (
        np.clip(rows, 0, image.shape[0] - 1)[:, :, None],
        np.clip(columns, 0, image.shape[1] - 1)[:, None, :],
    )
    mask = inside & (labels[at] == (chosen + 1)[:, None, None])
    light = np.where(mask, image[at].astype(np.float64), 0.0)
    total = light.sum(axis=(1, 2))
    y = (light.sum(axis=2) * window).sum(axis=1) / total
    x = (light.sum(axis=1) * window).sum(axis=1) / total
    away = (window[None, :, None] - y[:, None, None]) ** 2
    away = away + (window[None, None, :] - x[:, None, None]) ** 2
    size = pixel_um * np.sqrt((light * away).sum(axis=(1, 2)) / total)
    mean = total / mask.sum(axis=(1, 2))
    varying = np.where(mask, light - mean[:, None, None], 0.0)
    power = np.abs(np.fft.fft2(varying)) ** 2
    waves = np.fft.fftfreq(len(window), pixel_um) ** 2
    square = waves[:, None] + waves[None, :]
    frequency = np.sqrt((power * square).sum(axis=(1, 2)) / power.sum(axis=(1, 2)))
    return np.stack([10 * np.log10(total), size, frequency, size * frequency], axis=1)
