"""Instance segmentation of one kind of object, in images or volumes.

Published: foreground Dice and IoU, AP at IoU 0.5 and 0.75, panoptic quality and, in images,
boundary F1, each as mean over reference images. Strict: panoptic quality, with a wrong shape or a
missing file as 0 and nothing found where nothing is as 1.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.contract import Family, Result
from scorers.errors import SubmissionFault
from scorers.files.deliverables import resolve
from scorers.files.pairing import match_predictions
from scorers.graders.comparison import (
    METRICS,
    MISSING,
    REFERENCE_UNREADABLE,
    SCORED,
    SHAPE_DIFFERS,
    UNREADABLE,
    Comparison,
    compare,
)
from scorers.graders.instance_files import blank, perfect
from scorers.graders.instance_pictures import pictures
from scorers.graders.outlines import Grid
from scorers.graders.references import MASK_SUFFIXES, is_flat, reference_masks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scorers.contract import Job, Scalar
    from scorers.files.pairing import Pairing
    from scorers.files.tree import SubmittedFile

DELIVERABLE = "segmentation_masks"


def grade(job: Job) -> Result:
    """Grade the label images of a submission against those below `evaluation/`."""
    references = reference_masks(job)
    delivered = resolve(job.spec, job.submission, job.limits).require(DELIVERABLE)
    predictions = [file for file in delivered if file.suffix in MASK_SUFFIXES]
    if not predictions:
        raise SubmissionFault(f"none of the delivered {DELIVERABLE} is a TIFF or PNG image")
    listed = [file.listed for file in references]
    pairing = match_predictions(_stems(predictions), _stems(references), listed)
    if not pairing.pairs:
        return _nothing_paired(len(predictions), len(references))
    partner = {reference: predictions[index] for index, reference in pairing.pairs}
    flat = is_flat(job)
    grid = Grid.of(job, flat=flat)
    comparisons = [
        compare(partner.get(index), reference, job.limits, flat=flat, grid=grid)
        for index, reference in enumerate(references)
    ]
    return _summary(job, comparisons, pairing, len(predictions), flat=flat)


def _stems(files: Iterable[SubmittedFile]) -> list[str]:
    return [file.stem for file in files]


def _nothing_paired(n_predictions: int, n_references: int) -> Result:
    error = (
        f"no predicted mask could be paired with a reference: {n_predictions} predicted, "
        f"{n_references} reference files; name each mask as its input image"
    )
    told = {"error": error, "pred_count": n_predictions, "gt_count": n_references}
    return Result(0.0, told, strict=0.0, error=error)


def _summary(
    job: Job, comparisons: list[Comparison], pairing: Pairing, n_files: int, *, flat: bool
) -> Result:
    metrics = _published(comparisons, pairing)
    primary = job.rubric.metric_config.get("primary_metric")
    score = metrics[primary if primary in {*METRICS, "boundary_f1"} else "dice"]
    broken = [c.note for c in comparisons if c.status == REFERENCE_UNREADABLE]
    rows = (row for comparison in comparisons for row in comparison.object_rows())
    return Result(
        result_score=score,
        metrics={"result_score": score, **metrics},
        strict=_mean([c.strict_pq for c in comparisons], 6),
        strict_metrics=_strict(comparisons, n_files - len(pairing.pairs), flat=flat),
        items=[comparison.row() for comparison in comparisons],
        objects=list(islice(rows, job.limits.objects)),
        pictures=pictures(job, comparisons, flat=flat) if job.draws else [],
        fault="; ".join(str(note) for note in broken[:3]) or None,
    )


def _published(comparisons: list[Comparison], pairing: Pairing) -> dict[str, Any]:
    count = _counts(comparisons)
    unread = {UNREADABLE, REFERENCE_UNREADABLE}
    edges = [c.boundary_f1 for c in comparisons if c.boundary_f1 is not None]
    return {
        **{name: _mean([c.published[name] for c in comparisons], 4) for name in METRICS},
        "boundary_f1": _mean(edges, 4) if edges else None,
        "matched_images": len(comparisons) - count[MISSING],
        "scored_images": len(comparisons),
        "missing_prediction_images": count[MISSING],
        "shape_mismatch_images": count[SHAPE_DIFFERS],
        "skipped_images": [
            c.prediction.name for c in comparisons if c.prediction and c.status in unread
        ],
        "match_method": pairing.method,
        "match_low_confidence": pairing.low_confidence,
    }


def _strict(comparisons: list[Comparison], unpaired: int, *, flat: bool) -> dict[str, Scalar]:
    """Return the strict values; the pooled ones are over the objects of all images at once."""
    hits = sum(c.matching.hits for c in comparisons)
    misses = sum(c.matching.misses for c in comparisons)
    false_hits = sum(c.matching.false_hits for c in comparisons)
    iou = sum(float(c.matching.iou.sum()) for c in comparisons)
    total = hits + (misses + false_hits) / 2
    values: dict[str, Scalar] = {
        "strict_pq": _mean([c.strict_pq for c in comparisons], 6),
        "strict_pq_n": len(comparisons),
        "strict_pq_pooled": round(iou / total, 6) if total else 1.0,
        "strict_sq_pooled": round(iou / hits, 6) if hits else 0.0,
        "strict_rq_pooled": round(hits / total, 6) if total else 1.0,
        "strict_pooled_n": hits + misses,
        "strict_hits": hits,
        "strict_misses": misses,
        "strict_false_hits": false_hits,
        "strict_splits": sum(c.anatomy.n_splits for c in comparisons),
        "strict_merges": sum(c.anatomy.n_merges for c in comparisons),
        "strict_unpaired_files": unpaired,
    }
    if flat:
        values["strict_boundary_f1"] = _mean([c.boundary_f1 or 0.0 for c in comparisons], 6)
        values["strict_boundary_f1_n"] = len(comparisons)
    else:
        values["strict_adapted_rand"] = _mean([c.strict_rand for c in comparisons], 6)
        values["strict_adapted_rand_n"] = len(comparisons)
    return values


def _counts(comparisons: list[Comparison]) -> dict[str, int]:
    return {
        status: sum(c.status == status for c in comparisons)
        for status in (SCORED, MISSING, UNREADABLE, SHAPE_DIFFERS, REFERENCE_UNREADABLE)
    }


def _mean(values: Sequence[float], digits: int) -> float:
    return round(float(np.mean(values)), digits)


FAMILY = Family("instance", grade, perfect, blank)
