"""The stitched mosaic of a submission and its table of means, damaged in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evals.calibration.submission_files import TIFF, found, read_image, write_channels

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from evals.calibration.doses import Pick

    # Tiles, shape (tiles, slices, channels, rows, columns), and what to hit.
    Tiles = NDArray[Any]

TILES_A_SIDE = 8
SHIFT_PX = 3


def tiles(folder: Path, pick: Pick, change: Callable[[Tiles, Pick], Tiles]) -> int:
    """Change tiles of an even grid; return how many tiles there were. The rest stays as it is."""
    [path] = found(folder, TIFF)
    mosaic = read_image(path)
    rows, columns = (length // TILES_A_SIDE for length in mosaic.shape[-2:])
    inner = mosaic[..., : rows * TILES_A_SIDE, : columns * TILES_A_SIDE]
    slices, channels = mosaic.shape[:2]
    grid = inner.reshape(slices, channels, TILES_A_SIDE, rows, TILES_A_SIDE, columns)
    flat = grid.transpose(2, 4, 0, 1, 3, 5).reshape(-1, slices, channels, rows, columns)
    changed = change(flat, pick).reshape(
        TILES_A_SIDE, TILES_A_SIDE, slices, channels, rows, columns
    )
    mosaic = mosaic.copy()
    mosaic[..., : inner.shape[-2], : inner.shape[-1]] = changed.transpose(2, 3, 0, 4, 1, 5).reshape(
        inner.shape
    )
    write_channels(path, mosaic)
    return TILES_A_SIDE**2


def image(folder: Path, pick: Pick, change: Callable[[NDArray[Any]], NDArray[Any]]) -> int:
    """Change the whole mosaic."""
    [path] = found(folder, TIFF)
    write_channels(path, change(read_image(path)))
    return 1


def blanked(tiles: Tiles, pick: Pick) -> Tiles:
    """Leave tiles out."""
    return np.where(_column(pick.hits(len(tiles))), 0, tiles).astype(tiles.dtype)


def moved(tiles: Tiles, pick: Pick) -> Tiles:
    """Put tiles a few pixels too far to the right."""
    return np.where(_column(pick.hits(len(tiles))), np.roll(tiles, SHIFT_PX, axis=-1), tiles)


def scrambled(tiles: Tiles, pick: Pick) -> Tiles:
    """Put tiles in each other's places."""
    return tiles[pick.exchange(np.arange(len(tiles), dtype=float))]


def other_channels(mosaic: NDArray[Any]) -> NDArray[Any]:
    """Call each channel by the next one's number."""
    return np.roll(mosaic, 1, axis=1)


def turned(mosaic: NDArray[Any]) -> NDArray[Any]:
    """Exchange rows and columns."""
    return np.swapaxes(mosaic, -2, -1)


def _column(hit: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return hit[:, None, None, None, None]
