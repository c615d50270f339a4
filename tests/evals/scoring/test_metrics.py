from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from inspect_ai import Epochs, Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import SampleScore, Score, Scorer, Target, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from evals.scoring.metrics import (
    count,
    dim,
    level,
    mean,
    spread,
    stderr,
    tasks,
)

if TYPE_CHECKING:
    from pathlib import Path

    from inspect_ai.log import EvalLog, EvalScore

NAN = math.nan
# Two replicas of A, one of B, one of C that is never available.
OUTCOMES = {"A-s0": [0.2, 0.4], "A-s1": [0.5, 0.7], "B": [1.0, 0.8], "C": [NAN, NAN]}
FACTS = {"A": ("2D", "easy"), "B": ("3D", "hard"), "C": ("3D", "easy")}


@scorer(
    metrics={
        "outcome": [mean(), stderr(), tasks(), dim(), level(), spread()],
        "passed": [mean(), count()],
    }
)
def given() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        value = OUTCOMES[str(state.sample_id)][state.epoch - 1]
        return Score(value={"outcome": value, "passed": float(value >= 0.5)})

    return score


@solver
def nothing() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return state

    return solve


def sample(name: str) -> Sample:
    task_id = name.split("-")[0]
    dimensions, difficulty = FACTS[task_id]
    metadata = {"task_id": task_id, "dimensions": dimensions, "difficulty_label": difficulty}
    return Sample(id=name, input="x", metadata=metadata)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    task = Task(
        dataset=MemoryDataset([sample(name) for name in OUTCOMES]),
        solver=nothing(),
        scorer=given(),
        epochs=Epochs(2, ["mean"]),
    )
    folder: Path = tmp_path_factory.mktemp("logs")
    [log] = eval(task, model="none/none", display="none", log_dir=str(folder))
    assert log.status == "success", log.error
    return log


def result(log: EvalLog, name: str) -> EvalScore:
    assert log.results is not None
    return next(score for score in log.results.scores if score.name == name)


def metric_value(log: EvalLog, score: str, metric: str) -> float:
    metrics = result(log, score).metrics
    return next(m.value for key, m in metrics.items() if key.endswith(metric))


def test_the_mean_weighs_tasks_alike_after_epochs_are_reduced(log: EvalLog) -> None:
    # A: mean of 0.3 and 0.6 is 0.45; B: 0.9; C has no value.
    assert metric_value(log, "outcome", "mean") == pytest.approx((0.45 + 0.9) / 2)


def test_the_standard_error_is_over_tasks(log: EvalLog) -> None:
    # Two means at a distance of 0.45: s = 0.45 / sqrt(2), divided by sqrt(2).
    assert metric_value(log, "outcome", "stderr") == pytest.approx(0.225)


def test_tasks_without_a_value_are_left_out_and_counted(log: EvalLog) -> None:
    assert metric_value(log, "outcome", "tasks") == 2
    assert result(log, "outcome").unscored_samples == 1
    assert result(log, "outcome").scored_samples == 3


def test_groups_have_their_own_means(log: EvalLog) -> None:
    assert metric_value(log, "outcome", "dim_2D") == pytest.approx(0.45)
    assert metric_value(log, "outcome", "dim_3D") == pytest.approx(0.9)
    assert metric_value(log, "outcome", "level_easy") == pytest.approx(0.45)
    assert metric_value(log, "outcome", "level_hard") == pytest.approx(0.9)


def test_the_pass_rate_is_the_mean_of_passed(log: EvalLog) -> None:
    # A: 0 of 2 and 2 of 2 epochs give 0.5; B: 1; C: 0.
    assert metric_value(log, "passed", "mean") == pytest.approx(0.5)


def test_the_spread_is_that_of_each_samples_epochs_and_weighs_tasks_alike(log: EvalLog) -> None:
    assert log.results is not None
    [found] = [score for score in log.results.scores if "evals/spread" in score.metrics]
    # Two values at a distance d have s = d / sqrt(2). All pairs but that of C lie 0.2 apart.
    assert found.metrics["evals/spread"].value == pytest.approx(0.2 / math.sqrt(2))


def test_a_sample_that_ran_once_has_no_spread() -> None:
    assert math.isnan(computed(spread(), values(0.1, 0.9)))


def test_the_spread_of_a_task_is_the_mean_of_its_samples() -> None:
    runs = {"a": [0.0, 1.0], "b": [0.5, 0.5], "c": [0.0, 1.0, NAN], "d": [0.3, NAN]}
    of = {"a": "t1", "b": "t1", "c": "t2", "d": "t3"}
    scores = [
        SampleScore(score=Score(value=x), sample_id=name, sample_metadata={"task_id": of[name]})
        for name, run in runs.items()
        for x in run
    ]
    s = 1 / math.sqrt(2)
    assert computed(spread(), scores) == pytest.approx((s / 2 + s) / 2)


def test_runs_are_counted_singly_whatever_their_task_or_epoch(log: EvalLog) -> None:
    assert log.results is not None
    [counted] = [score for score in log.results.scores if "evals/count" in score.metrics]
    # One epoch of A-s0 reaches 0.5 not once, A-s1 does twice, B twice.
    assert counted.metrics["evals/count"].value == 4


def values(*numbers: float) -> list[SampleScore]:
    return [
        SampleScore(score=Score(value=x), sample_id=str(i), sample_metadata={"task_id": f"t{i}"})
        for i, x in enumerate(numbers)
    ]


def computed(metric: Any, scores: list[SampleScore]) -> Any:
    return metric(scores)


def test_one_task_has_no_standard_error() -> None:
    assert computed(stderr(), values(0.3)) == 0.0


def test_no_task_has_no_mean() -> None:
    assert math.isnan(computed(mean(), []))
    assert computed(tasks(), []) == 0


def test_three_tasks_by_hand() -> None:
    scores = values(0.0, 0.5, 1.0)
    assert computed(mean(), scores) == 0.5
    assert computed(stderr(), scores) == pytest.approx(0.5 / math.sqrt(3))


def test_samples_without_metadata_are_tasks_of_their_own() -> None:
    scores = [SampleScore(score=Score(value=x), sample_id=x) for x in (0, 1)]
    assert computed(tasks(), scores) == 2
    assert computed(dim(), scores) == {"unknown": 0.5}
