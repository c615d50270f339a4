"""The size of a voxel, as a TIFF's metadata tell it."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, TypeVar

from scorers.errors import SubmissionFault
from scorers.files.tiffs import open_tiff

if TYPE_CHECKING:
    from collections.abc import Callable

    from tifffile import TiffFile

    from scorers.files.limits import Limits
    from scorers.files.tree import SubmittedFile

Told = TypeVar("Told")

_MICROMETRES = {
    "um": 1.0,
    "µm": 1.0,
    "μm": 1.0,
    "micron": 1.0,
    "microns": 1.0,
    "nm": 1e-3,
    "mm": 1e3,
}
_CENTIMETRE = 3


def voxel_size(file: SubmittedFile, limits: Limits) -> tuple[float, float, float] | None:
    """Return the size of a voxel in µm along planes, rows and columns.

    Read from OME-XML or from what ImageJ writes. None if the file says nothing, or not all of it.

    Raises
    ------
    SubmissionFault
        The file is no TIFF that can be read.
    """
    sizes = _told_by(file, limits, _voxel)
    if sizes is None or not all(0 < size < math.inf for size in sizes):
        return None
    return sizes


def pixel_size(file: SubmittedFile, limits: Limits) -> float | None:
    """Return the width of a pixel in µm, whatever is told of planes; None if nothing tells it.

    Read from OME-XML, from what ImageJ writes, from the tables of a confocal microscope's LSM file
    of ours, or from a resolution per centimetre. One per inch is a default that means nothing.

    Raises
    ------
    SubmissionFault
        The file is no TIFF that can be read.
    """
    size = _told_by(file, limits, _width_of_pixel)
    return size if size is not None and 0 < size < math.inf else None


def compression_of(file: SubmittedFile, limits: Limits) -> int:
    """Return the number of the compression of a TIFF's first page.

    Raises
    ------
    SubmissionFault
        The file is no TIFF that can be read.
    """
    return _told_by(file, limits, lambda tiff: int(tiff.pages.first.compression))


def _told_by(file: SubmittedFile, limits: Limits, read: Callable[[TiffFile], Told]) -> Told:
    try:
        with (
            file.open(limits.metadata_bytes) as opened,
            open_tiff(opened, limits, file.budget, trusted=file.trusted) as tiff,
        ):
            return read(tiff)
    except (SubmissionFault, MemoryError):
        raise
    except Exception as fault:
        # What tifffile raises of a broken file is of many kinds and means one thing.
        raise SubmissionFault(f"{file.path} is unreadable: {str(fault)[:200]}") from fault


def _voxel(tiff: TiffFile) -> tuple[float, float, float] | None:
    text = tiff.pages.first.description or ""
    return _from_ome(text) if tiff.is_ome else _from_imagej(tiff)


def _width_of_pixel(tiff: TiffFile) -> float | None:
    if tiff.is_ome:
        text = tiff.pages.first.description or ""
        size = re.search(r'\bPhysicalSizeX="([^"]{1,40})"', text)
        unit = re.search(r'\bPhysicalSizeXUnit="([^"]{1,10})"', text)
        scale = _MICROMETRES.get(unit.group(1) if unit else "µm")
        return None if size is None or scale is None else float(size.group(1)) * scale
    if tiff.is_lsm:
        return float((tiff.lsm_metadata or {}).get("VoxelSizeX", 0)) * 1e6
    across = _pixels_per_unit(tiff, "XResolution")
    if across is None:
        return None
    if tiff.imagej_metadata is not None:
        scale = _MICROMETRES.get(_plain(str(tiff.imagej_metadata.get("unit", ""))))
        return None if scale is None else scale / across
    unit_tag: Any = tiff.pages.first.tags.get("ResolutionUnit")
    return 1e4 / across if unit_tag is not None and unit_tag.value == _CENTIMETRE else None


def _from_ome(text: str) -> tuple[float, float, float] | None:
    sizes = []
    for axis in "ZYX":
        size = re.search(rf'\bPhysicalSize{axis}="([^"]{{1,40}})"', text)
        unit = re.search(rf'\bPhysicalSize{axis}Unit="([^"]{{1,10}})"', text)
        scale = _MICROMETRES.get(unit.group(1) if unit else "µm")
        if size is None or scale is None:
            return None
        sizes.append(float(size.group(1)) * scale)
    return sizes[0], sizes[1], sizes[2]


def _from_imagej(tiff: TiffFile) -> tuple[float, float, float] | None:
    told = tiff.imagej_metadata
    if not told or "spacing" not in told:
        return None
    scale = _MICROMETRES.get(_plain(str(told.get("unit", ""))))
    across, down = (_pixels_per_unit(tiff, f"{axis}Resolution") for axis in "XY")
    if scale is None or across is None or down is None:
        return None
    return float(told["spacing"]) * scale, scale / down, scale / across


def _plain(unit: str) -> str:
    """Return a unit without the escape that ImageJ writes for µ."""
    return unit.replace("\\u00B5", "µ").lower()


def _pixels_per_unit(tiff: TiffFile, name: str) -> float | None:
    tag: Any = tiff.pages.first.tags.get(name)
    if tag is None:
        return None
    numerator, denominator = tag.value
    return numerator / denominator if numerator and denominator else None
