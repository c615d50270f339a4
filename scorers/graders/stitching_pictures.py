"""The pictures of a stitching grade."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.errors import SubmissionFault
from scorers.metrics.placement import windows
from scorers.pictures.canvas import OVERLAY_SIDE, THUMBNAIL_SIDE, as_picture
from scorers.pictures.mosaic import Blocks, checkerboard, displacement_map, small

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.contract import Job, Picture
    from scorers.files.mosaics import Mosaic
    from scorers.graders.stitching_blocks import Grid, Plane

_CROP_BLOCKS = 4


def pictures(
    job: Job,
    planes: list[Plane],
    grid: Grid,
    submitted: Mosaic | None,
    reference: Mosaic,
    origin: NDArray[np.float64],
) -> list[Picture]:
    """Show the plane with most errors: its displacement map, and a checkerboard at the worst."""
    judged = [plane for plane in planes if len(plane.top)]
    if not judged:
        return []
    worst = max(judged, key=lambda plane: (int((~plane.right).sum()), len(plane.top)))
    known = reference.image(worst.channel, worst.z)
    half = grid.block / 2
    centre = np.stack([worst.top + half, worst.left + half], axis=1).astype(np.float64)
    blocks = Blocks(centre, worst.shift, worst.kinds, grid.block)
    what = f"channel {worst.channel}, slice {worst.z}"
    caption = f"Blocks in place in {what}: {int(worst.right.sum())} of {len(worst.top)}"
    little, large = (
        displacement_map(small(known, side), (known.shape[0], known.shape[1]), blocks)
        for side in (THUMBNAIL_SIDE, OVERLAY_SIDE)
    )
    drawn = [
        as_picture("stitching-blocks", caption, little, job.limits, "thumbnail"),
        as_picture("stitching-displacement", caption, large, job.limits),
    ]
    if submitted is not None:
        drawn += _seams(job, worst, grid, submitted, known, origin, what)
    return drawn


def _seams(
    job: Job,
    worst: Plane,
    grid: Grid,
    submitted: Mosaic,
    known: NDArray[Any],
    origin: NDArray[np.float64],
    what: str,
) -> list[Picture]:
    side = min(_CROP_BLOCKS * grid.block, *known.shape)
    error = np.where(worst.right, worst.distance, worst.distance + grid.reach)
    at = int(error.argmax())
    corner = np.array([worst.top[at], worst.left[at]]) + grid.block // 2 - side // 2
    top, left = np.clip(corner, 0, np.array(known.shape) - side).tolist()
    moved_top, moved_left = (np.array([top, left]) + np.round(origin)).astype(int).tolist()
    try:
        own = submitted.image(worst.channel, worst.z)
    except SubmissionFault:
        return []
    crops = [
        windows(image, y, np.array([x]), side)[0]
        for image, y, x in ((own, moved_top, moved_left), (known, top, left))
    ]
    caption = f"Submission and reference in turn round the worst block of {what}"
    image = checkerboard(crops[0], crops[1], OVERLAY_SIDE)
    return [as_picture("stitching-seams", caption, image, job.limits)]
