"""Summaries over samples in which every task weighs the same, however often it was run."""

from __future__ import annotations

import math
from collections import defaultdict
from statistics import fmean, stdev

from inspect_ai.scorer import Metric, SampleScore, Score, Value, metric, value_to_float

from evals.scoring.reducers import spread_of

_to_float = value_to_float()


@metric
def mean() -> Metric:
    r"""Mean over tasks of each task's mean over its samples.

    $m = \frac{1}{T} \sum_t \frac{1}{n_t} \sum_i x_{ti}$, so that a task with many replicas does not
    drown the others; $x_{ti}$ is a sample's mean over its epochs. On `passed` it is the pass rate.
    Scores that are NaN are left out; Inspect counts them as unscored samples. NaN where no score
    is left.

    Returns:
        The metric; it reads `task_id` from the sample's metadata, else takes the sample as a task.
    """

    def mean_of_task_means(scores: list[SampleScore]) -> Value:
        means = _task_means(scores)
        return fmean(means) if means else math.nan

    return mean_of_task_means


@metric
def stderr() -> Metric:
    r"""Standard error of `mean`, with tasks as the independent units (clusters).

    $\mathrm{SE} = s / \sqrt{T}$, where $s$ is the sample standard deviation (divisor $T - 1$) of
    the $T$ per-task means. It speaks of how the mean would move with another choice of tasks, not
    of one task's own scatter over replicas or epochs; `spread` does of epochs. 0 for fewer than two
    tasks, as Inspect's own `stderr` has it.

    Returns:
        The metric; it reads `task_id` as `mean` does.
    """

    def stderr_of_task_means(scores: list[SampleScore]) -> Value:
        means = _task_means(scores)
        return stdev(means) / math.sqrt(len(means)) if len(means) > 1 else 0.0

    return stderr_of_task_means


@metric
def tasks() -> Metric:
    """Number of tasks that have at least one score, the `T` behind mean and standard error.

    Returns:
        The metric; it reads `task_id` as `mean` does.
    """

    def count_of_tasks(scores: list[SampleScore]) -> Value:
        return float(len(_task_means(scores)))

    return count_of_tasks


@metric(scores="unreduced")
def spread() -> Metric:
    r"""How far the runs of one and the same sample lie apart: a standard deviation over epochs.

    Each sample's $s = \sqrt{\frac{1}{n - 1} \sum_e (x_e - \bar x)^2}$ over its $n$ epochs, averaged
    as `mean` averages: over a task's samples, then over tasks. Epochs that are NaN are left out,
    and so are samples with fewer than two others. NaN where none is left, as without epochs.

    Returns:
        The metric; it reads `task_id` as `mean` does.
    """

    def mean_of_spreads(scores: list[SampleScore]) -> Value:
        epochs: defaultdict[str, list[SampleScore]] = defaultdict(list)
        for score in scores:
            epochs[str(score.sample_id)].append(score)
        means = _task_means([_spread(of_sample) for of_sample in epochs.values()])
        return fmean(means) if means else math.nan

    return mean_of_spreads


@metric(scores="unreduced")
def count() -> Metric:
    """Number of runs, each epoch counted singly, whose value is 1: on `refused`, the refusals.

    Returns:
        The metric.
    """

    def sum_over_runs(scores: list[SampleScore]) -> Value:
        return sum(_to_float(score.score.value) for score in scores)

    return sum_over_runs


@metric
def dim() -> Metric:
    """`mean` for each value of the metadata key `dimensions` (2D, 3D).

    Returns:
        The metric; its value is a mapping from group to mean.
    """
    return _grouped("dimensions")


@metric
def level() -> Metric:
    """`mean` for each value of the metadata key `difficulty_label` (easy, medium, hard).

    Returns:
        The metric; its value is a mapping from group to mean.
    """
    return _grouped("difficulty_label")


def _grouped(key: str) -> Metric:
    def means_of_groups(scores: list[SampleScore]) -> Value:
        groups: defaultdict[str, list[SampleScore]] = defaultdict(list)
        for score in scores:
            groups[str((score.sample_metadata or {}).get(key, "unknown"))].append(score)
        means = {name: _task_means(groups[name]) for name in sorted(groups)}
        return {name: fmean(values) if values else math.nan for name, values in means.items()}

    return means_of_groups


def _spread(epochs: list[SampleScore]) -> SampleScore:
    value = spread_of(_to_float(epoch.score.value) for epoch in epochs)
    return epochs[0].model_copy(update={"score": Score(value=value)})


def _task_means(scores: list[SampleScore]) -> list[float]:
    by_task: defaultdict[str, list[float]] = defaultdict(list)
    for score in scores:
        value = _to_float(score.score.value)
        if not math.isnan(value):
            metadata = score.sample_metadata or {}
            by_task[str(metadata.get("task_id", score.sample_id))].append(value)
    return [fmean(by_task[name]) for name in sorted(by_task)]
