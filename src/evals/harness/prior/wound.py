"""Wound healing: cells move towards the gap, those near it faster and at first.

Speeds of about 20 µm/h at the edge that fall over some 150 µm are what such assays report (Zaritsky
2014). All that is read is the region that is given as input and where it ends, and the tags of the
movie.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import ndimage

from evals.harness.prior.inputs import frame_interval_min, images, n_frames, pixel_size_um
from scorers.files.fields import write_field

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from scorers.contract import Job

_ROI, _MOVIE = "_roi", "_image_stack"
_BASE_UM_H, _EDGE_UM_H = 8.0, 12.0
_REACH_UM, _LASTING_H = 150.0, 12.0
_USUAL_PIXEL_UM, _USUAL_INTERVAL_MIN = 1.24, 14.5
# As the instruction divides the distance: patches of 15 µm, out to 300.
_PATCH_UM, _RANGE = 15.0, 300


def write(job: Job, out: Path) -> bool:
    """Write the fields of each experiment that has a region and a movie."""
    regions = [path for path in images(job) if path.stem.endswith(_ROI)]
    pairs = [(roi, roi.with_name(roi.name.replace(_ROI, _MOVIE))) for roi in regions]
    pairs = [(roi, movie) for roi, movie in pairs if movie.is_file()]
    for roi, movie in pairs:
        assert job.input_dir is not None
        folder = out / roi.parent.relative_to(job.input_dir)
        stem = roi.stem.removesuffix(_ROI)
        for suffix, field in _fields(roi, movie).items():
            write_field(folder / f"{stem}{suffix}.tif", field)
    return bool(pairs)


def _fields(roi: Path, movie: Path) -> dict[str, NDArray[np.float32]]:
    import tifffile

    pixel_um = pixel_size_um(movie) or _USUAL_PIXEL_UM
    hours = (frame_interval_min(movie) or _USUAL_INTERVAL_MIN) / 60 * np.arange(n_frames(movie) - 1)
    distance_px = ndimage.distance_transform_edt(np.squeeze(tifffile.imread(roi)) > 0)
    down, right = (-part for part in np.gradient(distance_px))
    length = np.maximum(np.hypot(down, right), 1e-6)
    speed = np.where(distance_px > 0, _speed(distance_px * pixel_um, np.zeros(())), 0.0)
    patch_px = math.ceil(_PATCH_UM / pixel_um)
    middle_um = (np.arange(_RANGE // patch_px) + 0.5) * patch_px * pixel_um
    fields = {
        "_mf_dxs": speed * right / length,
        "_mf_dys": speed * down / length,
        "_speedKymograph": _speed(middle_um[:, None], hours[None, :]),
    }
    return {suffix: field.astype(np.float32) for suffix, field in fields.items()}


def _speed(distance_um: NDArray[Any], hours: NDArray[Any]) -> NDArray[np.float64]:
    """Return speeds in µm/h."""
    near = np.exp(-distance_um / _REACH_UM) * np.exp(-hours / _LASTING_H)
    speed: NDArray[np.float64] = _BASE_UM_H + _EDGE_UM_H * near
    return speed
