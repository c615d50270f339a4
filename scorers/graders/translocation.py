"""Translocation: the nuclear over cytoplasmic ratio of each well of a plate, by dose and cell type.

Published: for each cell type found in the table, whether the ratio rises with dose, whether
replicates agree, and whether the highest dose beats the control. No reference is used. Strict:
agreement of each well's ratio with the true one, which needs a truth in `evaluation/` (see
`translocation_strict`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.contract import Family, Result
from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.columns import Columns, read_columns
from scorers.files.deliverables import resolve
from scorers.graders.plates import TRUTH, Plate, read_plate_map, read_truth, write_wells
from scorers.graders.settings import setting
from scorers.graders.translocation_strict import judge
from scorers.metrics.correlation import pearson, spearman
from scorers.metrics.doses import consistency_score, replicate_cv, welch_greater_p

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from scorers.contract import Job, Scalar

WELLS = "per_well_summary"
CELLS = "per_cell_features"
RATIO = "mean_nuc_over_cyto_ratio"
_CELL_RATIO = "nuc_over_cyto_ratio"
_DEFAULT_TOLERANCE = 0.15
_MOST_GROUPS = 20_000
_PARTS = ("dose_response_score", "replicate_consistency_score", "control_vs_treated_score")

# Ratios by dose, by cell type.
Doses = dict[float, "NDArray[np.float64]"]


@dataclass(frozen=True)
class Response:
    """What one cell type's wells say; None where it cannot be worked out."""

    dose_response: float | None
    linear: float | None
    cv: float | None
    p: float | None

    def parts(self, tolerance: float) -> dict[str, float | None]:
        """Return the three parts of the score, each in [0, 1]."""
        consistency = None if self.cv is None else consistency_score(self.cv, tolerance)
        rise = None if self.dose_response is None else max(0.0, self.dose_response)
        better = None if self.p is None else min(1.0, max(0.0, 1 - self.p))
        return dict(zip(_PARTS, (rise, consistency, better), strict=True))


def grade(job: Job) -> Result:
    """Grade the table of wells of a submission."""
    tolerance = setting(job, "replicate_cv_tolerance", _DEFAULT_TOLERANCE)
    if tolerance >= 1:
        raise CapsuleFault(
            "evaluation_rubric.yaml: metric_config.replicate_cv_tolerance: expected a number below "
            f"1, got {tolerance:g}"
        )
    resolution = resolve(job.spec, job.submission, job.limits)
    file = resolution.require(WELLS)[0]
    table = read_columns(file, job.limits)
    result = _published(table, _cells(job), tolerance)
    result.metrics["summary_csv"] = str(file.path)
    judge(table, job, result)
    return result


def perfect(job: Job, out: Path) -> None:
    """Write the true ratios, where the capsule has them."""
    truth = read_truth(job)
    if truth is None:
        raise CapsuleFault(
            f"{job.task_dir.name}: this task has no reference, and evaluation/{TRUTH} is absent: "
            "there is nothing to lay out as deliverables"
        )
    write_wells(out / f"{WELLS}.csv", truth)


def blank(job: Job, out: Path) -> None:
    """Write a ratio of 1 for each well of the plate: replicates agree, nothing else does."""
    plate = read_plate_map(job)
    write_wells(
        out / f"{WELLS}.csv",
        Plate(plate.well, plate.cell_type, plate.dose, np.ones(len(plate.well))),
    )


def _published(wells: Columns, cells: dict[str, Doses], tolerance: float) -> Result:
    if wells.overlong:
        return _nothing("the table of wells has a row of more cells than its header has")
    by_type = _grouped(wells, RATIO)
    if not by_type:
        return _nothing("the table of wells has no row with a number as dose and as ratio")
    told, items = {}, []
    for name, doses in by_type.items():
        told[name] = _told(_response(doses, cells.get(name, {})), tolerance)
        items.append(_item(name, doses, told[name]))
    score = round(float(np.mean([row["cell_type_score"] for row in told.values()])), 4)
    metrics = {
        "result_score": score,
        "per_cell_type": told,
        "n_cell_types_scored": len(told),
    }
    return Result(score, metrics, items=items)


def _nothing(reason: str) -> Result:
    return Result(0.0, {"error": reason}, error=reason)


def _cells(job: Job) -> dict[str, Doses]:
    """Return the ratios of single cells; nothing where there is no such table or none to read."""
    files = resolve(job.spec, job.submission, job.limits).found.get(CELLS)
    if not files:
        return {}
    try:
        table = read_columns(files[0], job.limits)
        return {} if table.overlong else _grouped(table, _CELL_RATIO)
    except SubmissionFault:
        return {}


def _grouped(table: Columns, ratio: str) -> dict[str, Doses]:
    """Group a table's usable rows by cell type and dose, cell types in order of appearance.

    As published, the columns' names are matched with their case.
    """
    dose = table.numbers(table.place("dose", any_case=False))
    value = table.numbers(table.place(ratio, any_case=False))
    types = table.texts(table.place("cell_type", any_case=False))
    usable = np.flatnonzero(np.isfinite(dose) & np.isfinite(value))
    code: dict[str, int] = {}
    own = np.array([code.setdefault(types[at] or "unknown", len(code)) for at in usable], np.int64)
    order = np.lexsort((dose[usable], own))
    own, dose, value = own[order], dose[usable][order], value[usable][order]
    fresh = np.ones(len(own), bool)
    fresh[1:] = (own[1:] != own[:-1]) | (dose[1:] != dose[:-1])
    starts = np.flatnonzero(fresh)
    if len(starts) > _MOST_GROUPS:
        raise SubmissionFault(f"a table of more than {_MOST_GROUPS} doses and cell types")
    names = list(code)
    grouped: dict[str, Doses] = {name: {} for name in names}
    parts = np.split(value, starts[1:]) if len(starts) else []
    for start, part in zip(starts.tolist(), parts, strict=True):
        grouped[names[own[start]]][float(dose[start])] = part
    return grouped


def _response(wells: Doses, cells: Doses) -> Response:
    doses = np.array(list(wells))
    with np.errstate(over="ignore"):
        means = np.array([values.mean() for values in wells.values()])
    control = 0.0 if 0.0 in wells else float(doses.min())
    treated = float(doses.max())
    source = cells if control in cells and treated in cells else wells
    finite = bool(np.isfinite(means).all())
    return Response(
        spearman(doses, means) if finite else None,
        pearson(doses, means) if finite else None,
        replicate_cv(wells.values()),
        welch_greater_p(source[treated], source[control]) if treated != control else None,
    )


def _told(response: Response, tolerance: float) -> dict[str, Any]:
    parts = response.parts(tolerance)
    return {
        **{name: round(value or 0.0, 4) for name, value in parts.items()},
        "dose_response_spearman_r": _rounded(response.dose_response),
        "dose_response_pearson_r": _rounded(response.linear),
        "replicate_mean_cv": _rounded(response.cv),
        "control_vs_treated_p": None if response.p is None else float(f"{response.p:.6g}"),
        "sub_scores_not_computable": [name for name, value in parts.items() if value is None],
        "cell_type_score": round(sum(value or 0.0 for value in parts.values()) / len(parts), 4),
    }


def _item(name: str, doses: Doses, told: dict[str, Any]) -> dict[str, Scalar]:
    return {
        "item": name,
        "status": "scored",
        "wells": sum(len(values) for values in doses.values()),
        "doses": len(doses),
        "score": told["cell_type_score"],
        **{part: told[part] for part in _PARTS},
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


FAMILY = Family("translocation", grade, perfect, blank)
