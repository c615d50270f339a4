"""Phenotypes of microglia over time: one table of all cells of a movie with their classes.

Published: the mean of detection F1, of class F1 among matched cells, and of the correlation of the
class shares over time. Strict: class F1 in which a cell not found is a cell not classified.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.contract import Family, Result
from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.deliverables import name_for, resolve
from scorers.files.phenotypes import (
    ANNOTATED,
    CLASSES,
    SUBMITTED,
    CellTable,
    InfiniteFrame,
    read_cells,
    write_cells,
)
from scorers.files.tree import reference_tree
from scorers.graders.microglia_strict import judge
from scorers.graders.settings import setting
from scorers.metrics.classes import class_fractions, confusion, matched_f1, trend_correlation
from scorers.metrics.frames import match_by_frame
from scorers.metrics.greedy import TooManyPairs, match_greedily

if TYPE_CHECKING:
    from pathlib import Path

    from scorers.contract import Job
    from scorers.metrics.points import Pairs

DELIVERABLE = "cell_labels"
_ANNOTATION = "Replicate1annotation.csv"


def grade(job: Job) -> Result:
    """Grade the table of a submission against the annotation in `evaluation/`."""
    reference = _reference(job)
    file = resolve(job.spec, job.submission, job.limits).require(DELIVERABLE)[0]
    try:
        predicted = read_cells(file, SUBMITTED, job.limits)
    except InfiniteFrame as fault:
        raise SubmissionFault(f"{file.path}: {fault}") from fault
    if not len(predicted):
        raise SubmissionFault(
            f"{file.path} holds no cell: expected rows of numbers below the headings frame, x and y"
        )
    if not len(reference):
        error = "evaluation/: the annotation holds no cell: expected rows of numbers"
        return Result(0.0, {"error": error}, fault=error)
    threshold = setting(job, "distance_threshold_px", 15.0)
    try:
        pairs = match_by_frame(partial(match_greedily, threshold=threshold), reference, predicted)
    except TooManyPairs as fault:
        raise SubmissionFault(f"{file.path}: {fault}") from fault
    result = _published(reference, predicted, pairs, threshold)
    judge(reference, predicted, threshold, job, result)
    return result


def perfect(job: Job, out: Path) -> None:
    """Write the annotated cells as the table."""
    write_cells(_target(job, out), _reference(job))


def blank(job: Job, out: Path) -> None:
    """Write a table of no cells."""
    nothing = np.zeros(0)
    table = CellTable(nothing, np.zeros((0, 2)), nothing.astype(np.int64))
    write_cells(_target(job, out), table)


FAMILY = Family("microglia", grade, perfect, blank)


def _reference(job: Job) -> CellTable:
    if job.reference_dir is None:
        raise CapsuleFault(f"evaluation/ is missing: expected {_ANNOTATION}")
    files = reference_tree(job.reference_dir, job.limits).files
    top = [file for file in files if len(file.path.parts) == 1]
    found = [file for file in top if file.name == _ANNOTATION] or [
        file for file in top if file.path.suffix == ".csv" and "nnotation" in file.stem
    ]
    if not found:
        raise CapsuleFault(f"evaluation/ holds no annotation: expected {_ANNOTATION}")
    try:
        cells = read_cells(found[0], ANNOTATED, job.limits.for_references())
    except (SubmissionFault, InfiniteFrame) as fault:
        raise CapsuleFault(f"evaluation/{found[0].path}: {fault}") from fault
    if not np.isfinite(cells.place).all():
        raise CapsuleFault(f"evaluation/{found[0].path}: expected finite coordinates")
    return cells


def _target(job: Job, out: Path) -> Path:
    patterns = {entry.id: entry.filename_pattern for entry in job.spec.deliverables}
    if DELIVERABLE not in patterns:
        raise CapsuleFault(f"task_spec.yaml: deliverables: expected one with the id {DELIVERABLE}")
    return out / name_for(patterns[DELIVERABLE], "cell_labels", ".csv")


def _published(
    reference: CellTable, predicted: CellTable, pairs: Pairs, threshold: float
) -> Result:
    n_g, n_p, hits = len(reference), len(predicted), len(pairs)
    localization = 2 * hits / (n_g + n_p)
    table = confusion(reference.kind, predicted.kind, pairs, len(CLASSES))
    labelled = int(table[:-2, :-1].sum())
    by_class = matched_f1(table) if labelled else None
    macro = None if by_class is None else float(by_class.mean())
    right = int(np.diagonal(table)[:-2].sum())
    r = trend_correlation(
        class_fractions(reference.frame, reference.kind, len(CLASSES)),
        class_fractions(predicted.frame, predicted.kind, len(CLASSES)),
    )
    trend = None if r is None else min(max((r + 1) / 2, 0.0), 1.0)
    score = round((localization + (macro or 0.0) + (trend or 0.0)) / 3, 4)
    metrics: dict[str, Any] = {
        "result_score": score,
        "localization_f1": round(localization, 4),
        "per_class_f1": None
        if by_class is None
        else {name: round(f1, 4) for name, f1 in zip(CLASSES, by_class.tolist(), strict=True)},
        "classification_macro_f1": _rounded(macro),
        "classification_accuracy": round(right / labelled, 4) if labelled else None,
        "trend_correlation_score": _rounded(trend),
        "trend_mean_pearson_r": _rounded(r),
        "distance_threshold_px": threshold,
        "n_pred_cells": n_p,
        "n_gt_cells": n_g,
        "n_matched": hits,
    }
    return Result(score, metrics)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
