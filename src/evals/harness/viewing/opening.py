"""Opening an image file by its kind, without reading more pixels than a view needs."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import ExitStack
    from pathlib import Path

    from numpy.typing import NDArray

MAX_PLANE_BYTES = 1 << 30  # one decoded plane
CENTIMETRE = 3  # in TIFF's field for the unit of the resolution
STACKED = (".tif", ".tiff", ".lsm", ".npy")
FLAT = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp")


class ViewError(Exception):
    """What keeps a file from being shown, worded for the model that asked."""


@dataclass
class Source:
    """An opened image.

    Attributes
    ----------
    axes, shape, dtype
        As stored: Y rows, X columns, C channels, S colours (red, green, blue), Z depth, T time;
        any other letter is a stack axis that the file does not explain.
    inner
        How many of the last axes one block has.
    read
        Gives the i-th block, counted over the axes before the inner ones.
    calibration
        Pixel size, spacing and frame interval in words, as far as the file tells them.
    """

    axes: list[str]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    inner: int
    read: Callable[[int], NDArray[Any]]
    calibration: str = ""

    def size(self, axis: str) -> int:
        """Length of an axis; 1 where there is no such axis."""
        return self.shape[self.axes.index(axis)] if axis in self.axes else 1

    @property
    def stack_axes(self) -> list[str]:
        """The axes to choose a plane along: all but rows, columns, channels and colours."""
        return [axis for axis in self.axes if axis not in {"Y", "X", "C", "S"}]

    def plane(self, at: Mapping[str, int]) -> NDArray[Any]:
        """Return rows by columns (by colours) at the given places of the other axes."""
        split = len(self.axes) - self.inner
        outer = self.shape[:split]
        place = tuple(at.get(axis, 0) for axis in self.axes[:split])
        block = self.read(int(np.ravel_multi_index(place, outer)) if outer else 0)
        names = self.axes[split:]
        picks = tuple(slice(None) if name in {"Y", "X", "S"} else at.get(name, 0) for name in names)
        kept = [name for name in names if name in {"Y", "X", "S"}]
        order = [kept.index(name) for name in ("Y", "X", "S") if name in kept]
        return block[picks].transpose(order)


def open_source(path: Path, files: ExitStack) -> Source:
    """Open a file by its kind; pixels are read later, but for PNG, JPEG and their like.

    `files` closes what stays open for that.
    """
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return _open_array(path)
    if suffix in STACKED:
        return _open_tiff(path, files)
    if suffix in FLAT:
        return _open_flat(path)
    known = " ".join(STACKED + FLAT)
    raise ViewError(f"{path.name}: files of this kind cannot be shown, only {known}")


def _check_plane(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    size = math.prod(shape) * dtype.itemsize
    if size > MAX_PLANE_BYTES:
        raise ViewError(
            f"{name}: one plane would decode to {size / 1e9:.1f} GB (shape {shape}, {dtype}); at"
            f" most {MAX_PLANE_BYTES / 1e9:.1f} GB can. Save a crop or a reduced copy and view that"
        )


def _axis_names(axes: str, shape: tuple[int, ...]) -> list[str]:
    """Give each axis a name of its own: QQYX becomes Q, Q2, Y, X; odd numbers of S are channels."""
    names: list[str] = []
    for axis, size in zip(axes, shape, strict=True):
        plain = "C" if axis == "S" and size not in {3, 4} else axis
        taken = sum(name[0] == plain for name in names)
        names.append(f"{plain}{taken + 1}" if taken else plain)
    return names


def _from_memory(mapped: NDArray[Any], axes: str, calibration: str = "") -> Source:
    """Wrap an array whose one block is itself; a mapped file is read where it is looked at."""
    names = _axis_names(axes, mapped.shape)
    return Source(names, mapped.shape, mapped.dtype, mapped.ndim, lambda _: mapped, calibration)


def _open_array(path: Path) -> Source:
    mapped: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    if mapped.ndim < 2:
        raise ViewError(f"{path.name}: shape {mapped.shape} is no image; print its values instead")
    colours = mapped.ndim > 2 and mapped.shape[-1] in {3, 4}
    stack = mapped.ndim - (3 if colours else 2)
    _check_plane(path.name, mapped.shape[stack:], mapped.dtype)
    return _from_memory(mapped, "Q" * stack + ("YXS" if colours else "YX"))


def _open_tiff(path: Path, files: ExitStack) -> Source:
    import tifffile

    tif = files.enter_context(tifffile.TiffFile(path))
    series = tif.series[0]
    axes, shape, dtype = series.axes, tuple(series.shape), np.dtype(series.dtype)
    if "Y" not in axes or "X" not in axes:
        axes = "Q" * (len(shape) - 2) + "YX"
    pages = series.pages
    first = pages[0]
    if first is None:
        raise ViewError(f"{path.name}: the first plane is missing from the file")
    _check_plane(path.name, first.shape, dtype)
    offset = series.dataoffset
    if offset is not None:
        ordered = dtype.newbyteorder(tif.byteorder)
        mapped = np.memmap(path, ordered, "r", offset, shape)
        return _from_memory(mapped, axes, _calibration(tif))

    block = first.shape

    def read(number: int) -> NDArray[Any]:
        page = pages[number]
        return np.zeros(block, dtype) if page is None else np.asarray(page.asarray())

    return Source(_axis_names(axes, shape), shape, dtype, len(block), read, _calibration(tif))


def _calibration(tif: Any) -> str:
    """Return pixel size and spacing as far as OME-XML or ImageJ's fields tell them."""
    if tif.is_ome:
        xml = tif.ome_metadata or ""
        sizes = dict(re.findall(r'PhysicalSize([XYZ])="([^"]{1,30})"', xml))
        unit = re.search(r'PhysicalSizeXUnit="([^"]{1,10})"', xml)
        said = ", ".join(f"{axis} {size}" for axis, size in sorted(sizes.items()))
        return f"pixel size {said} {unit[1] if unit else 'µm'}" if said else ""
    fields = (tif.imagej_metadata or {}) if tif.is_imagej else {}
    named = str(fields.get("unit", ""))
    unit_name = "µm" if named in {"micron", "um", "\\u00B5m"} else named
    parts = [_pixel_size(tif.pages[0].tags, unit_name)]
    if "spacing" in fields:
        parts.append(f"Z step {fields['spacing']:.4g} {unit_name or 'units'}")
    if "finterval" in fields:
        parts.append(f"frame interval {fields['finterval']:.4g} {fields.get('tunit', 's')}")
    return ", ".join(part for part in parts if part)


def _pixel_size(tags: Any, unit_name: str) -> str:
    resolution, unit = tags.get("XResolution"), tags.get("ResolutionUnit")
    if resolution is None or not resolution.value[0]:
        return ""
    size = resolution.value[1] / resolution.value[0]
    if unit is not None and unit.value == CENTIMETRE:
        return f"pixel size {size * 10_000:.4g} µm"
    return f"pixel size {size:.4g} {unit_name}" if unit_name else ""


def _open_flat(path: Path) -> Source:
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None  # the limit on the plane takes its place
    with Image.open(path) as picture:
        width, height = picture.size
        _check_plane(path.name, (height, width, len(picture.getbands())), np.dtype(np.uint8))
        plain = picture.convert("RGB") if picture.mode in {"P", "CMYK", "YCbCr"} else picture
        pixels = np.asarray(plain)
    return _from_memory(pixels, "YXS" if pixels.ndim == 3 else "YX")
