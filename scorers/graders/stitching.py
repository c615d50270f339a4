"""Stitching a mosaic of several channels, and cytometry on it.

Published: how well the mosaic's shape and the profile of its central band fit the reference mosaic
(70 %), and how well reported means fit a published table (30 %). Strict: the share of blocks, all
over the mosaic and in every channel, that lie within a pixel of their true place.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from scorers.contract import Family, Result
from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.deliverables import resolve
from scorers.files.mosaics import open_mosaic
from scorers.graders.settings import setting
from scorers.graders.stitching_features import alignment, directions, effect_size
from scorers.graders.stitching_files import blank, perfect, reference_image, reference_means
from scorers.graders.stitching_quality import quality
from scorers.graders.stitching_strict import judge
from scorers.graders.stitching_tables import OverlongRow, complete, read_cells, read_summary

if TYPE_CHECKING:
    from scorers.contract import Job
    from scorers.files.mosaics import Mosaic
    from scorers.files.tree import SubmittedFile
    from scorers.graders.stitching_tables import Means

IMAGE, SUMMARY, CELLS = "stitched_image", "summary_statistics", "per_cell_features"


def grade(job: Job) -> Result:
    """Grade a mosaic and its tables against those in `evaluation/`.

    A capsule without a usable reference mosaic is graded by its table alone, as published; then
    there is no strict value.
    """
    resolution = resolve(job.spec, job.submission, job.limits)
    (image,) = resolution.require(IMAGE)
    (summary,) = resolution.require(SUMMARY)
    cells = resolution.found.get(CELLS, ())
    try:
        reference = reference_means(job)
    except CapsuleFault as fault:
        # As published this is a zero; it is our own fault all the same.
        return Result(0.0, {"error": str(fault)}, fault=str(fault))
    try:
        means, source = _means(summary, cells, job)
    except _Unevaluable as fault:
        return Result(None, {"error": str(fault)}, strict=0.0, error=str(fault))
    feature_score, feature_detail = alignment(means, reference.means, job)
    result = Result(None)
    stitching = _mosaic(job, image, result)
    if stitching is None:
        score = feature_score
    else:
        weights = [
            setting(job, "stitching_weight", 0.7),
            setting(job, "feature_alignment_weight", 0.3),
        ]
        score = weights[0] * stitching + weights[1] * feature_score
    effect = effect_size(means, reference)
    result.result_score = round(score, 4)
    result.metrics = {
        "result_score": result.result_score,
        "primary_metric": "weighted_score",
        "weighted_score": result.result_score,
        "stitching_quality": None if stitching is None else round(stitching, 4),
        **result.metrics,
        "feature_alignment": round(feature_score, 4),
        "feature_alignment_detail": feature_detail,
        **directions(means, reference.means),
        **({} if effect is None else {"effect_size": effect}),
        "summary_source": source,
        "summary_csv": str(summary.path),
        "stitched_image": str(image.path),
        "per_cell_features_present": bool(cells),
    }
    return result


class _Unevaluable(Exception):
    """What the published evaluator raises on."""


def _means(summary: SubmittedFile, cells: tuple[SubmittedFile, ...], job: Job) -> tuple[Means, str]:
    """Return the means of the summary, or of the cells if it has no feature of both kinds."""
    means = read_summary(summary, job.limits)
    if complete(means) or not cells:
        return means, SUMMARY
    try:
        derived = read_cells(cells[0], job.limits)
    except OverlongRow as fault:
        raise _Unevaluable(str(fault)) from fault
    except SubmissionFault:
        return means, SUMMARY
    return (derived, CELLS) if complete(derived) else (means, SUMMARY)


def _mosaic(job: Job, file: SubmittedFile, result: Result) -> float | None:
    """Compare the mosaics; add metrics, strict values, rows and pictures to the result."""
    with ExitStack() as opened:
        reference = _reference(job, opened, result)
        if reference is None:
            return None
        submitted, error = _submitted(job, file, opened)
        score, detail, error = quality(job, submitted, error, reference)
        detail["reference_image"] = reference.path
        result.metrics["stitching_detail"] = detail
        judge(job, None if error else submitted, error, reference, result)
        return score


def _reference(job: Job, opened: ExitStack, result: Result) -> Mosaic | None:
    file = reference_image(job)
    if file is None:
        reason = "no reference mosaic (.lsm, .tif, .tiff) in evaluation/"
    else:
        try:
            return opened.enter_context(open_mosaic(file, job.limits.for_references()))
        except SubmissionFault as fault:
            reason = f"evaluation/{fault}"
    result.metrics["stitching_detail"] = {"error": reason}
    result.strict_metrics = {"strict_in_place": None, "strict_unavailable": reason}
    return None


def _submitted(
    job: Job, file: SubmittedFile, opened: ExitStack
) -> tuple[Mosaic | None, str | None]:
    try:
        return opened.enter_context(open_mosaic(file, job.limits)), None
    except SubmissionFault as fault:
        return None, str(fault)


FAMILY = Family("stitching", grade, perfect, blank)
