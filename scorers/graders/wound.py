"""Wound healing: speed by distance from the wound's edge and time, and the first velocity field.

Published: Pearson's r of each kymograph (50 %), whether cells near the edge are faster (25 %), how
far the first velocity field points at the gap (15 %), completeness (10 %). Strict: agreement in
µm/h, of kymographs by Lin's concordance and of velocities by their endpoint error.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.contract import Family, Result
from scorers.errors import SubmissionFault
from scorers.files.deliverables import resolve
from scorers.files.fields import read_field
from scorers.graders.keys import key_match
from scorers.graders.settings import setting
from scorers.graders.wound_files import (
    DELIVERABLES,
    KYMOGRAPH,
    ROI,
    SUFFIXES,
    X,
    Y,
    blank,
    known_files,
    perfect,
    submitted_files,
)
from scorers.graders.wound_strict import Judge
from scorers.metrics.kymograph import likeness, near_faster_fraction, pattern_score
from scorers.metrics.velocity import gap_cosine

if TYPE_CHECKING:
    from scorers.contract import Job, Scalar
    from scorers.files.tree import SubmittedFile
    from scorers.graders.wound_files import Field, Known

_WEIGHTS = {
    "kymograph_accuracy": "kymograph_accuracy_weight",
    "spatial_pattern_fraction": "spatial_pattern_weight",
    "velocity_direction_fraction": "velocity_direction_weight",
    "deliverable_completeness": "deliverable_completeness_weight",
}


@dataclass
class Experiment:
    """One experiment's published numbers.

    Attributes
    ----------
    told
        What the published evaluator reports of its kymograph.
    accuracy, pattern, direction
        Its share of each part, in [0, 1]; no direction where it is undefined.
    complete
        Which of the three files are usable.
    pearson, nrmse
        Of the kymograph, where defined.
    """

    key: str
    told: dict[str, Any]
    accuracy: float = 0.0
    pattern: float = 0.0
    direction: float | None = None
    complete: dict[str, bool] = field(default_factory=dict)
    pearson: float | None = None
    nrmse: float | None = None


def grade(job: Job) -> Result:
    """Grade the fields of a submission, experiment by experiment."""
    known = known_files(job)
    resolve(job.spec, job.submission, job.limits).require(DELIVERABLES[KYMOGRAPH])
    submitted = submitted_files(job)
    if not submitted[KYMOGRAPH]:
        error = f"no file is named <experiment>{KYMOGRAPH}.tif"
        told = {"error": error, "key_match": key_match((), known.keys, ())}
        return Result(0.0, told, strict=0.0, error=error)
    judge = Judge(job, known)
    experiments = []
    for key in known.keys:
        fields = {suffix: _read(submitted[suffix].get(key), job) for suffix in SUFFIXES}
        experiments.append(_published(key, fields, key in submitted[KYMOGRAPH], known, job))
        judge.add(key, fields)
    metrics = _metrics(job, experiments, sorted(submitted[KYMOGRAPH]))
    result = Result(metrics["result_score"], metrics, items=[_item(e) for e in experiments])
    judge.conclude(result)
    return result


def _read(file: SubmittedFile | None, job: Job) -> Field | None:
    """Return a submitted field, None where it is absent, unreadable or of other axes than two."""
    if file is None:
        return None
    try:
        return read_field(file, job.limits)
    except SubmissionFault:
        return None


def _published(
    key: str, fields: dict[str, Field | None], delivered: bool, known: Known, job: Job
) -> Experiment:
    status = "unreadable_or_not_2d" if delivered else "missing_prediction"
    experiment = Experiment(key, {"status": status, "score": 0.0})
    experiment.complete = {
        suffix.lstrip("_"): part is not None and bool(np.isfinite(part).all())
        for suffix, part in ((s, fields[s]) for s in (X, Y, KYMOGRAPH))
    }
    experiment.direction = _direction(fields[X], fields[Y], key, known, job)
    kymograph = fields[KYMOGRAPH]
    if kymograph is not None:
        _compare(experiment, kymograph, known.reference(key, job))
    return experiment


def _compare(experiment: Experiment, predicted: Field, reference: Field) -> None:
    found = likeness(predicted, reference)
    fraction = near_faster_fraction(predicted)
    experiment.accuracy = max(0.0, found.pearson or 0.0)
    experiment.pattern = pattern_score(fraction)
    experiment.pearson, experiment.nrmse = found.pearson, found.nrmse
    experiment.told = {
        "status": "scored" if found.n else "no_overlap",
        "score": round(experiment.accuracy, 4),
        "ref_shape": list(reference.shape),
        "pred_shape": list(predicted.shape),
        "compared_shape": list(found.shape),
        "pearson": _rounded(found.pearson),
        "nrmse": _rounded(found.nrmse),
        "nrmse_score": _rounded(_nrmse_score(found.nrmse)),
        "spatial_pattern_fraction": _rounded(fraction),
        "spatial_pattern_score": round(experiment.pattern, 4),
    }


def _direction(
    vx: Field | None, vy: Field | None, key: str, known: Known, job: Job
) -> float | None:
    cells, ref_x, ref_y = (known.read(suffix, key, job) for suffix in (ROI, X, Y))
    if vx is None or vy is None or cells is None or ref_x is None or ref_y is None:
        return None
    own, reference = gap_cosine(vx, vy, cells), gap_cosine(ref_x, ref_y, cells)
    return None if own is None or not reference else min(1.0, own / reference)


def _metrics(job: Job, experiments: list[Experiment], predicted: list[str]) -> dict[str, Any]:
    scored = [e for e in experiments if e.told["status"] == "scored"]
    n_complete = sum(sum(e.complete.values()) for e in experiments)
    n_required = len(SUFFIXES) * len(experiments)
    parts = {
        "kymograph_accuracy": float(np.mean([e.accuracy for e in experiments])),
        "spatial_pattern_fraction": float(np.mean([e.pattern for e in experiments])),
        "velocity_direction_fraction": float(np.mean([e.direction or 0.0 for e in experiments])),
        "deliverable_completeness": n_complete / n_required,
    }
    score = sum(setting(job, _WEIGHTS[name]) * value for name, value in parts.items())
    keys = [[e.key for e in some] for some in (experiments, scored)]
    return {
        "result_score": round(score, 4),
        **{name: round(value, 4) for name, value in parts.items()},
        "mean_kymograph_pearson": _mean([e.pearson for e in scored]),
        "mean_kymograph_nrmse_score": _mean([_nrmse_score(e.nrmse) for e in scored]),
        "n_experiments_reference": len(experiments),
        "n_experiments_scored": len(scored),
        "n_deliverables_present": n_complete,
        "n_deliverables_required": n_required,
        "per_experiment": {e.key: e.told for e in experiments},
        "completeness_detail": {e.key: e.complete for e in experiments},
        "direction_detail": {e.key: _rounded(e.direction) for e in experiments},
        "key_match": key_match(predicted, *keys),
    }


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(float(np.mean(known)), 4) if known else None


def _nrmse_score(nrmse: float | None) -> float | None:
    return None if nrmse is None else max(0.0, 1 - nrmse)


def _item(experiment: Experiment) -> dict[str, Scalar]:
    told = experiment.told
    return {
        "item": experiment.key,
        "status": told["status"],
        "kymograph_score": told["score"],
        "pearson": told.get("pearson"),
        "nrmse": told.get("nrmse"),
        "spatial_pattern_score": round(experiment.pattern, 4),
        "direction_score": _rounded(experiment.direction),
        "files_complete": sum(experiment.complete.values()),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


FAMILY = Family("wound", grade, perfect, blank)
