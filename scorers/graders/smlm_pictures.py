"""Pictures of localised molecules: rendered beside the reference, and the offsets of the hits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorers.errors import SubmissionFault
from scorers.files.images import open_stack
from scorers.files.tree import reference_tree
from scorers.pictures.canvas import OVERLAY_SIDE, THUMBNAIL_SIDE, as_picture
from scorers.pictures.molecules import Residuals, densest, quiver, side_by_side, whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.contract import Job, Picture
    from scorers.files.images import Stack
    from scorers.graders.smlm_strict import Verdict

_MOVIES = frozenset({".tif", ".tiff"})
_MOST_FRAMES = 100
_CLOSE, _WIDE = 16.0, 48.0


def pictures(verdict: Verdict, job: Job) -> list[Picture]:
    """Return the densest place rendered, the offsets around it, and everything rendered."""
    known = verdict.reference.place
    if not len(known):
        return []
    told = verdict.predicted.place[np.isfinite(verdict.predicted.place).all(axis=1)]
    what = f"Jaccard {verdict.jaccard:.2f}, hits {verdict.rmse_nm:.0f} nm off (root mean square)"
    close, wide = densest(known, _CLOSE), densest(known, _WIDE)
    return [
        as_picture(
            "molecules-densest",
            f"Densest place, reference and submission: {what}",
            side_by_side(known, told, close, THUMBNAIL_SIDE),
            job.limits,
            "thumbnail",
        ),
        as_picture(
            "molecules-offsets",
            f"From each molecule to where it was submitted, all frames: {what}",
            quiver(_mean_frame(job), _residuals(verdict), wide, OVERLAY_SIDE),
            job.limits,
        ),
        as_picture(
            "molecules-rendered",
            f"All frames rendered, reference and submission: {what}",
            side_by_side(known, told, whole(known), OVERLAY_SIDE),
            job.limits,
        ),
    ][: job.limits.overlays + 1]


def _residuals(verdict: Verdict) -> Residuals:
    reference, predicted, pairs = verdict.reference, verdict.predicted, verdict.pairs
    return Residuals(
        hit=reference.place[pairs.reference],
        partner=predicted.place[pairs.predicted],
        miss=reference.place[verdict.misses],
        false_hit=predicted.place[verdict.false_hits],
        radius=verdict.radius,
    )


def _mean_frame(job: Job) -> NDArray[np.float64] | None:
    """Return the mean of up to a hundred frames of the first movie of `input/`, or None."""
    if job.input_dir is None:
        return None
    files = reference_tree(job.input_dir, job.limits).files
    for file in [file for file in files if file.suffix in _MOVIES][:1]:
        try:
            with open_stack(file, job.limits.for_references()) as stack:
                return _mean(stack)
        except SubmissionFault:
            return None
    return None


def _mean(stack: Stack) -> NDArray[np.float64]:
    frames = np.unique(np.linspace(0, stack.n_planes - 1, _MOST_FRAMES).astype(int)).tolist()
    total = np.zeros(stack.plane_shape)
    for frame in frames:
        total += stack.plane(frame)
    mean: NDArray[np.float64] = total / len(frames)
    return mean
