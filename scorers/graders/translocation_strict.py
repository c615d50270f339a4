"""The strict value of translocation: whether each well's ratio is the true one.

The published score looks for a curve that rises, so that a table made up from the paper gets 1.0,
and it does not miss a cell type that was left out. `strict_ccc` compares each well with the true
ratio of the cells in its images instead. It needs `evaluation/truth_per_well.csv` with the columns
`well`, `cell_type`, `dose` and `mean_nuc_over_cyto_ratio`, the wells named as in the input; without
it the value is not available.

It is Lin's concordance of log ratios, of the wells of one cell type at a time, not below 0, and
the mean over the cell types of the truth: in [0, 1], higher better. Concordance sees a wrong scale
or offset as well as a wrong shape. The logarithm makes a ratio of 2 as far from 1 as one of 0.5.
A missing well counts as measured at the end of the truth's range (of all wells) that is further
from its true value, and so does a ratio that is no number above 0; ratios beyond that range count
as at its end. So no well can cost more than a missing one, and leaving a well out never helps. Of
several rows for one well the one furthest off counts; wells are known by their names, and what
else a row says of them is only checked (`strict_wells_mislabelled`).

In a cell type that does not respond at all, the true ratios hardly differ, and concordance asks
for differences between wells that few measurements resolve; `strict_ccc_pooled` over the whole
plate is milder there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.graders.plates import Plate, read_truth, well_name
from scorers.graders.translocation_pictures import pictures
from scorers.metrics.concordance import concordance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.contract import Job, Result, Scalar
    from scorers.files.columns import Columns

RATIO = "mean_nuc_over_cyto_ratio"
_LARGEST = 700.0


@dataclass(frozen=True)
class Wells:
    """The truth's wells as they were submitted; shapes (n,).

    Attributes
    ----------
    plate
        The truth.
    measured
        log of the submitted ratio, `nan` where it is missing.
    counted
        What enters the score instead: within the truth's range, missing ones at its far end.
    surplus
        Rows whose well the truth does not have.
    mislabelled
        Wells given with another dose or cell type than the true one.
    """

    plate: Plate
    measured: NDArray[np.float64]
    counted: NDArray[np.float64]
    surplus: int
    mislabelled: int

    @property
    def true(self) -> NDArray[np.float64]:
        """Log of the true ratio."""
        return np.log(self.plate.ratio)

    def ccc(self, own: NDArray[np.bool_]) -> float:
        """Return the concordance of some of the wells, at least one, not below 0."""
        return max(0.0, concordance(self.counted[own], self.true[own]) or 0.0)


def judge(table: Columns, job: Job, result: Result) -> None:
    """Add the strict value, its metrics, rows and pictures to a result."""
    truth = read_truth(job)
    if truth is None:
        result.pictures = pictures(_as_told(table), None, job) if job.draws else []
        return
    wells = _compare(table, truth)
    types = np.array(truth.cell_type, object)
    scores = {name: wells.ccc(types == name) for name in dict.fromkeys(truth.cell_type)}
    result.strict = round(float(np.mean(list(scores.values()))), 6)
    result.strict_metrics = _metrics(wells, result.strict, scores)
    result.items = _items(result.items, wells, scores)
    result.objects = _objects(wells)[: job.limits.objects]
    result.pictures = pictures(_as_told(table), wells, job) if job.draws else []


def _compare(table: Columns, truth: Plate) -> Wells:
    names, logs = _logs(table)
    place = {name: at for at, name in enumerate(truth.well)}
    true = np.log(truth.ratio)
    low, high = float(true.min()), float(true.max())
    far = np.where(true - low > high - true, low, high)
    # Rows in order of how far off they are, so that the worst of a well is the one that stays.
    at = np.array([place.get(name, -1) for name in names], np.int64)
    rows = np.flatnonzero(at >= 0)
    own = at[rows]
    counted = np.where(np.isnan(logs[rows]), far[own], np.clip(logs[rows], low, high))
    order = np.argsort(np.abs(counted - true[own]), kind="stable")
    measured, entered = np.full(len(true), np.nan), far.copy()
    measured[own[order]], entered[own[order]] = logs[rows][order], counted[order]
    wrong = _mislabelled(table, rows, own, truth)
    return Wells(truth, measured, entered, int((at < 0).sum()), len(set(own[wrong].tolist())))


def _logs(table: Columns) -> tuple[list[str], NDArray[np.float64]]:
    """Return each row's well, empty if it names none, and the log of its ratio."""
    names = [well_name(text) or "" for text in table.texts(table.place("well"))]
    ratio = table.numbers(table.place(RATIO))
    usable = np.isfinite(ratio) & (ratio > 0)
    # Clipped so that no rounding makes the ratio infinite on the way back.
    logs = np.clip(np.log(np.where(usable, ratio, 1.0)), -_LARGEST, _LARGEST)
    return names, np.where(usable, logs, np.nan)


def _mislabelled(
    table: Columns, rows: NDArray[np.int64], own: NDArray[np.int64], truth: Plate
) -> NDArray[np.bool_]:
    types = table.texts(table.place("cell_type"))
    dose = table.numbers(table.place("dose"))[rows]
    other = [types[row].lower() != truth.cell_type[at].lower() for row, at in _pairs(rows, own)]
    wrong: NDArray[np.bool_] = np.array(other, bool) | ~np.isclose(dose, truth.dose[own], atol=0)
    return wrong


def _pairs(rows: NDArray[np.int64], own: NDArray[np.int64]) -> list[tuple[int, int]]:
    return list(zip(rows.tolist(), own.tolist(), strict=True))


def _as_told(table: Columns) -> Plate:
    """Return the submitted table as a plate, rows without a well or a usable ratio left out."""
    names, logs = _logs(table)
    types, dose = table.texts(table.place("cell_type")), table.numbers(table.place("dose"))
    kept = [at for at, name in enumerate(names) if name and np.isfinite(logs[at] + dose[at])]
    return Plate(
        [names[at] for at in kept], [types[at] for at in kept], dose[kept], np.exp(logs[kept])
    )


def _metrics(wells: Wells, headline: float, scores: dict[str, float]) -> dict[str, Scalar]:
    found = ~np.isnan(wells.measured)
    error = wells.measured[found] - wells.true[found]
    plain = concordance(wells.measured[found], wells.true[found])
    return {
        "strict_ccc": headline,
        "strict_ccc_n": len(scores),
        "strict_ccc_pooled": round(wells.ccc(np.ones(len(found), bool)), 6),
        "strict_ccc_found_wells": None if plain is None else round(plain, 6),
        "strict_wells": len(found),
        "strict_wells_missing": int((~found).sum()),
        "strict_wells_surplus": wells.surplus,
        "strict_wells_mislabelled": wells.mislabelled,
        # Factors: 1.1 is a tenth too much.
        "strict_bias_factor": round(float(np.exp(error.mean())), 4) if error.size else None,
        "strict_error_factor": (
            round(float(np.exp(np.sqrt((error**2).mean()))), 4) if error.size else None
        ),
    }


def _items(
    items: list[dict[str, Scalar]], wells: Wells, scores: dict[str, float]
) -> list[dict[str, Scalar]]:
    """Return one row a cell type, those of the truth first."""
    told = {str(row["item"]): row for row in items}
    keys = next(iter(items), {"item": None, "status": None}).keys()
    types = np.array(wells.plate.cell_type, object)
    rows = []
    for name in dict.fromkeys([*scores, *told]):
        own = types == name
        blank = {**dict.fromkeys(keys), "item": name, "status": "missing"}
        rows.append(
            {
                **told.get(name, blank),
                "strict_ccc": round(scores[name], 4) if name in scores else None,
                "strict_wells": int(own.sum()),
                "strict_wells_missing": int((own & np.isnan(wells.measured)).sum()),
            }
        )
    return rows


def _objects(wells: Wells) -> list[dict[str, Scalar]]:
    """Return one row a well of the truth."""
    plate = wells.plate
    columns = zip(
        plate.well,
        plate.cell_type,
        plate.dose.tolist(),
        plate.ratio.tolist(),
        wells.measured.tolist(),
        wells.true.tolist(),
        strict=True,
    )
    return [
        {
            "item": cell_type,
            "kind": "miss" if np.isnan(measured) else "hit",
            "well": well,
            "dose": dose,
            "true_ratio": ratio,
            "ratio": None if np.isnan(measured) else float(np.exp(measured)),
            "log_error": None if np.isnan(measured) else measured - true,
        }
        for well, cell_type, dose, ratio, measured, true in columns
    ]
