from __future__ import annotations

import pytest

from evals.report.summary import ALL_TASKS, Reading, render, rows, to_json


def reading(task: str, outcome: float | None, agent: str = "oracle", **changes: object) -> Reading:
    values: dict[str, object] = {"strict": outcome, "passed": None, "errored": False}
    return Reading(task, agent, outcome, **(values | changes))


def test_a_task_has_the_mean_and_standard_error_of_its_samples() -> None:
    [row] = rows([reading("A", 0.2), reading("A", 0.6)])
    assert row.outcome == pytest.approx(0.4)
    assert row.outcome_stderr == pytest.approx(0.2)
    assert row.scored == 2


def test_one_sample_has_no_standard_error() -> None:
    [row] = rows([reading("A", 0.2)])
    assert row.outcome_stderr is None


def test_all_tasks_weigh_alike() -> None:
    *_, overall = rows([reading("A", 0.0), reading("A", 0.0), reading("B", 1.0)])
    assert overall.task == ALL_TASKS
    assert overall.outcome == pytest.approx(0.5)
    assert overall.outcome_stderr == pytest.approx(0.5)
    assert overall.scored == 3


def test_errors_and_unscored_samples_are_counted_and_not_zero() -> None:
    read = [reading("A", 0.5), reading("A", None, errored=True), reading("A", None)]
    [row] = rows(read)
    assert (row.outcome, row.scored, row.errored, row.unscored) == (0.5, 1, 1, 1)


def test_a_group_without_scores_has_no_mean() -> None:
    [row] = rows([reading("A", None, errored=True)])
    assert row.outcome is None
    assert row.passed is None


def test_agents_are_told_apart_and_tasks_stay_together() -> None:
    read = [reading(task, 1.0, agent) for agent in ("x", "y") for task in ("A", "B")]
    told = [(row.task, row.agent) for row in rows(read)]
    assert told == [
        ("A", "x"),
        ("A", "y"),
        ("B", "x"),
        ("B", "y"),
        (ALL_TASKS, "x"),
        (ALL_TASKS, "y"),
    ]


def test_the_table_is_json_able_and_can_be_printed() -> None:
    table = rows([reading("A", 0.5), reading("B", None)])
    assert to_json(table)[1]["outcome"] is None
    header, *lines = render(table).splitlines()
    assert header.split()[:2] == ["outcome", "s.e."]
    told = {line.split()[0]: line.split()[1:] for line in lines if line}
    assert told["A"] == []
    assert max(map(len, [header, *lines])) < 80


def test_the_table_shows_figures_and_dashes_for_none() -> None:
    *_, line = render(rows([reading("A", 0.5), reading("A", None, errored=True)])).splitlines()
    assert line.split() == ["oracle", "0.500", "–", "0.500", "–", "–", "1", "1", "0"]
