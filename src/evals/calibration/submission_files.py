"""The files of a submission that is to be damaged: found, read, written back in place."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import tifffile

from scorers.files.images import write_labels
from scorers.files.mosaics import write_mosaic

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from evals.calibration.doses import Pick

    Image = NDArray[Any]

TIFF = "*.tif*"


def found(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a submission by their names, in the order of their paths."""
    return sorted(path for path in folder.rglob(pattern) if path.is_file())


def read_image(path: Path) -> Image:
    """Return an image as it is stored."""
    return np.asarray(tifffile.imread(path))


def write_image(path: Path, image: Image) -> None:
    """Write an image of whole numbers, one page a plane."""
    pages = image.reshape(-1, *image.shape[-2:])
    write_labels(path, image.shape, image.dtype, iter(pages))


def write_channels(path: Path, image: Image) -> None:
    """Write a mosaic of axes ZCYX."""
    pages = image.reshape(-1, *image.shape[-2:])
    z, c, y, x = image.shape
    write_mosaic(path, (z, c, y, x), image.dtype, iter(pages))


def read_table(path: Path, separator: str) -> pd.DataFrame:
    """Return a table with its numbers to the last digit."""
    texts = pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False)
    return texts.apply(_as_numbers)


def _as_numbers(texts: pd.Series[str]) -> pd.Series[Any]:
    """Return a column as whole numbers, else as numbers, else as it is."""
    for kind, dtype in ((int, np.int64), (float, np.float64)):
        with suppress(ValueError):
            return pd.Series([kind(text) for text in texts], texts.index, dtype)
    return texts


def write_table(path: Path, table: pd.DataFrame, separator: str) -> None:
    """Write a table with its numbers to the last digit."""
    table.to_csv(path, sep=separator, index=False, lineterminator="\n")


def change_images(folder: Path, pick: Pick, change: Callable[[Image], Image]) -> int:
    """Change whole images; return how many."""
    paths = found(folder, TIFF)
    hit = [path for path, is_hit in zip(paths, pick.hits(len(paths)), strict=True) if is_hit]
    for path in hit:
        write_image(path, change(read_image(path)))
    return len(hit)


def remove_files(folder: Path, pick: Pick, pattern: str = "*") -> int:
    """Remove files; return how many."""
    paths = found(folder, pattern)
    hit = [path for path, is_hit in zip(paths, pick.hits(len(paths)), strict=True) if is_hit]
    for path in hit:
        path.unlink()
    return len(hit)
