"""Writers whose bytes depend on nothing but the data: no dates, no host, no random ids."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

_UM_PER_CM = 10_000.0


def write_tiff(
    path: Path,
    image: NDArray[Any],
    *,
    pixel_um: float | None = None,
    axes: str | None = None,
    spacing_um: float | None = None,
    frame_interval_s: float | None = None,
    compressed: bool = True,
) -> None:
    """Write a TIFF: one plane, or a stack in the layout that Fiji and tifffile read alike.

    Parameters
    ----------
    path
        File to write; its folder is made if need be.
    image
        Whole numbers or float32, axes as `axes` says; without them (Y, X) or colours (Y, X, 3).
    pixel_um
        Width of a pixel in µm; stored per centimetre, in stacks per µm as ImageJ does.
    axes
        For stacks: ImageJ's axes in order, such as "ZYX" or "TYX". None: a single picture.
    spacing_um
        Distance of planes in µm, for stacks with Z.
    frame_interval_s
        Seconds between frames, for stacks with T.
    compressed
        Deflate with horizontal differencing; else raw.
    """
    import tifffile

    metadata: dict[str, Any] | None = None
    if axes is not None:
        given = {"axes": axes, "spacing": spacing_um, "finterval": frame_interval_s, "unit": "um"}
        metadata = {key: value for key, value in given.items() if value is not None}
    path.parent.mkdir(parents=True, exist_ok=True)
    tifffile.imwrite(
        path,
        image,
        imagej=axes is not None,
        photometric="rgb" if axes is None and image.ndim == 3 else "minisblack",
        metadata=metadata,
        software=False,
        datetime=False,
        maxworkers=1,
        **_resolution(pixel_um, in_imagej_units=axes is not None),
        **_deflate(image, compressed),
    )


def write_planes(
    path: Path, planes: Iterable[NDArray[Any]], *, shape: tuple[int, int, int], dtype: str
) -> None:
    """Write a TIFF page by page, so that memory follows one plane, and without any metadata.

    Parameters
    ----------
    path
        File to write; its folder is made if need be.
    planes
        As many as `shape` says, taken one after the other.
    shape
        Planes, rows, columns.
    dtype
        Type of whole numbers of the planes.
    """
    import tifffile

    path.parent.mkdir(parents=True, exist_ok=True)
    tifffile.imwrite(
        path,
        iter(planes),
        shape=shape,
        dtype=dtype,
        photometric="minisblack",
        metadata=None,
        software=False,
        datetime=False,
        maxworkers=1,
        compression="zlib",
        predictor=True,
    )


def write_ome_tiff(
    path: Path,
    image: NDArray[Any],
    *,
    axes: str,
    metadata: dict[str, Any] | None = None,
    compressed: bool = True,
) -> None:
    """Write an OME-TIFF whose identifier follows from its name instead of the clock.

    Parameters
    ----------
    path
        File to write, usually `*.ome.tif`.
    image
        Stack with the given axes.
    axes
        OME axes, such as "TYX" or "CZYX".
    metadata
        Further OME fields as tifffile takes them (PhysicalSizeX, TimeIncrement, ...).
    compressed
        Deflate with horizontal differencing; else raw.
    """
    import tifffile

    identifier = uuid.uuid5(uuid.NAMESPACE_URL, path.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    tifffile.imwrite(
        path,
        image,
        ome=True,
        photometric="minisblack",
        metadata={**(metadata or {}), "axes": axes, "UUID": str(identifier), "Creator": "evals"},
        software=False,
        datetime=False,
        maxworkers=1,
        **_deflate(image, compressed),
    )


def write_png(path: Path, image: NDArray[np.uint8]) -> None:
    """Write an 8-bit PNG, grey (Y, X) or colour (Y, X, 3), without text or time chunks."""
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image).save(path, format="PNG", compress_level=6)


def write_bmp(path: Path, image: NDArray[np.uint8]) -> None:
    """Write an uncompressed 8-bit BMP, grey (Y, X) or colour (Y, X, 3)."""
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image).save(path, format="BMP")


def write_table(
    path: Path, header: Sequence[str], rows: Iterable[Sequence[object]], delimiter: str = ","
) -> None:
    """Write a text table, one row a line, lines ended by a newline; an empty header is left out.

    Floats must come rounded: they are written as Python prints them.
    """
    lines = [delimiter.join(header)] if header else []
    lines += [delimiter.join(str(cell) for cell in row) for row in rows]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")


def _resolution(pixel_um: float | None, *, in_imagej_units: bool) -> dict[str, Any]:
    if pixel_um is None:
        return {}
    if in_imagej_units:
        # ImageJ counts pixels per `unit` of its own description.
        return {"resolution": (1 / pixel_um, 1 / pixel_um), "resolutionunit": "NONE"}
    per_cm = _UM_PER_CM / pixel_um
    return {"resolution": (per_cm, per_cm), "resolutionunit": "CENTIMETER"}


def _deflate(image: NDArray[Any], compressed: bool) -> dict[str, Any]:
    if not compressed:
        return {}
    return {"compression": "zlib", "predictor": image.dtype.kind in "iu"}
