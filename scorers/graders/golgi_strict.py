"""The strict value of Golgi colocalization: whether the coefficients are the true ones.

The published score asks for a pattern of p-values that is in the paper; a note with three invented
ones gets 0.7, a table made up from the paper's means 1.0. `strict_coefficients` compares the
coefficients with the true ones of the same images instead, condition by condition, and no p-value
enters it. It needs `evaluation/truth_colocalization.csv` with the columns `condition`, `spearman`
and, if known, `image`; without it the value is not available.

Each condition gets (1 - W / 0.3) × count ratio, in [0, 1], higher better: W is the mean distance of
submitted and true coefficients once they are paired as well as they can be (for tables without
lost or surplus cells the Wasserstein distance of the two distributions), 0.3 about the whole
effect in the paper, the count ratio that of paired to all cells. `strict_coefficients` is the mean
over the conditions of the truth, an omitted one counting 0.

Beside it, and available without a truth: the published score with every p-value worked out from
the submitted table (`strict_recomputed_score`), and for how many comparisons the submission tells
another significance than its own table has (`strict_contradicted_p`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.tree import reference_tree
from scorers.graders.golgi_pictures import pictures
from scorers.graders.golgi_tables import Cells, plain, read_cells
from scorers.graders.settings import setting
from scorers.metrics.distributions import pair_values, wasserstein

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.contract import Job, Result, Scalar
    from scorers.graders.golgi_pvalues import Evidence
    from scorers.graders.golgi_rubric import Comparison
    from scorers.metrics.distributions import Pairing

TRUTH = "truth_colocalization.csv"
SCALE = 0.3
_MOST_ITEMS = 100


def read_truth(job: Job) -> Cells | None:
    """Return the true coefficients, None where the capsule has none.

    Raises
    ------
    CapsuleFault
        The file is there but holds no coefficients.
    """
    if job.reference_dir is None:
        return None
    with reference_tree(job.reference_dir, job.limits) as tree:
        file = next((file for file in tree.files if str(file.path) == TRUTH), None)
        if file is None:
            return None
        try:
            truth = read_cells(file, job.limits.for_references())
        except SubmissionFault as fault:
            raise CapsuleFault(f"evaluation/{TRUTH}: {fault}") from fault
    if not truth.value.size or truth.invalid:
        raise CapsuleFault(
            f"evaluation/{TRUTH}: expected the columns condition and spearman with values from -1 "
            f"to 1, got {truth.value.size} such values and {truth.invalid} others"
        )
    return truth


def judge(
    cells: Cells, evidence: Evidence, compared: list[Comparison], job: Job, result: Result
) -> None:
    """Add the strict value, its metrics, rows and pictures to a result."""
    truth = read_truth(job)
    own, named = _merged(cells)
    known, known_names = ({}, {}) if truth is None else _merged(truth)
    expected = {plain(name): name for c in compared for name in (c.left, c.right)}
    order = list(known or expected)
    names = {**named, **known_names, **expected}
    pairings = {
        name: pair_values(own.get(name, np.zeros(0)), values, SCALE)
        for name, values in known.items()
    }
    result.items = [
        _item(names.get(name, name), own.get(name), known.get(name), pairings.get(name))
        for name in dict.fromkeys([*order, *list(own)[:_MOST_ITEMS]])
    ]
    result.strict_metrics = _recomputed(evidence, compared, job, result)
    if pairings:
        result.strict = round(float(np.mean([p.score for p in pairings.values()])), 6)
        result.strict_metrics |= _against_truth(result.strict, own, known, pairings)
        result.objects = _objects(own, known, pairings, names, job.limits.objects)
    if job.draws:
        result.pictures = pictures(
            [(names.get(name, name), own.get(name), known.get(name)) for name in order], cells, job
        )


def _merged(cells: Cells) -> tuple[dict[str, NDArray[np.float64]], dict[str, str]]:
    """Return the coefficients by plain name, all spellings together, and one spelling of each."""
    parts: dict[str, list[NDArray[np.float64]]] = {}
    names: dict[str, str] = {}
    for name, values in cells.by_condition().items():
        parts.setdefault(plain(name), []).append(values)
        names.setdefault(plain(name), name)
    return {name: np.concatenate(each) for name, each in parts.items()}, names


def _recomputed(
    evidence: Evidence, compared: list[Comparison], job: Job, result: Result
) -> dict[str, Scalar]:
    """Judge the comparisons by what the table itself says."""
    found = [(c, evidence.recomputed(c.left, c.right)) for c in compared]
    passed = sum(comparison.passed(p) for comparison, p in found)
    told = [
        (comparison, p, evidence.p_value(comparison.left, comparison.right)[0])
        for comparison, p in found
    ]
    contradicted = sum(
        p is not None and said is not None and (p < c.alpha) != (said < c.alpha)
        for c, p, said in told
    )
    significance = passed / len(compared)
    direction = result.metrics.get("direction_score")
    score = significance
    if isinstance(direction, float):
        score = setting(job, "significance_weight", 0.7) * significance
        score += setting(job, "direction_weight", 0.3) * direction
    return {
        "strict_recomputed_score": round(score, 4),
        "strict_recomputed_significance": round(significance, 4),
        "strict_contradicted_p": contradicted,
        "strict_comparisons_n": len(compared),
    }


def _against_truth(
    headline: float,
    own: dict[str, NDArray[np.float64]],
    known: dict[str, NDArray[np.float64]],
    pairings: dict[str, Pairing],
) -> dict[str, Scalar]:
    sizes = {name: (own.get(name, np.zeros(0)).size, values.size) for name, values in known.items()}
    larger = {name: max(pair) for name, pair in sizes.items()}
    pooled = sum(pairings[name].score * n for name, n in larger.items()) / sum(larger.values())
    # What one coefficient for all cells would get at best: knowing nothing of conditions and cells.
    middle = float(np.median(np.concatenate(list(known.values()))))
    constant = [pair_values(np.full(v.size, middle), v, SCALE).score for v in known.values()]
    return {
        "strict_coefficients": headline,
        "strict_coefficients_n": len(pairings),
        "strict_coefficients_pooled": round(pooled, 6),
        "strict_constant_floor": round(float(np.mean(constant)), 6),
        "strict_cells": sum(size for size, _ in sizes.values()),
        "strict_true_cells": sum(size for _, size in sizes.values()),
        "strict_unknown_conditions": len(own.keys() - known.keys()),
    }


def _item(
    name: str,
    own: NDArray[np.float64] | None,
    known: NDArray[np.float64] | None,
    pairing: Pairing | None,
) -> dict[str, Scalar]:
    distance = None if own is None or known is None else wasserstein(own, known)
    return {
        "item": name,
        "status": "missing" if own is None else "scored",
        "cells": 0 if own is None else own.size,
        "median": None if own is None else round(float(np.median(own)), 4),
        "true_cells": None if known is None else known.size,
        "true_median": None if known is None else round(float(np.median(known)), 4),
        "strict_wasserstein": None if distance is None else round(distance, 4),
        "strict_score": None if pairing is None else round(pairing.score, 4),
    }


def _objects(
    own: dict[str, NDArray[np.float64]],
    known: dict[str, NDArray[np.float64]],
    pairings: dict[str, Pairing],
    names: dict[str, str],
    most: int,
) -> list[dict[str, Scalar]]:
    """Return one row a cell: paired with a true one, surplus, or missed."""
    rows: list[dict[str, Scalar]] = []
    for name, pairing in pairings.items():
        values, truths = own.get(name, np.zeros(0)), known[name]
        surplus = np.setdiff1d(np.arange(values.size), pairing.predicted)
        missed = np.setdiff1d(np.arange(truths.size), pairing.reference)
        kinds = ["hit"] * len(pairing.predicted) + ["false hit"] * len(surplus)
        kinds += ["miss"] * len(missed)
        gap: list[float | None] = [None]
        mine = values[pairing.predicted].tolist() + values[surplus].tolist() + gap * len(missed)
        true = truths[pairing.reference].tolist() + gap * len(surplus) + truths[missed].tolist()
        room = max(most - len(rows), 0)
        rows += [
            {
                "item": names[name],
                "kind": kind,
                "coefficient": value,
                "true_coefficient": truth,
                "error": None if value is None or truth is None else value - truth,
            }
            for kind, value, truth in list(zip(kinds, mine, true, strict=True))[:room]
        ]
    return rows
