"""Painting many balls into a label image at once, and writing images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tifffile

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray


def paint(
    image: NDArray[Any],
    centres: NDArray[np.floating[Any]],
    radii: NDArray[np.floating[Any]],
    labels: NDArray[np.integer[Any]],
    stretch: tuple[float, ...] | None = None,
) -> None:
    """Paint balls; of two in one place the later one is seen.

    Parameters
    ----------
    image
        Two or three axes; is changed.
    centres, radii, labels
        Of the balls, shapes (n, axes), (n,), (n,).
    stretch
        Length of an axis of a ball in radii; 1 for all if None.
    """
    long = np.asarray(stretch or (1.0,) * image.ndim)
    reach = [int(np.ceil(radii.max() * factor)) for factor in long]
    grid = np.meshgrid(*(np.arange(-steps, steps + 1) for steps in reach), indexing="ij")
    offsets = np.stack([axis.ravel() for axis in grid])
    distance = np.sqrt(((offsets / long[:, None]) ** 2).sum(axis=0))
    for portion in np.array_split(np.arange(len(radii)), max(1, len(radii) * len(distance) >> 22)):
        ball, offset = np.nonzero(distance <= radii[portion, None])
        place = np.rint(centres[portion]).astype(np.int64)[ball].T + offsets[:, offset]
        inside = ((place >= 0) & (place < np.array(image.shape)[:, None])).all(axis=0)
        image[tuple(place[:, inside])] = labels[portion][ball[inside]]


def spread(count: int, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return places for objects on a shaken grid that fills a shape, in no order: (n, axes)."""
    pitch = (np.prod(shape) / count) ** (1 / len(shape))
    steps = [max(1, round(length / pitch)) for length in shape]
    while np.prod(steps) < count:
        steps[int(np.argmax(np.array(shape) / steps))] += 1
    cells = np.stack(np.unravel_index(rng.permutation(int(np.prod(steps)))[:count], steps), axis=1)
    shaken = cells + 0.5 + rng.uniform(-0.1, 0.1, cells.shape)
    places: NDArray[np.float64] = shaken * np.array(shape) / np.array(steps)
    return places


def write(path: Path, image: NDArray[Any]) -> None:
    """Write an image as zlib-compressed TIFF, a page a plane."""
    write_planes(path, image.shape, image.dtype, image if image.ndim > 2 else [image])


def write_planes(
    path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], planes: Iterable[NDArray[Any]]
) -> None:
    """Write planes as they come."""
    path.parent.mkdir(parents=True, exist_ok=True)
    tifffile.imwrite(
        path,
        iter(planes),
        shape=shape,
        dtype=dtype,
        compression="zlib",
        photometric="minisblack",
    )
