"""Irregular round objects, drawn from their outline equation instead of pixel by pixel."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from evals.simulation.quantise import quantise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

_ORDERS = (2, 3, 4, 5)
_CHUNK_SAMPLES = 300_000  # a few arrays of them fit into a processor's cache


@dataclass(frozen=True)
class Blobs:
    """Outlines of n objects: an ellipse of equal area whose radius wobbles with the angle.

    Attributes
    ----------
    y, x
        Centres in pixels, shape (n,); whole numbers are pixel centres.
    radius
        Radius of the disc of equal area in pixels, shape (n,).
    elongation
        Ratio of the axes, 1 or more, shape (n,).
    cosine, sine
        Direction of the long axis (x, y), shape (n,).
    wobble
        Cosine and sine amplitudes of the harmonics 2 to 5, shape (n, 4, 2).
    """

    y: NDArray[np.float64]
    x: NDArray[np.float64]
    radius: NDArray[np.float64]
    elongation: NDArray[np.float64]
    cosine: NDArray[np.float64]
    sine: NDArray[np.float64]
    wobble: NDArray[np.float64]

    def __len__(self) -> int:
        return self.y.size

    def take(self, chosen: NDArray[Any] | slice) -> Blobs:
        """Return the chosen objects, by mask, indices or slice."""
        return Blobs(*(getattr(self, field.name)[chosen] for field in fields(self)))


def draw_blobs(
    rng: np.random.Generator,
    y: NDArray[np.float64],
    x: NDArray[np.float64],
    *,
    radius: ArrayLike,
    elongation: ArrayLike = 1.0,
    angle: NDArray[np.float64] | None = None,
    roughness: float = 0.05,
) -> Blobs:
    """Give centres an outline each.

    Parameters
    ----------
    rng
        Random stream.
    y, x
        Centres in pixels, shape (n,).
    radius, elongation
        One value or one per object.
    angle
        Direction of the long axis in radians from x towards y; None: any.
    roughness
        Standard deviation of the second harmonic as a share of the radius; the k-th has 2/k of it.
    """
    count = y.size
    turned = rng.uniform(0, np.pi, count)
    direction = turned if angle is None else angle
    scale = roughness * 2.0 / np.asarray(_ORDERS, dtype=np.float64)
    wobble = rng.standard_normal((count, len(_ORDERS), 2)) * scale[None, :, None]
    return Blobs(
        y=quantise(y),
        x=quantise(x),
        radius=quantise(np.broadcast_to(radius, (count,))),
        elongation=quantise(np.maximum(np.broadcast_to(elongation, (count,)), 1.0)),
        cosine=quantise(np.cos(direction), 2.0**-16),
        sine=quantise(np.sin(direction), 2.0**-16),
        wobble=quantise(np.clip(wobble, -0.25, 0.25), 2.0**-16),
    )


@dataclass(frozen=True)
class Samples:
    """Samples of a grid that lie inside objects, one entry per pair, sorted by object.

    Attributes
    ----------
    owner
        Index of the object, shape (m,).
    place
        Flat index into the grid, shape (m,).
    rho
        Distance from the centre as a share of the outline's radius there, 0 to 1, shape (m,).
    """

    owner: NDArray[np.int64]
    place: NDArray[np.int64]
    rho: NDArray[np.float32]


def rasterise(blobs: Blobs, shape: tuple[int, int], oversample: int = 1) -> Samples:
    """Find the samples of a grid whose centres lie inside each object.

    Parameters
    ----------
    blobs
        Outlines in pixels.
    shape
        Rows and columns of the field in pixels.
    oversample
        Samples per pixel along each axis; the grid has `shape * oversample` samples.

    Returns
    -------
    Samples
        Objects cover each other freely: a sample may appear under several owners.
    """
    parts = list(_chunks(blobs, shape, oversample))
    if not parts:
        empty = np.empty(0, np.int64)
        return Samples(empty, empty, np.empty(0, np.float32))
    owner, place, rho = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(owner, kind="stable")
    return Samples(owner[order], place[order], rho[order])


def _chunks(
    blobs: Blobs, shape: tuple[int, int], oversample: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]]:
    """Rasterise objects of like size together, as many as a bounded memory allows."""
    swing = np.sqrt(blobs.wobble[..., 0] ** 2 + blobs.wobble[..., 1] ** 2).sum(axis=1)
    reach = blobs.radius * np.sqrt(blobs.elongation) * (1 + swing)
    order = np.argsort(reach, kind="stable")
    order = order[_touching(blobs, reach + 1, shape)[order]]
    while order.size:
        half = np.ceil(reach[order] * oversample).astype(np.int64) + 1
        # The first of them that would make all windows too large together ends the chunk.
        fits = np.arange(1, order.size + 1) * (2 * half + 1) ** 2 <= _CHUNK_SAMPLES
        fits &= half <= 1.3 * half[0] + 2
        fits[0] = True
        count = int(np.argmin(fits)) if not fits.all() else order.size
        chosen, order = order[:count], order[count:]
        owner, place, rho = _patches(
            blobs.take(chosen), reach[chosen], shape, oversample, int(half[count - 1])
        )
        yield chosen[owner], place, rho


def _touching(
    blobs: Blobs, reach: NDArray[np.float64], shape: tuple[int, int]
) -> NDArray[np.bool_]:
    """Tell which objects can have a sample in the field."""
    near_y = (blobs.y > -reach) & (blobs.y < shape[0] + reach)
    near_x = (blobs.x > -reach) & (blobs.x < shape[1] + reach)
    return np.asarray(near_y & near_x)


def _patches(
    blobs: Blobs,
    reach: NDArray[np.float64],
    shape: tuple[int, int],
    oversample: int,
    half: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Test the samples of a square window round each centre."""
    rows, columns = shape[0] * oversample, shape[1] * oversample
    shift = (oversample - 1) / 2
    window = np.arange(-half, half + 1)
    near_y = np.rint(blobs.y * oversample + shift).astype(np.int64)[:, None] + window
    near_x = np.rint(blobs.x * oversample + shift).astype(np.int64)[:, None] + window
    dy = (((near_y - shift) / oversample) - blobs.y[:, None]).astype(np.float32)
    dx = (((near_x - shift) / oversample) - blobs.x[:, None]).astype(np.float32)
    # A circle round each outline and the borders of the field rule most samples out.
    far = np.float32(np.inf)
    square_y = np.where((near_y >= 0) & (near_y < rows), dy * dy, far)
    square_x = np.where((near_x >= 0) & (near_x < columns), dx * dx, far)
    limit = (reach * reach).astype(np.float32)[:, None, None]
    owner, i, j = np.nonzero(square_y[:, :, None] + square_x[:, None, :] < limit)
    first = owner * (2 * half + 1)
    at_y, at_x = first + i, first + j
    rho = _relative_radius(blobs, owner, dy.ravel()[at_y], dx.ravel()[at_x])
    inside = rho < 1
    place = near_y.ravel()[at_y[inside]] * columns + near_x.ravel()[at_x[inside]]
    return owner[inside], place, rho[inside]


def _relative_radius(
    blobs: Blobs,
    owner: NDArray[np.int64],
    dy: NDArray[np.float32],
    dx: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Evaluate rho with sums, products and roots alone, which are exact to the bit everywhere."""
    counts = np.bincount(owner, minlength=len(blobs))

    def each(values: NDArray[np.float64]) -> NDArray[np.float32]:
        return np.repeat(values.astype(np.float32), counts)

    root = np.sqrt(blobs.elongation)
    along = dy * each(blobs.sine / root) + dx * each(blobs.cosine / root)
    across = dy * each(blobs.cosine * root) - dx * each(blobs.sine * root)
    length = np.sqrt(along * along + across * across)
    safe = np.maximum(length, np.float32(1e-6))
    cos1, sin1 = along / safe, across / safe
    wave = np.ones_like(length)
    cos_k, sin_k = cos1, sin1
    for index in range(len(_ORDERS)):  # cos(kθ), sin(kθ) by the addition theorem
        cos_k, sin_k = cos_k * cos1 - sin_k * sin1, sin_k * cos1 + cos_k * sin1
        wave += each(blobs.wobble[:, index, 0]) * cos_k
        wave += each(blobs.wobble[:, index, 1]) * sin_k
    outline = np.maximum(wave, np.float32(0.4)) * each(blobs.radius)
    return np.asarray(length / outline, dtype=np.float32)


def deposit(
    samples: Samples,
    weights: NDArray[np.floating[Any]],
    shape: tuple[int, int],
    block: int = 1,
) -> NDArray[np.float32]:
    """Add weights up where samples fall, in the order of the objects.

    Parameters
    ----------
    samples
        Samples on a grid of `shape * block`.
    weights
        One weight per sample, shape (m,).
    shape
        Rows and columns of the result.
    block
        Samples along each side of a cell of the result; their weights are averaged.
    """
    place = samples.place
    if block > 1:
        row, column = np.divmod(place, shape[1] * block)
        place = row // block * shape[1] + column // block
    total = np.bincount(place, weights, minlength=shape[0] * shape[1])
    return (total.reshape(shape) / block**2).astype(np.float32)


def paint_labels(samples: Samples, labels: NDArray[Any], shape: tuple[int, int]) -> NDArray[Any]:
    """Paint every object's label; later objects lie on top of earlier ones.

    Parameters
    ----------
    samples
        Samples on a grid of `shape`, sorted by object.
    labels
        Label of each object, shape (n,).
    shape
        Rows and columns of the grid.
    """
    canvas = np.zeros(shape[0] * shape[1], dtype=labels.dtype)
    canvas[samples.place] = labels[samples.owner]
    return canvas.reshape(shape)
