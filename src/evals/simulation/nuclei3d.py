"""Nuclei of a monolayer in space: flattened, irregular, crowded until they touch.

A nucleus is an ellipsoid whose radius wobbles with the direction; its inside is given by `rho`,
the distance from the centre as a share of the radius there. Only sums, products, quotients and
roots act on arrays, so that outlines are the same on every processor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation.quantise import quantise
from evals.simulation.scatter import keep_apart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Values = NDArray[np.float64]
    Grid32 = NDArray[np.float32]
    Window = tuple[slice, slice, slice]

_FINE = 2.0**-12
_TRIES = 40  # places tried for each that there is room for
_SWELL = 1.3  # no radius is longer than this share of the ellipsoid's
_GRAIN_UM = 0.55


@dataclass(frozen=True)
class Nuclei:
    """Nuclei of one field.

    Attributes
    ----------
    centre_um
        (n, 3) places (z, y, x); the field begins at 0.
    axes_um
        (n, 3) half axes along z and along the long and the short direction in the plane.
    turn
        (n, 2) cosine and sine of the long direction, from x towards y.
    wobble
        (n, 6) amplitudes of the harmonics.
    """

    centre_um: Values
    axes_um: Values
    turn: Values
    wobble: Values

    def __len__(self) -> int:
        return len(self.centre_um)

    @property
    def volume_um3(self) -> Values:
        """Volumes of the ellipsoids."""
        volumes: Values = 4 / 3 * np.pi * self.axes_um.prod(axis=1)
        return volumes


def place_nuclei(
    rng: np.random.Generator, size_um: Sequence[float], radius_um: float, crowding: float = 0.86
) -> Nuclei:
    """Fill a field with a crowded layer of nuclei.

    Parameters
    ----------
    rng
        Random stream.
    size_um
        Size of the field along z, y, x.
    radius_um
        Mean radius in the plane.
    crowding
        Least distance of two centres in the plane as a share of the sum of their radii.
    """
    depth, height, width = size_um
    rim = 0.55 * radius_um
    tries = round(_TRIES * height * width / (2 * radius_um) ** 2)
    spots = quantise(rng.uniform(rim, np.array([height, width]) - rim, (tries, 2)), _FINE)
    radius = radius_um * np.clip(1 + 0.13 * rng.standard_normal(tries), 0.72, 1.4)
    kept = keep_apart(spots, 2 * crowding * radius)
    # Cells lie loosely: some places stay empty.
    kept &= rng.random(tries) < 0.88
    count = int(kept.sum())
    radius = radius[kept]
    stretch = np.sqrt(rng.uniform(1.0, 1.45, count))
    tall = np.minimum(0.7 * radius * rng.uniform(0.9, 1.1, count), 0.36 * depth)
    z = depth / 2 + 0.07 * depth * rng.standard_normal(count).clip(-1.5, 1.5)
    angle = rng.uniform(0, np.pi, count)
    return Nuclei(
        centre_um=quantise(np.column_stack([z, spots[kept]]), _FINE),
        axes_um=quantise(np.stack([tall, radius * stretch, radius / stretch], axis=1), _FINE),
        turn=quantise(np.stack([np.cos(angle), np.sin(angle)], axis=1), 2.0**-16),
        wobble=quantise((0.055 * rng.standard_normal((count, 6))).clip(-0.12, 0.12), 2.0**-16),
    )


def each_nucleus(
    nuclei: Nuclei, shape: tuple[int, int, int], step_um: Sequence[float]
) -> Iterator[tuple[int, Window, Grid32]]:
    """Yield the number of a nucleus, its window of a grid, and `rho` there.

    Parameters
    ----------
    nuclei
        What to draw.
    shape
        Samples of the grid along z, y, x; sample 0 has its centre at half a step.
    step_um
        Distance of samples along z, y, x.
    """
    for index in range(len(nuclei)):
        long = float(nuclei.axes_um[index, 1:].max())
        reach = _SWELL * np.array([nuclei.axes_um[index, 0], long, long])
        low = np.floor((nuclei.centre_um[index] - reach) / step_um).astype(int).clip(0)
        high = np.minimum(np.ceil((nuclei.centre_um[index] + reach) / step_um).astype(int), shape)
        if (low < high).all():
            window = slice(low[0], high[0]), slice(low[1], high[1]), slice(low[2], high[2])
            axes = [
                ((np.arange(a, b) + 0.5) * step - at).astype(np.float32)
                for a, b, step, at in zip(low, high, step_um, nuclei.centre_um[index], strict=True)
            ]
            yield index, window, _rho(nuclei, index, axes)


def inside(nuclei: Nuclei, index: int, place_um: Values) -> Values:
    """Return `rho` of one nucleus at places (m, 3)."""
    off = (place_um - nuclei.centre_um[index]).T.astype(np.float32)
    return _share(nuclei, index, off[0], off[1], off[2]).astype(np.float64)


def _rho(nuclei: Nuclei, index: int, axes: list[Grid32]) -> Grid32:
    z, y, x = axes
    return _share(nuclei, index, z[:, None, None], y[None, :, None], x[None, None, :])


def _share(nuclei: Nuclei, index: int, z: Grid32, y: Grid32, x: Grid32) -> Grid32:
    tall, long, short = nuclei.axes_um[index].astype(np.float32)
    cosine, sine = nuclei.turn[index].astype(np.float32)
    w = z / tall
    u = (x * cosine + y * sine) / long
    v = (y * cosine - x * sine) / short
    length = np.sqrt(u * u + v * v + w * w)
    scale = 1 / np.maximum(length, np.float32(1e-4))
    u, v, w = u * scale, v * scale, w * scale
    a = nuclei.wobble[index].astype(np.float32)
    uv, square = u * v, u * u - v * v
    wave = (
        a[0] * square
        + 2 * a[1] * uv
        + a[2] * u * (square - 2 * v * v)
        + a[3] * v * (2 * u * u + square)
    )
    wave = wave + w * (a[4] * u + a[5] * v)
    return np.asarray(length / (1 + wave), dtype=np.float32)


def grain(rng: np.random.Generator, window: Window, step_um: Sequence[float]) -> Grid32:
    """Return a smooth random field of about unit variance for a window of a grid.

    Drawn coarsely and interpolated, so that it costs what is drawn of it.
    """
    lengths = [(part.stop - part.start) * step for part, step in zip(window, step_um, strict=True)]
    coarse = [int(length / _GRAIN_UM) + 2 for length in lengths]
    field = rng.standard_normal(coarse, dtype=np.float32) * np.float32(1.8)
    for axis, (part, step) in enumerate(zip(window, step_um, strict=True)):
        at = np.arange(part.stop - part.start) * (step / _GRAIN_UM)
        low = at.astype(np.int64)
        share = quantise(at - low, _FINE).astype(np.float32)
        share = share.reshape([-1 if k == axis else 1 for k in range(3)])
        first, second = np.take(field, low, axis=axis), np.take(field, low + 1, axis=axis)
        field = first + share * (second - first)
    return field
