"""Assembly of nuclear pores after division: one table of a cell's time series each.

The published score is half the timing of anaphase onset and half the correlation of the inner
core's curve, which sees no scale. The strict value asks for the curves themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.contract import Family, Result
from scorers.files.deliverables import resolve
from scorers.files.kinetics import CORE, METRICS
from scorers.graders.keys import key_match
from scorers.graders.npc_files import (
    DELIVERABLE,
    blank,
    perfect,
    reference_tables,
    submitted_tables,
)
from scorers.graders.npc_strict import judge
from scorers.graders.settings import setting
from scorers.metrics.correlation import pearson
from scorers.metrics.timing import align_greedily

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scorers.contract import Job, Scalar
    from scorers.files.kinetics import Kinetics
    from scorers.graders.npc_files import Table

_PRIMARY = "kinetics_quality_score"
_DEFAULT_TOLERANCE = 20.0
_TIME_TOLERANCE = 0.51
_CLOSE = 2.0
_SHOWN = 100


@dataclass
class Pair:
    """One cell of the reference and the table that the published pairing gives it.

    Attributes
    ----------
    error
        Of the onset, in frames; None where one side has none.
    correlation, distance, n
        By metric: Pearson's r, mean absolute error, number of aligned points.
    """

    reference: Table
    submitted: Table | None
    error: float | None = None
    correlation: dict[str, float | None] = field(default_factory=dict)
    distance: dict[str, float | None] = field(default_factory=dict)
    n: dict[str, int] = field(default_factory=dict)


def grade(job: Job) -> Result:
    """Grade the tables of a submission."""
    book, references = reference_tables(job)
    if references is None:
        error = (
            f"evaluation/{book}: expected a workbook with tables of kinetics; mend or replace it"
        )
        return Result(0.0, {"error": error}, fault=error)
    primary = _primary(job)
    tolerance = setting(job, "anaphase_tolerance_frames", _DEFAULT_TOLERANCE, least=-math.inf)
    resolve(job.spec, job.submission, job.limits).require(DELIVERABLE)
    tables = submitted_tables(job)
    submitted: dict[str, Table] = {}
    for table in tables:
        submitted.setdefault(str(table.key), table)
    keys = [str(table.key) for table in references]
    if not submitted:
        error = "no workbook or CSV holds a column of the time after anaphase and one of a metric"
        return _nothing(error, {"key_match": key_match((), keys, ())})
    pairs = [Pair(table, partner) for table, partner in paired(references, submitted)]
    found = [pair for pair in pairs if pair.submitted is not None]
    match = key_match(submitted, keys, [str(pair.reference.key) for pair in found])
    if not found:
        told = {"ref_cells": keys, "pred_cells": sorted(submitted)[:_SHOWN], "key_match": match}
        return _nothing("no table is of a cell of the reference", told)
    for pair in found:
        _compare(pair)
    metrics = _metrics(pairs, found, primary, tolerance)
    metrics |= {"n_cells_pred": len(submitted), "gt_xlsx": book, "key_match": match}
    result = Result(metrics["result_score"], metrics, items=[_item(pair) for pair in pairs])
    judge(references, tables, job, result)
    return result


FAMILY = Family("npc", grade, perfect, blank)


def paired(
    references: Iterable[Table], submitted: Mapping[str, Table]
) -> list[tuple[Table, Table | None]]:
    """Return each reference with the table that the published pairing gives it.

    A table of the same key, else the first that is left whose key holds the cell's name or is held
    in it: `cell1` is held in `cell10`.
    """
    left = dict(submitted)
    pairs: list[tuple[Table, Table | None]] = []
    for table in references:
        token, key = table.key.token, str(table.key)
        if key not in left:
            key = next((other for other in left if token in other or other in token), "")
        pairs.append((table, left.pop(key, None)))
    return pairs


def _nothing(error: str, told: dict[str, Any]) -> Result:
    return Result(0.0, {"error": error, **told}, strict=0.0, error=error)


def _primary(job: Job) -> str:
    return str(job.rubric.metric_config.get("primary_metric", _PRIMARY))


def _compare(pair: Pair) -> None:
    assert pair.submitted is not None
    known, own = pair.reference.kinetics, pair.submitted.kinetics
    if known.onset is not None and own.onset is not None:
        pair.error = abs(known.onset - own.onset)
    for metric in METRICS:
        pair.correlation[metric], pair.distance[metric], pair.n[metric] = _likeness(
            known, own, metric
        )


def _likeness(
    known: Kinetics, own: Kinetics, metric: str
) -> tuple[float | None, float | None, int]:
    (known_time, reference), (own_time, predicted) = known.series(metric), own.series(metric)
    one, other = align_greedily(known_time, own_time, _TIME_TOLERANCE)
    if not len(one):
        return None, None, 0
    x, y = predicted[other], reference[one]
    with np.errstate(over="ignore"):
        distance = float(np.abs(x - y).mean())
    return pearson(x, y), distance, len(one)


def _metrics(
    pairs: list[Pair], found: list[Pair], primary: str, tolerance: float
) -> dict[str, Any]:
    errors = [tolerance if pair.error is None else pair.error for pair in pairs]
    error = float(np.mean(errors))
    accuracy = 1 - min(error / tolerance, 1.0) if tolerance > 0 else 0.0
    series = primary.removeprefix("pearson_").removeprefix("mae_")
    series = series if series in METRICS else CORE
    clipped = [min(max(pair.correlation[series] or 0.0, 0.0), 1.0) for pair in found]
    correlation = sum(clipped) / len(pairs)
    quality = 0.5 * accuracy + 0.5 * correlation
    score = quality if primary == _PRIMARY else correlation
    evaluable = [pair.error for pair in found if pair.error is not None]
    close = sum(error <= _CLOSE for error in evaluable)
    told: dict[str, Any] = {
        "result_score": round(score, 4),
        "primary_metric": primary,
        "kinetics_quality_score": round(quality, 4),
        "anaphase_accuracy_score": round(accuracy, 4),
        "anaphase_detection_mae": round(error, 4),
        f"pearson_{series}": round(correlation, 4),
        "n_cells_paired": len(found),
        "n_cells_ref": len(pairs),
        "anaphase_detection_accuracy": round(close / len(evaluable), 4) if evaluable else None,
        "anaphase_within_2_count": close,
        "anaphase_n_evaluable": len(evaluable),
        "per_cell": {pair.reference.source: _per_cell(pair) for pair in found},
    }
    for metric in METRICS:
        told[f"mean_pearson_{metric}"] = _mean(pair.correlation[metric] for pair in found)
        told[f"mean_mae_{metric}"] = _mean(pair.distance[metric] for pair in found)
    return told


def _per_cell(pair: Pair) -> dict[str, Any]:
    assert pair.submitted is not None
    told: dict[str, Any] = {
        "matched_to": str(pair.submitted.key),
        "anaphase_frame_ref": pair.reference.kinetics.onset,
        "anaphase_frame_pred": pair.submitted.kinetics.onset,
        "anaphase_abs_error": pair.error,
        "anaphase_within_2": None if pair.error is None else pair.error <= _CLOSE,
    }
    for metric in METRICS:
        told[f"pearson_{metric}"] = _rounded(pair.correlation[metric])
        told[f"mae_{metric}"] = _rounded(pair.distance[metric])
        told[f"n_overlap_{metric}"] = pair.n[metric]
    return told


def _item(pair: Pair) -> dict[str, Scalar]:
    own = pair.submitted
    return {
        "item": pair.reference.source,
        "status": "missing" if own is None else "scored",
        "file": None if own is None else own.source,
        "onset_frame_true": pair.reference.kinetics.onset,
        "onset_frame": None if own is None else own.kinetics.onset,
        "onset_error_frames": pair.error,
        **{f"pearson_{metric}": _rounded(pair.correlation.get(metric)) for metric in METRICS},
        **{f"mae_{metric}": _rounded(pair.distance.get(metric)) for metric in METRICS},
    }


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(float(np.mean(known)), 4) if known else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
