"""What a leaderboard shows of an entry, computed as BIABench computes it."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean, median, pstdev
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evals.exchange.entry import Entry, Run


@dataclass(frozen=True)
class Row:
    """One entry's line. A mean or median is None where there is nothing to take it of.

    Attributes
    ----------
    outcome_mean
        Mean of the tasks' means; a task whose runs were all refused is left out.
    outcome_sd_tasks
        Population standard deviation of the tasks' means.
    process_mean
        Mean over the runs that have a process score.
    tasks
        Mean outcome of each task, to four decimals.
    """

    outcome_mean: float | None
    outcome_sd_tasks: float | None
    process_mean: float | None
    tasks_scored: int
    runs: int
    scored: int
    refused: int
    median_wall_min: float | None
    cost_per_run_usd: float | None
    tasks: dict[str, float | None]


def row_of(entry: Entry) -> Row:
    """Return an entry's line; refused runs count for nothing but their number."""
    scored = {name: _scored(task.runs) for name, task in entry.tasks.items()}
    means = {name: _mean([run.outcome for run in runs]) for name, runs in scored.items()}
    tasks = {name: None if mean is None else round(mean, 4) for name, mean in means.items()}
    values = [mean for mean in tasks.values() if mean is not None]
    every = [run for runs in scored.values() for run in runs]
    count = sum(len(task.runs) for task in entry.tasks.values())
    walls = [run.wall_min for run in every if run.wall_min is not None]
    return Row(
        outcome_mean=_mean(values),
        outcome_sd_tasks=pstdev(values) if values else None,
        process_mean=_mean([run.process for run in every]),
        tasks_scored=len(values),
        runs=count,
        scored=len(every),
        refused=count - len(every),
        median_wall_min=median(walls) if walls else None,
        cost_per_run_usd=_mean([run.cost_usd for run in every]),
        tasks=tasks,
    )


def _scored(runs: Sequence[Run]) -> list[Run]:
    return [run for run in runs if run.status != "refused"]


def _mean(values: Sequence[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return fmean(there) if there else None
