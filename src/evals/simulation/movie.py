"""Movies written frame by frame, so that memory follows one frame."""

from __future__ import annotations

import uuid
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray


def write_ome_movie(
    path: Path,
    frames: Iterable[NDArray[Any]],
    *,
    shape: tuple[int, int, int],
    dtype: str,
    metadata: dict[str, Any],
) -> None:
    """Write an OME-TIFF (T, Y, X), one page a frame, whose bytes depend on the data alone.

    Parameters
    ----------
    path
        File to write, usually `*.ome.tif`.
    frames
        As many frames as `shape` says, taken one after the other.
    shape
        Frames, rows, columns.
    dtype
        Type of whole numbers of the frames.
    metadata
        Further OME fields as tifffile takes them (PhysicalSizeX, TimeIncrement, ...).
    """
    import tifffile

    identifier = uuid.uuid5(uuid.NAMESPACE_URL, path.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    tifffile.imwrite(
        path,
        iter(frames),
        shape=shape,
        dtype=dtype,
        ome=True,
        photometric="minisblack",
        metadata={**metadata, "axes": "TYX", "UUID": str(identifier), "Creator": "evals"},
        software=False,
        datetime=False,
        maxworkers=1,
        compression="zlib",
        predictor=True,
    )


def write_hyperstack(
    path: Path,
    pages: Iterable[NDArray[Any]],
    *,
    shape: tuple[int, ...],
    axes: str,
    dtype: str,
    pixel_um: float,
    spacing_um: float | None = None,
    frame_interval_s: float | None = None,
) -> None:
    """Write an ImageJ hyperstack page by page, deflated as far as it goes.

    Counts of a few photons are deflated better as they are than as differences.

    Parameters
    ----------
    path
        File to write.
    pages
        Planes (Y, X) in the order of `axes`.
    shape, axes
        Of the whole, such as "TZCYX".
    dtype
        "uint8" or "uint16".
    pixel_um, spacing_um, frame_interval_s
        Width of a pixel, distance of planes (None without Z), time between frames (None without T).
    """
    import tifffile

    metadata = {"axes": axes, "spacing": spacing_um, "finterval": frame_interval_s, "unit": "um"}
    path.parent.mkdir(parents=True, exist_ok=True)
    tifffile.imwrite(
        path,
        iter(pages),
        shape=shape,
        dtype=dtype,
        imagej=True,
        photometric="minisblack",
        metadata={key: value for key, value in metadata.items() if value is not None},
        resolution=(1 / pixel_um, 1 / pixel_um),
        resolutionunit="NONE",
        software=False,
        datetime=False,
        maxworkers=1,
        compression="zlib",
        compressionargs={"level": 9},
    )


class PackedFrames:
    """Frames kept deflated until they are wanted: labels shrink to a hundredth."""

    def __init__(self) -> None:
        self._packed: list[tuple[bytes, np.dtype[Any], tuple[int, ...]]] = []

    def append(self, frame: NDArray[Any]) -> None:
        """Keep one frame."""
        self._packed.append((zlib.compress(frame.tobytes(), 1), frame.dtype, frame.shape))

    def __iter__(self) -> Iterator[NDArray[Any]]:
        """Yield the frames in order."""
        for data, dtype, shape in self._packed:
            yield np.frombuffer(zlib.decompress(data), dtype).reshape(shape)
