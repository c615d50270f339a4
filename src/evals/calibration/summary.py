"""What records say: scores by difficulty, slopes, what damage does, what sets agents apart."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from evals.calibration.agents import BASELINE, NAIVE, ORACLE, PERTURBED
from evals.calibration.intervals import Estimate, estimate, slope
from evals.calibration.perturbations import perturbations
from evals.calibration.records import latest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evals.calibration.records import Record

    Row = dict[str, Any]

SCORES = ("published", "strict")
_SAME = 1e-9


@dataclass(frozen=True)
class Summary:
    """Tables, each a list of rows.

    Attributes
    ----------
    by_difficulty
        Mean and interval of both scores of a task and agent at a difficulty.
    slopes
        Their change from difficulty 0 to 1.
    damage
        What each kind of damage does to the oracle.
    discrimination
        One row a task: ceiling, baseline, best floor, and which damage goes unnoticed.
    """

    by_difficulty: list[Row]
    slopes: list[Row]
    damage: list[Row]
    discrimination: list[Row]

    def tables(self) -> dict[str, list[Row]]:
        """Return the tables by their names."""
        return dict(vars(self))


def summarise(records: Iterable[Record]) -> Summary:
    """Summarise records; of several rows for one thing the last counts."""
    rows = latest(records)
    agents = [row for row in rows if row.agent != PERTURBED]
    damage = _damage(rows)
    return Summary(_by_difficulty(agents), _slopes(agents), damage, _discrimination(agents, damage))


def label(row: Record) -> str:
    """Return what tables and figures call an agent."""
    return f"{row.agent}({row.kind})" if row.kind else row.agent


def _grouped(
    rows: Iterable[Record], key: Callable[[Record], tuple[Any, ...]]
) -> dict[tuple[Any, ...], list[Record]]:
    groups: defaultdict[tuple[Any, ...], list[Record]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return dict(sorted(groups.items()))


def _value(row: Record, score: str) -> float | None:
    return row.outcome if score == "published" else row.strict


def _values(rows: Iterable[Record], score: str) -> list[float]:
    return [value for row in rows if (value := _value(row, score)) is not None]


def _told(name: str, found: Estimate | None) -> Row:
    if found is None:
        return dict.fromkeys((f"{name}_n", name, f"{name}_low", f"{name}_high"))
    parts = {
        f"{name}_n": found.n,
        name: found.mean,
        f"{name}_low": found.low,
        f"{name}_high": found.high,
    }
    return {key: round(v, 4) if isinstance(v, float) else v for key, v in parts.items()}


def _by_difficulty(rows: Sequence[Record]) -> list[Row]:
    groups = _grouped(rows, lambda row: (row.task, row.dims, label(row), row.difficulty))
    table = []
    for (task, dims, agent, difficulty), own in groups.items():
        row = {"task": task, "dims": dims, "agent": agent, "difficulty": difficulty}
        for score in SCORES:
            values = _values(own, score)
            row |= _told(score, estimate(values) if values else None)
        table.append(row)
    return table


def _slopes(rows: Sequence[Record]) -> list[Row]:
    table = []
    for (task, dims, agent), own in _grouped(
        rows, lambda row: (row.task, row.dims, label(row))
    ).items():
        row = {"task": task, "dims": dims, "agent": agent}
        for score in SCORES:
            row |= _told(f"{score}_slope", slope(_ladders(own, score)))
        table.append(row)
    return table


def _ladders(rows: Iterable[Record], score: str) -> list[dict[float, float]]:
    ladders: defaultdict[int, dict[float, float]] = defaultdict(dict)
    for row in rows:
        value = _value(row, score)
        if value is not None:
            ladders[row.seed][row.difficulty] = value
    return list(ladders.values())


def _damage(rows: Sequence[Record]) -> list[Row]:
    """Return one row for each task and kind: means by dose, and whether both scores fall.

    A score falls if, on every capsule, it is nowhere higher at a higher dose, the undamaged oracle
    being dose 0, and lower at the highest one than at that.
    """
    ceiling = {_capsule(row): row for row in rows if row.agent == ORACLE}
    damaged = [row for row in rows if row.agent == PERTURBED]
    table = []
    for (task, dims, kind), own in _grouped(
        damaged, lambda row: (row.task, row.dims, row.kind)
    ).items():
        series = [
            [ceiling[capsule], *sorted(hit, key=lambda row: row.dose or 0.0)]
            for capsule, hit in _grouped(own, _capsule).items()
            if capsule in ceiling
        ]
        row: Row = {"task": task, "dims": dims, "kind": kind, "capsules": len(series)}
        for score in SCORES:
            row[f"{score}_by_dose"] = _means_by_dose(own, score)
            row[f"{score}_falls"] = all(_falls(_values(one, score)) for one in series)
        row["forgiven"] = _reason(own[0].family, kind)
        table.append(row)
    return table


def _capsule(row: Record) -> tuple[Any, ...]:
    return (row.task, row.dims, row.difficulty, row.seed)


def _means_by_dose(rows: Iterable[Record], score: str) -> dict[str, float]:
    doses: defaultdict[float, list[float]] = defaultdict(list)
    for row in rows:
        value = _value(row, score)
        if value is not None:
            doses[row.dose or 0.0].append(value)
    return {f"{dose:g}": round(float(np.mean(doses[dose])), 4) for dose in sorted(doses)}


def _falls(values: Sequence[float]) -> bool:
    nowhere_up = all(b <= a + _SAME for a, b in pairwise(values))
    return len(values) > 1 and nowhere_up and values[-1] < values[0] - _SAME


def _reason(family: str, kind: str) -> str:
    """Return why the strict score need not notice a kind."""
    entries = perturbations(family)
    return next((entry.forgiven for entry in entries if entry.kind == kind), "")


def _discrimination(rows: Sequence[Record], damage: Sequence[Row]) -> list[Row]:
    table = []
    for (task, dims), own in _grouped(rows, lambda row: (row.task, row.dims)).items():
        row: Row = {"task": task, "dims": dims}
        for score in SCORES:
            row |= _gaps(own, score)
        kinds = [one for one in damage if (one["task"], one["dims"]) == (task, dims)]
        row["kinds"] = len(kinds)
        for score in SCORES:
            unnoticed = [one["kind"] for one in kinds if not one[f"{score}_falls"]]
            row[f"{score}_unnoticed"] = ", ".join(unnoticed)
        row["forgiven"] = {one["kind"]: one["forgiven"] for one in kinds if one["forgiven"]}
        table.append(row)
    return table


def _gaps(rows: Sequence[Record], score: str) -> Row:
    """Return the means of ceiling, baseline and best floor, and what lies between them."""
    means = {
        agent: float(np.mean(values))
        for (agent,), own in _grouped(rows, lambda row: (label(row),)).items()
        if (values := _values(own, score))
    }
    floors = {agent: mean for agent, mean in means.items() if agent.startswith(NAIVE)}
    best = max(floors, key=lambda agent: floors[agent], default=None)
    oracle, baseline = means.get(ORACLE), means.get(BASELINE)
    floor = None if best is None else floors[best]
    return {
        f"{score}_oracle": _rounded(oracle),
        f"{score}_baseline": _rounded(baseline),
        f"{score}_floor": _rounded(floor),
        f"{score}_floor_agent": best,
        f"{score}_oracle_minus_baseline": _difference(oracle, baseline),
        f"{score}_baseline_minus_floor": _difference(baseline, floor),
    }


def _difference(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else _rounded(one - other)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
