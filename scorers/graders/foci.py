"""DNA-repair foci: when RAD18 joins replication foci, as a share of S phase, in two conditions.

Published: 1 - Kolmogorov-Smirnov statistic of the onsets, mean over the conditions. Strict: how
much of the reference's events can be paired with submitted ones (see `foci_strict`), since the
published score does not miss half of the events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.contract import Family, Result
from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.deliverables import resolve
from scorers.files.tree import reference_tree
from scorers.graders.foci_strict import judge
from scorers.graders.foci_tables import Onsets, align, read_reference, read_submitted
from scorers.graders.keys import key_match
from scorers.metrics.distributions import ks_statistic

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from scorers.contract import Job, Scalar

DELIVERABLE = "coloc_results"
_FILE = "coloc_results.csv"
# The middle of S phase, which is no condition's typical onset.
_BLANK = 0.5
_SHOWN = 12


def grade(job: Job) -> Result:
    """Grade the table of events of a submission."""
    reference, unfit = _reference(job)
    if not reference:
        return Result(0.0, {"error": unfit}, fault=unfit)
    resolution = resolve(job.spec, job.submission, job.limits)
    file = resolution.require(DELIVERABLE)[0]
    try:
        predicted = read_submitted(file, job.limits)
    except SubmissionFault as fault:
        return _nothing(str(fault), reference, {})
    if not predicted:
        return _nothing(
            "the table has no row with a condition and a number as start_normalized",
            reference,
            predicted,
        )
    aligned = align(reference, list(predicted))
    if aligned:
        result = _published(reference, predicted, aligned)
    else:
        result = _nothing("no condition is named like one of the reference", reference, predicted)
        result.metrics |= {
            "ref_conditions": list(reference),
            "pred_conditions": list(predicted)[:_SHOWN],
        }
    judge(reference, predicted, job, result)
    return result


def perfect(job: Job, out: Path) -> None:
    """Write the reference's onsets, one row an event."""
    reference, unfit = _reference(job)
    if not reference:
        raise CapsuleFault(unfit)
    _write(out / _FILE, reference)


def blank(job: Job, out: Path) -> None:
    """Write as many events as the reference has, all of them in the middle of S phase."""
    reference, unfit = _reference(job)
    if not reference:
        raise CapsuleFault(unfit)
    _write(out / _FILE, {name: np.full(len(v), _BLANK) for name, v in reference.items()})


def _write(path: Path, onsets: Onsets) -> None:
    lines = [f"{name},{value!r}" for name, values in onsets.items() for value in values.tolist()]
    path.write_text("\n".join(["condition,start_normalized", *lines, ""]), encoding="utf-8")


def _reference(job: Job) -> tuple[Onsets, str]:
    """Return the reference's onsets by condition, and what is wrong if there are none.

    Raises
    ------
    CapsuleFault
        There is no such file.
    """
    found = []
    if job.reference_dir is not None:
        with reference_tree(job.reference_dir, job.limits) as tree:
            tables = [file for file in tree.files if file.path.suffix == ".csv"]
            found = [f for f in tables if f.name == _FILE] or [
                f for f in tables if "coloc" in f.name
            ]
            if found:
                where = f"evaluation/{found[0].path}"
                try:
                    onsets = read_reference(found[0], job.limits.for_references())
                except SubmissionFault as fault:
                    return {}, f"{where}: {fault}"
                return onsets, (
                    f"{where}: expected conditions in the first row, a column 'Start normalized' "
                    "for each in the second, and numbers below; got none"
                )
    raise CapsuleFault(
        f"{job.task_dir.name}: expected the reference evaluation/{_FILE}, got no such file; get "
        "the task's data, or make them"
    )


def _nothing(reason: str, reference: Onsets, predicted: Onsets) -> Result:
    told = {"error": reason, "key_match": key_match(predicted, reference, ())}
    return Result(0.0, told, strict=0.0, error=reason)


def _published(reference: Onsets, predicted: Onsets, aligned: dict[str, str]) -> Result:
    told = {
        condition: _told(predicted[name], reference[condition])
        for condition, name in aligned.items()
    }
    scores = [row["condition_score"] for row in told.values() if row["condition_score"] is not None]
    metrics = {
        "result_score": round(sum(scores) / len(reference), 4),
        "per_condition": {name: _rounded(row) for name, row in told.items()},
        "n_conditions_scored": len(scores),
        "n_conditions_reference": len(reference),
        "key_match": key_match(predicted, reference, aligned),
    }
    items = [_item(name, told.get(name), len(v)) for name, v in reference.items()]
    return Result(metrics["result_score"], metrics, items=items)


def _told(own: NDArray[np.float64], known: NDArray[np.float64]) -> dict[str, Any]:
    distance = ks_statistic(own, known) if min(own.size, known.size) > 1 else None
    with np.errstate(over="ignore", invalid="ignore"):
        mean, true = float(own.mean()), float(known.mean())
        return {
            "n_ref": known.size,
            "n_pred": own.size,
            "count_relative_error": abs(own.size - known.size) / known.size,
            "ks_statistic": distance,
            "ref_mean_start_normalized": true,
            "pred_mean_start_normalized": mean,
            "ref_std_start_normalized": _deviation(known),
            "pred_std_start_normalized": _deviation(own),
            "mae_start_normalized_mean": abs(mean - true),
            "condition_score": None if distance is None else max(0.0, 1 - distance),
        }


def _deviation(values: NDArray[np.float64]) -> float | None:
    return float(values.std(ddof=1)) if values.size > 1 else None


def _item(name: str, told: dict[str, Any] | None, n_ref: int) -> dict[str, Scalar]:
    row = {} if told is None else _rounded(told)
    status = "missing" if told is None else "scored"
    if told is not None and told["condition_score"] is None:
        status = "too few events"
    return {
        "item": name,
        "status": status,
        "score": row.get("condition_score") or 0.0,
        "events": row.get("n_pred", 0),
        "true_events": n_ref,
        "ks_statistic": row.get("ks_statistic"),
        "mean": row.get("pred_mean_start_normalized"),
        "true_mean": row.get("ref_mean_start_normalized"),
    }


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {
        key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()
    }


FAMILY = Family("foci", grade, perfect, blank)
