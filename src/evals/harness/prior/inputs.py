"""What the input says of itself: names, shapes and tags; no pixel is decoded."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from scorers.contract import Job

_SUFFIXES = (".tif", ".tiff")
_AXES_OF_AN_IMAGE = 2


def images(job: Job) -> list[Path]:
    """Return the TIFF files of the input in path order, folders of that name left out."""
    if job.input_dir is None:
        return []
    found = (path for path in job.input_dir.rglob("*") if path.suffix.lower() in _SUFFIXES)
    return sorted(path for path in found if path.is_file())


def names(job: Job) -> list[str]:
    """Return the paths of all files and folders of the input, relative, with slashes."""
    if job.input_dir is None:
        return []
    every = job.input_dir.rglob("*")
    return sorted(path.relative_to(job.input_dir).as_posix() for path in every)


def n_frames(path: Path) -> int:
    """Return the number of frames of a movie: along T, else along the first axis."""
    import tifffile

    with tifffile.TiffFile(path) as tiff:
        series = tiff.series[0]
        at = series.axes.find("T")
        return int(series.shape[max(at, 0)]) if len(series.shape) > _AXES_OF_AN_IMAGE else 1


def pixel_size_um(path: Path) -> float | None:
    """Return the size of a pixel as the tag of the vertical resolution has it, in µm."""
    import tifffile

    with tifffile.TiffFile(path) as tiff:
        tag = tiff.pages.first.tags.get("YResolution")
        if tag is None or not all(tag.value):
            return None
        pixels, units = tag.value
        return float(units / pixels)


def frame_interval_min(path: Path) -> float | None:
    """Return the time between frames in minutes as ImageJ's metadata have it."""
    import tifffile

    with tifffile.TiffFile(path) as tiff:
        told = tiff.imagej_metadata or {}
    interval = told.get("finterval")
    if not isinstance(interval, int | float) or interval <= 0:
        return None
    return interval / 60 if str(told.get("tunit", "min")).startswith("s") else float(interval)
