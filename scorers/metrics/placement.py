"""Where the blocks of a reference mosaic lie in another one: normalised cross-correlation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Below this much of its own noise a block's structure cannot tell where it belongs.
_LEAST_STRUCTURE = 2.0
_TINY = 1e-7


@dataclass(frozen=True)
class Placement:
    """Blocks as they were found, one entry each.

    Attributes
    ----------
    shift
        Rows and columns in pixels from the block's own place to where it matches best, shape
        (n, 2), to a fraction of a pixel.
    likeness
        Normalised cross-correlation at the best whole-pixel place, in [-1, 1]; 0 where one of
        the sides does not vary.
    inside
        Whether the best place is no edge of the range that was searched.
    """

    shift: NDArray[np.float64]
    likeness: NDArray[np.float64]
    inside: NDArray[np.bool_]


def block_starts(length: int, block: int, most: int) -> NDArray[np.int64]:
    """Return where blocks start so that they are spread evenly from end to end.

    They cover the length, overlapping as little as possible, unless that takes more than `most`.

    >>> block_starts(100, 40, 9).tolist(), block_starts(100, 10, 3).tolist()
    ([0, 30, 60], [0, 45, 90])
    """
    count = min(max(1, -(-length // block)), most)
    return np.round(np.linspace(0, max(length - block, 0), count)).astype(np.int64)


def windows(
    image: NDArray[Any] | None, top: int, lefts: NDArray[np.int64], size: int
) -> NDArray[np.float32]:
    """Cut squares out of an image, 0 beyond its edges and where it is not finite.

    Parameters
    ----------
    image
        (rows, columns); None for one that is 0 throughout.
    top, lefts
        First row, the same for all, and first columns (n,); may lie outside.
    size
        Side in pixels.

    Returns
    -------
    NDArray
        Shape (n, size, size).
    """
    cut = np.zeros((len(lefts), size, size), np.float32)
    if image is None or not len(lefts):
        return cut
    first, last = max(top, 0), min(top + size, image.shape[0])
    if first >= last:
        return cut
    left = int(lefts.min())
    strip = np.zeros((last - first, int(lefts.max()) + size - left), np.float32)
    start, end = max(left, 0), min(left + strip.shape[1], image.shape[1])
    if start < end:
        with np.errstate(over="ignore", invalid="ignore"):
            part = image[first:last, start:end].astype(np.float32)
        strip[:, start - left : end - left] = np.where(np.isfinite(part), part, 0)
    view = np.lib.stride_tricks.sliding_window_view(strip, size, axis=1)
    cut[:, first - top : last - top] = view[:, lefts - left].transpose(1, 0, 2)
    return cut


def has_structure(blocks: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Tell which blocks vary enough, beyond a gradient and noise, to be placed.

    The variance about the block's best plane must be at least twice that of white noise as
    J. Immerkær's second differences estimate it (Computer Vision and Image Understanding 64,
    300-302, 1996).

    Parameters
    ----------
    blocks
        Shape (n, size, size), at least 3 pixels a side.
    """
    size = blocks.shape[1]
    level = np.abs(blocks).max(axis=(1, 2), keepdims=True)
    values = blocks / np.maximum(level, np.finfo(np.float32).tiny)
    values = values - values.mean(axis=(1, 2), keepdims=True)
    at = np.linspace(-1, 1, size, dtype=np.float32)
    down = (values * at[:, None]).sum(axis=(1, 2)) / (size * (at**2).sum())
    across = (values * at).sum(axis=(1, 2)) / (size * (at**2).sum())
    values = values - down[:, None, None] * at[:, None] - across[:, None, None] * at
    variance = (values**2).mean(axis=(1, 2))
    twice = values[:, 2:] - 2 * values[:, 1:-1] + values[:, :-2]
    twice = twice[:, :, 2:] - 2 * twice[:, :, 1:-1] + twice[:, :, :-2]
    noise = (twice**2).mean(axis=(1, 2)) / 36
    structured: NDArray[np.bool_] = (variance > _TINY) & (variance >= _LEAST_STRUCTURE * noise)
    return structured


def place(blocks: NDArray[np.float32], around: NDArray[np.float32]) -> Placement:
    """Find each block in its surroundings.

    Normalised cross-correlation at every whole-pixel place (J. P. Lewis, Fast normalized
    cross-correlation, 1995; as scikit-image's `match_template`), refined by a parabola through
    the neighbours of the maximum. Gain and offset of either side do not matter.

    Parameters
    ----------
    blocks
        Shape (n, size, size).
    around
        Where to look, shape (n, size + 2 reach, size + 2 reach), the block's own place in the
        middle.
    """
    size, reach = blocks.shape[1], (around.shape[1] - blocks.shape[1]) // 2
    surface = _likeness(blocks, around)
    count, side = len(surface), 2 * reach + 1
    best = surface.reshape(count, -1).argmax(axis=1)
    row, column = np.divmod(best, side)
    each = np.arange(count)
    likeness = surface[each, row, column].astype(np.float64)
    inside = (row > 0) & (row < side - 1) & (column > 0) & (column < side - 1)
    up, down = np.clip(row - 1, 0, side - 1), np.clip(row + 1, 0, side - 1)
    left, right = np.clip(column - 1, 0, side - 1), np.clip(column + 1, 0, side - 1)
    fine_row = _parabola(surface[each, up, column], likeness, surface[each, down, column])
    fine_column = _parabola(surface[each, row, left], likeness, surface[each, row, right])
    shift = np.stack([row + fine_row, column + fine_column], axis=1) - reach
    shift[~inside] = np.stack([row, column], axis=1)[~inside] - reach
    assert size + 2 * reach == around.shape[2]
    return Placement(shift.astype(np.float64), likeness, inside)


def common_shift(shifts: NDArray[np.float64], reach: int, least: int = 1) -> NDArray[np.float64]:
    """Return the shift that most blocks share: where a mosaic's origin lies is a convention.

    The neighbourhood of 3 × 3 whole pixels with most shifts is found, the nearest to zero of
    equals, and the median of the shifts in it taken.

    Parameters
    ----------
    shifts
        Shape (n, 2). Without any the result is zero.
    reach
        What no shift exceeds on either axis.
    least
        How many blocks must share it; zero is returned where they are fewer.
    """
    if not len(shifts):
        return np.zeros(2)
    whole = np.round(shifts).astype(np.int64)
    side = 2 * reach + 3
    count = np.zeros((side, side), np.int64)
    np.add.at(count, tuple((whole + reach + 1).T), 1)
    padded = np.pad(count, 1)
    view = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    boxes = view.sum(axis=(2, 3))
    centre = np.argwhere(boxes == boxes.max()) - reach - 1
    chosen = centre[(centre**2).sum(axis=1).argmin()]
    near = (np.abs(whole - chosen) <= 1).all(axis=1)
    if near.sum() < least:
        return np.zeros(2)
    middle: NDArray[np.float64] = np.median(shifts[near], axis=0)
    return middle


def _likeness(blocks: NDArray[np.float32], around: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the normalised cross-correlation at all places, shape (n, 2 reach + 1, same)."""
    from scipy import fft

    size, wide = blocks.shape[1], around.shape[1]
    side = wide - size + 1
    known, block_energy = _normal(blocks)
    looked, _ = _normal(around)
    shape = (fft.next_fast_len(wide, real=True),) * 2
    spectrum = fft.rfft2(looked, shape) * np.conj(fft.rfft2(known, shape))
    cross = fft.irfft2(spectrum, shape)[:, :side, :side]
    total = _box_sums(looked, size)
    energy = _box_sums(looked**2, size) - total**2 / size**2
    scale = block_energy[:, None, None] * energy
    # Single precision leaves this much of an area that does not vary.
    valid = (energy > 1e-5 * size**2 * (looked**2).max(axis=(1, 2), keepdims=True)) & (scale > 0)
    likeness = np.where(valid, cross / np.sqrt(np.where(valid, scale, 1)), 0)
    return np.clip(likeness, -1, 1).astype(np.float32)


def _normal(blocks: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Return blocks with mean 0 and largest value 1, and their sums of squares."""
    offset = blocks - blocks.mean(axis=(1, 2), keepdims=True, dtype=np.float64)
    level = np.abs(offset).max(axis=(1, 2), keepdims=True)
    flat = level <= _TINY * np.abs(blocks).max(axis=(1, 2), keepdims=True)
    scaled = np.where(flat, 0, offset / np.where(flat, 1, level))
    return scaled.astype(np.float32), (scaled**2).sum(axis=(1, 2))


def _box_sums(values: NDArray[np.float32], size: int) -> NDArray[np.float64]:
    """Return the sums over all squares of a size, shape (n, wide - size + 1, same)."""
    total = np.zeros((len(values), values.shape[1] + 1, values.shape[2] + 1))
    np.cumsum(values, axis=1, dtype=np.float64, out=total[:, 1:, 1:])
    np.cumsum(total[:, 1:, 1:], axis=2, out=total[:, 1:, 1:])
    rows = total[:, size:] - total[:, :-size]
    sums: NDArray[np.float64] = rows[:, :, size:] - rows[:, :, :-size]
    return sums


def _parabola(
    before: NDArray[np.float32], peak: NDArray[np.float64], after: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Return how far the top of a parabola lies from its middle point, in [-0.5, 0.5]."""
    bend = before - 2 * peak + after
    flat = bend >= 0
    offset = (before - after) / (2 * np.where(flat, 1, bend))
    top: NDArray[np.float64] = np.where(flat, 0, np.clip(offset, -0.5, 0.5)).astype(np.float64)
    return top
