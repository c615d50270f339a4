"""The strict value of stitching: whether each part of the mosaic is where it belongs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from scorers.graders.spacing import pixel_um_of
from scorers.graders.stitching_blocks import grid_of, look_for, take_off_origin
from scorers.graders.stitching_pictures import pictures

if TYPE_CHECKING:
    from scorers.contract import Job, Result, Scalar
    from scorers.files.mosaics import Mosaic
    from scorers.graders.stitching_blocks import Grid, Plane


def judge(
    job: Job, submitted: Mosaic | None, error: str | None, reference: Mosaic, result: Result
) -> None:
    """Add the strict value, its metrics, rows and pictures to a result.

    `strict_in_place`, in [0, 1]: the share of blocks that lie within one pixel of their true
    place, as mean over channels. The published score looks at 100 rows; this at blocks all over
    the mosaic (at most 32 × 32), in every channel of every slice. A block counts if the reference
    shows structure there. It is in place if it is found by normalised cross-correlation (at least
    0.5) no farther than a pixel away, once the shift that most blocks share is taken off: where a
    mosaic's origin lies is a convention. What the submission does not cover, or another number of
    channels or slices, is not in place.
    """
    at = reference.geometry
    status = "scored"
    if submitted is None:
        status = "unreadable"
    elif (submitted.geometry.n_channels, submitted.geometry.n_slices) != (
        at.n_channels,
        at.n_slices,
    ):
        status, submitted = "wrong shape", None
    grid = grid_of(job, at.height, at.width)
    planes = look_for(submitted, reference, grid)
    origin = take_off_origin(planes, grid)
    pixel = pixel_um_of(job)
    n = sum(len(plane.top) for plane in planes)
    by_channel = [_pooled([p for p in planes if p.channel == c]) for c in range(at.n_channels)]
    known = [share for share in by_channel if share is not None]
    result.strict = round(float(np.mean(known)), 6) if known else None
    off = np.concatenate([plane.distance[plane.found] for plane in planes])
    middle = float(np.median(off)) if len(off) else None
    result.strict_metrics = {
        "strict_in_place": result.strict,
        "strict_in_place_n": len(known),
        "strict_in_place_pooled": _pooled(planes),
        "strict_blocks_n": n,
        "strict_displaced": sum(int((plane.found & ~plane.right).sum()) for plane in planes),
        "strict_not_found": sum(int((~plane.found).sum()) for plane in planes),
        "strict_displacement_px": middle,
        "strict_displacement_um": None if pixel is None or middle is None else middle * pixel,
        "strict_displacement_n": len(off),
        "strict_origin_shift_y_px": float(origin[0]),
        "strict_origin_shift_x_px": float(origin[1]),
        "strict_block_px": grid.block,
        **{f"strict_in_place_channel_{c}": share for c, share in enumerate(by_channel)},
    }
    if error:
        result.strict_metrics["strict_error"] = error
    result.items = [_item(plane, status) for plane in planes]
    result.objects = _objects(planes, grid, pixel, job.limits.objects)
    if job.draws:
        result.pictures = pictures(job, planes, grid, submitted, reference, origin)


def _pooled(planes: list[Plane]) -> float | None:
    right = [plane.right for plane in planes if len(plane.top)]
    return round(float(np.concatenate(right).mean()), 6) if right else None


def _item(plane: Plane, status: str) -> dict[str, Scalar]:
    right, found = int(plane.right.sum()), int(plane.found.sum())
    off = plane.distance[plane.found]
    return {
        "item": f"channel {plane.channel} slice {plane.z}",
        "status": status,
        "strict_in_place": None if plane.share is None else round(plane.share, 4),
        "blocks": len(plane.top),
        "blocks_in_place": right,
        "blocks_displaced": found - right,
        "blocks_not_found": len(plane.top) - found,
        "median_displacement_px": round(float(np.median(off)), 3) if len(off) else None,
    }


def _objects(
    planes: list[Plane], grid: Grid, pixel: float | None, most: int
) -> list[dict[str, Scalar]]:
    """Return one row a block; the shift is that beyond the mosaic's own origin."""
    rows: list[dict[str, Scalar]] = []
    half = grid.block / 2
    for plane in planes:
        room = max(most - len(rows), 0)
        columns = (plane.kinds, plane.top + half, plane.left + half, plane.shift, plane.found)
        listed = [column[:room].tolist() for column in columns]
        likeness = np.round(plane.likeness[:room], 4).tolist()
        rows += [
            {
                "item": f"channel {plane.channel} slice {plane.z}",
                "kind": kind,
                "y_px": y,
                "x_px": x,
                "shift_y_px": round(shift[0], 3) if found else None,
                "shift_x_px": round(shift[1], 3) if found else None,
                "shift_um": _length(shift, pixel) if found else None,
                "likeness": alike,
            }
            for kind, y, x, shift, found, alike in zip(*listed, likeness, strict=True)
        ]
    return rows


def _length(shift: list[float], pixel: float | None) -> float | None:
    return None if pixel is None else round(math.hypot(*shift) * pixel, 4)
