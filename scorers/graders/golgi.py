"""Golgi colocalization: one coefficient a cell, and whether conditions differ as they should.

Published: the share of three comparisons whose significance is as expected (70 %, p-values told by
the submission before those worked out from its table) and of four orderings of medians (30 %). No
reference is used. Strict: how close the coefficients of each condition are to the true ones, which
needs a truth in `evaluation/` (see `golgi_strict`).
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.contract import Family, Result
from scorers.errors import CapsuleFault
from scorers.files.deliverables import MissingDeliverable, resolve
from scorers.files.tree import reference_tree
from scorers.graders.golgi_pvalues import Evidence
from scorers.graders.golgi_rubric import comparisons, orderings
from scorers.graders.golgi_strict import TRUTH, judge, read_truth
from scorers.graders.golgi_tables import (
    NO_CELLS,
    AbsentCondition,
    Cells,
    plain,
    read_cells,
    reported_p,
)
from scorers.graders.keys import key_match
from scorers.graders.settings import setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from scorers.contract import Job
    from scorers.files.tree import SubmittedFile
    from scorers.graders.golgi_rubric import Comparison

CELLS = "per_cell_coefficients"
_TABLE = "colocalization_results.csv"
_WEIGHTS = ("significance_weight", 0.7), ("direction_weight", 0.3)
# No image gives it, so that a blank table is right about no condition.
_BLANK = 1.0


def grade(job: Job) -> Result:
    """Grade the table of cells and the p-values of a submission."""
    compared, ordered = comparisons(job), orderings(job)
    file = _table_file(job)
    cells = NO_CELLS if file is None else read_cells(file, job.limits)
    try:
        reported = reported_p(job)
    except AbsentCondition as fault:
        result = Result(None, {"error": str(fault)}, error=str(fault))
        judge(cells, Evidence({}, _samples(cells), job), compared, job, result)
        return result
    evidence = Evidence(reported, _samples(cells), job)
    if file is None and not reported:
        error = "neither a table of single cells nor a table of pairwise p-values was found"
        result = Result(0.0, {"error": error}, error=error)
    else:
        metrics = _metrics(cells, evidence, compared, ordered, job)
        result = Result(metrics["result_score"], metrics)
    judge(cells, evidence, compared, job, result)
    return result


def perfect(job: Job, out: Path) -> None:
    """Write the true coefficients, where the capsule has them."""
    truth = read_truth(job)
    if truth is None:
        raise CapsuleFault(
            f"{job.task_dir.name}: this task has no reference, and evaluation/{TRUTH} is absent: "
            "there is nothing to lay out as deliverables"
        )
    _write(out / _TABLE, zip(truth.condition, truth.image, truth.value.tolist(), strict=True))


def blank(job: Job, out: Path) -> None:
    """Write full overlap for each input image: no two conditions differ, one comparison passes."""
    if job.input_dir is None:
        raise CapsuleFault("input/ is missing: the cells are not known")
    files = reference_tree(job.input_dir, job.limits).files
    images = [f for f in files if f.suffix in {".tif", ".tiff"} and len(f.path.parts) > 1]
    _write(out / _TABLE, ((f.path.parts[0], f.name, _BLANK) for f in images))


def _write(path: Path, rows: Iterable[tuple[str, str, float]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as opened:
        table = csv.writer(opened, lineterminator="\n")
        table.writerow(["condition", "image", "spearman"])
        table.writerows(rows)


def _table_file(job: Job) -> SubmittedFile | None:
    try:
        files = resolve(job.spec, job.submission, job.limits).require(CELLS)
    except MissingDeliverable:
        return None
    return files[0] if files else None


def _samples(cells: Cells) -> dict[str, NDArray[np.float64]]:
    """Return the coefficients by plain name; of several spellings the first counts."""
    samples: dict[str, NDArray[np.float64]] = {}
    for name, values in cells.by_condition().items():
        samples.setdefault(plain(name), values)
    return samples


def _metrics(
    cells: Cells,
    evidence: Evidence,
    compared: list[Comparison],
    ordered: list[tuple[str, str]],
    job: Job,
) -> dict[str, Any]:
    details, pairs, known = [], set(map(_pair_label, evidence.reported)), set()
    for comparison in compared:
        left, right = comparison.left, comparison.right
        p, source = evidence.p_value(left, right)
        label = _pair_label((plain(left), plain(right)))
        if evidence.has_samples(left, right):
            pairs.add(label)
        if p is not None:
            known.add(label)
        details.append(
            {
                "comparison": comparison.label,
                "expect_significant": comparison.significant,
                "alpha": comparison.alpha,
                "p_value": p,
                "p_value_source": source,
                "passed": comparison.passed(p),
            }
        )
    medians = {name: float(np.median(v)) for name, v in cells.by_condition().items()}
    directions = _directions(medians, ordered)
    passed = sum(row["passed"] is True for row in details)
    significance = passed / len(details)
    direction = _share([bool(row["satisfied"]) for row in directions])
    return {
        "result_score": round(_weighted(significance, direction, job), 4),
        "significance_score": round(significance, 4),
        "direction_score": None if direction is None else round(direction, 4),
        "comparisons_passed": passed,
        "comparisons_total": len(details),
        "comparison_details": details,
        "direction_details": directions,
        "condition_medians": {name: round(value, 4) for name, value in medians.items()},
        "n_invalid_coefficients_dropped": cells.invalid,
        "key_match": key_match(
            pairs, [_pair_label((plain(c.left), plain(c.right))) for c in compared], known
        ),
    }


def _weighted(significance: float, direction: float | None, job: Job) -> float:
    if direction is None:
        return significance
    one, other = (setting(job, name, default) for name, default in _WEIGHTS)
    return one * significance + other * direction


def _directions(
    medians: Mapping[str, float], ordered: list[tuple[str, str]]
) -> list[dict[str, Any]]:
    """Return one row an ordering; of several spellings of a condition the last counts here."""
    by_name = {plain(name): value for name, value in medians.items()}
    rows = []
    for greater, less in ordered:
        high, low = by_name.get(plain(greater)), by_name.get(plain(less))
        rows.append(
            {
                "ordering": f"{greater} > {less}",
                "median_greater": None if high is None else round(high, 4),
                "median_less": None if low is None else round(low, 4),
                "satisfied": high is not None and low is not None and high > low,
            }
        )
    return rows


def _share(held: list[bool]) -> float | None:
    return sum(held) / len(held) if held else None


def _pair_label(pair: tuple[str, str]) -> str:
    return " vs ".join(sorted(pair))


FAMILY = Family("golgi", grade, perfect, blank)
