"""Instance segmentation of several compartments of the same cells: nuclei and cytoplasm.

Published: the metrics of instance segmentation in each compartment by itself, the score their
mean. Strict: panoptic quality of whole cells, whose compartments carry one id.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.contract import Family, Result
from scorers.files.deliverables import resolve
from scorers.files.pairing import match_predictions
from scorers.graders.comparison import (
    METRICS,
    MISSING,
    REFERENCE_UNREADABLE,
    UNREADABLE,
    Comparison,
    compare,
)
from scorers.graders.compartments_files import (
    blank,
    compartments,
    deliverable,
    nothing_there,
    perfect,
    references,
)
from scorers.graders.compartments_strict import judge
from scorers.graders.outlines import Grid
from scorers.graders.references import is_flat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorers.contract import Job
    from scorers.files.tree import SubmittedFile


@dataclass(frozen=True)
class Compartment:
    """What became of one compartment.

    Attributes
    ----------
    told
        What the published evaluator reports of it.
    comparisons
        One for each reference image, in path order; none where the compartment has no reference.
    unpaired
        Submitted files that belong to no reference.
    """

    name: str
    told: dict[str, Any]
    comparisons: list[Comparison] = field(default_factory=list)
    unpaired: int = 0


def grade(job: Job) -> Result:
    """Grade the label images of a submission, compartment by compartment and as cells."""
    known = references(job)
    resolution = resolve(job.spec, job.submission, job.limits)
    delivered = {name: resolution.require(deliverable(name)) for name in compartments(job)}
    if not any(known.values()):
        raise nothing_there(job)
    parts = [_compartment(name, delivered[name], known[name], job) for name in known]
    named = job.rubric.metric_config.get("primary_metric")
    primary = named if named in {*METRICS, "boundary_f1"} else "dice"
    values = [part.told.get(primary) or 0.0 for part in parts if part.comparisons]
    score = round(float(np.mean(values)), 4)
    metrics = {
        "result_score": score,
        "primary_metric": primary,
        "compartments": {part.name: part.told for part in parts},
    }
    broken = [
        str(comparison.note)
        for part in parts
        for comparison in part.comparisons
        if comparison.status == REFERENCE_UNREADABLE
    ]
    result = Result(score, metrics, fault="; ".join(broken[:3]) or None)
    errors = [f"{part.name}: {part.told['error']}" for part in parts if "error" in part.told]
    result.error = "; ".join(errors) or None
    judge({part.name: part.comparisons for part in parts}, job, result)
    result.strict_metrics["strict_unpaired_files"] = sum(part.unpaired for part in parts)
    return result


FAMILY = Family("compartments", grade, perfect, blank)


def _compartment(
    name: str,
    predictions: Sequence[SubmittedFile],
    known: Sequence[SubmittedFile],
    job: Job,
) -> Compartment:
    if not known:
        return Compartment(name, {"note": "not present"})
    pairing = match_predictions(
        [file.stem for file in predictions],
        [file.stem for file in known],
        [file.listed for file in known],
    )
    partner = {reference: predictions[index] for index, reference in pairing.pairs}
    flat = is_flat(job)
    grid = Grid.of(job, flat=flat)
    comparisons = [
        compare(partner.get(index), reference, job.limits, flat=flat, grid=grid)
        for index, reference in enumerate(known)
    ]
    told: dict[str, Any] = {
        "error": "no predicted mask could be paired with a reference; name each as its input image",
        "pred_count": len(predictions),
        "gt_count": len(known),
    }
    if pairing.pairs:
        told = _published(comparisons) | {
            "match_method": pairing.method,
            "match_low_confidence": pairing.low_confidence,
        }
    return Compartment(name, told, comparisons, len(predictions) - len(pairing.pairs))


def _published(comparisons: list[Comparison]) -> dict[str, Any]:
    missing = sum(c.status == MISSING for c in comparisons)
    edges = [c.boundary_f1 for c in comparisons if c.boundary_f1 is not None]
    return {
        **{name: _mean([c.published[name] for c in comparisons]) for name in METRICS},
        "boundary_f1": _mean(edges) if edges else None,
        "matched_images": len(comparisons) - missing,
        "scored_images": len(comparisons),
        "missing_prediction_images": missing,
        "skipped_images": [
            c.prediction.name
            for c in comparisons
            if c.prediction and c.status in {UNREADABLE, REFERENCE_UNREADABLE}
        ],
    }


def _mean(values: Sequence[float]) -> float:
    return round(float(np.mean(values)), 4)
