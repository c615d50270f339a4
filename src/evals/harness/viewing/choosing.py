"""Which part of an image is shown: planes, channels, region, projection."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from evals.harness.viewing.opening import Source, ViewError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Window = tuple[slice, slice]

MAX_STACK_BYTES = 16 << 30  # all planes of one projection
MOST_CHANNELS = 4  # in one composite
PROJECTIONS = ("none", "max", "mean", "min")


def stack_axis(source: Source) -> str:
    """Return the axis that a bare plane number and a projection go along: Z, else the first."""
    return "Z" if "Z" in source.stack_axes else source.stack_axes[0]


def choose_planes(source: Source, plane: int | str | None) -> dict[str, int]:
    """Say where along each stack axis to look: by default the first time, the middle elsewhere."""
    at = {axis: 0 if axis == "T" else source.size(axis) // 2 for axis in source.stack_axes}
    for axis, number in _wanted_places(source, plane):
        size = source.size(axis)
        if not -size <= number < size:
            raise ViewError(f"plane {axis}={number} is outside: {axis} goes from 0 to {size - 1}")
        at[axis] = number % size
    return at


def _wanted_places(source: Source, plane: int | str | None) -> Iterator[tuple[str, int]]:
    axes = source.stack_axes
    if plane is None or not str(plane).strip() or (not axes and str(plane).strip() == "0"):
        return
    if not axes:
        raise ViewError("this image has a single plane: leave `plane` out")
    for part in str(plane).split(","):
        name, _, number = part.rpartition("=")
        axis = name.strip().upper() or stack_axis(source)
        if axis not in axes or not re.fullmatch(r"\s*-?\d+\s*", number):
            example = ",".join(f"{known}=0" for known in axes)
            raise ViewError(
                f"plane {part.strip()!r} is not understood; write for example {example}"
            )
        yield axis, int(number)


def choose_channels(source: Source, channel: int | str | None) -> tuple[list[int], int | None]:
    """Return the numbers along C to show, and which colour of an RGB image is wanted (or None)."""
    count = source.size("C")
    if channel is None or not str(channel).strip():
        return list(range(min(count, MOST_CHANNELS))), None
    if not re.fullmatch(r"\s*\d+\s*", str(channel)):
        raise ViewError(f"channel {channel!r} is not understood; write one whole number from 0")
    number = int(channel)
    colours = "C" not in source.axes and "S" in source.axes
    count = source.size("S") if colours else count
    if number >= count:
        raise ViewError(f"channel {number} is outside: there are channels 0 to {count - 1}")
    return ([0], number) if colours else ([number], None)


def parse_region(region: str | None, height: int, width: int) -> Window:
    """Turn `y0:y1,x0:x1` into slices inside the image."""
    if not region:
        return slice(0, height), slice(0, width)
    numbers = re.fullmatch(r"\s*\[?\s*(\d*)\s*:\s*(\d*)\s*,\s*(\d*)\s*:\s*(\d*)\s*\]?\s*", region)
    if numbers is None:
        raise ViewError(f"region {region!r} is not understood; write y0:y1,x0:x1 in pixels")
    top, bottom, left, right = (int(text) if text else None for text in numbers.groups())
    rows = slice(*slice(top, bottom).indices(height)[:2])
    columns = slice(*slice(left, right).indices(width)[:2])
    if rows.start >= rows.stop or columns.start >= columns.stop:
        raise ViewError(f"region {region!r} is empty; the image has {height} rows, {width} columns")
    return rows, columns


def take(source: Source, at: dict[str, int], projection: str, window: Window) -> NDArray[Any]:
    """Return one plane, or the projection of all along the stack axis, read plane by plane."""
    if projection not in PROJECTIONS:
        raise ViewError(f"projection {projection!r}: write one of {', '.join(PROJECTIONS)}")
    if projection == "none":
        return np.asarray(source.plane(at)[window])
    if not source.stack_axes:
        raise ViewError("this image has a single plane: nothing to project")
    axis = stack_axis(source)
    count = source.size(axis)
    first = source.plane({**at, axis: 0})[window]
    if first.nbytes * count > MAX_STACK_BYTES:
        size = f"{first.nbytes * count / 1e9:.0f} GB"
        raise ViewError(f"this projection would read {size}: view planes, or a smaller region")
    result = first.astype(np.float64) if projection == "mean" else np.array(first)
    combine = {"max": np.maximum, "min": np.minimum, "mean": np.add}[projection]
    for number in range(1, count):
        combine(result, source.plane({**at, axis: number})[window], out=result)
    return result / count if projection == "mean" else result
