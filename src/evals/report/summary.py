"""From logs to one table: how each agent did on each task."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import asdict, dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from inspect_ai.log import EvalLog, EvalSample

ALL_TASKS = "all tasks"
_COLUMNS = {
    "outcome": 8,
    "s.e.": 7,
    "strict": 8,
    "s.e. ": 7,
    "passed": 8,
    "n": 4,
    "errors": 8,
    "unscored": 10,
}


@dataclass(frozen=True)
class Reading:
    """One scored sample, or one that has no score and why: `error` or `unscored`."""

    task: str
    agent: str
    outcome: float | None
    strict: float | None
    passed: float | None
    errored: bool


@dataclass(frozen=True)
class Row:
    """One line of the table: an agent on a task, or on all of them.

    A mean is None where nothing was scored, a standard error where fewer than two values stand
    behind it. On a single task the values are its samples, on all tasks the tasks' means.
    """

    task: str
    agent: str
    outcome: float | None
    outcome_stderr: float | None
    strict: float | None
    strict_stderr: float | None
    passed: float | None
    scored: int
    errored: int
    unscored: int


def readings(log: EvalLog) -> list[Reading]:
    """Return what a log says of each of its samples."""
    agent = agent_label(log)
    return [_reading(sample, agent) for sample in log.samples or []]


def agent_label(log: EvalLog) -> str:
    """Return the name of the solver that was run, with what sets it apart."""
    name = (log.eval.solver or "default").rsplit("/", 1)[-1]
    told = [str(value) for value in (log.eval.solver_args_passed or {}).values()]
    label = f"{name}({', '.join(told)})" if told else name
    return label if log.eval.model in ("none/none", "") else f"{label} · {log.eval.model}"


def _reading(sample: EvalSample, agent: str) -> Reading:
    task = str((sample.metadata or {}).get("task_id", sample.id))
    score = (sample.scores or {}).get("grade")
    value = score.value if score is not None else None
    if not isinstance(value, dict):
        return Reading(task, agent, None, None, None, errored=sample.error is not None)
    return Reading(
        task,
        agent,
        _number(value.get("outcome")),
        _number(value.get("strict")),
        _number(value.get("passed")),
        errored=sample.error is not None,
    )


def _number(value: Any) -> float | None:
    if not isinstance(value, int | float) or math.isnan(value):
        return None
    return float(value)


def rows(read: Iterable[Reading]) -> list[Row]:
    """Return one row a task and agent, then one an agent over all tasks, in order of appearance."""
    groups: defaultdict[tuple[str, str], list[Reading]] = defaultdict(list)
    agents: defaultdict[str, list[Reading]] = defaultdict(list)
    for reading in read:
        groups[reading.task, reading.agent].append(reading)
        agents[reading.agent].append(reading)
    tasks = list(dict.fromkeys(task for task, _ in groups))
    pairs = sorted(groups, key=lambda pair: tasks.index(pair[0]))
    single = [_row(*pair, groups[pair], _values) for pair in pairs]
    if len(tasks) < 2:
        return single
    return single + [_row(ALL_TASKS, agent, agents[agent], _task_means) for agent in agents]


def _row(
    task: str,
    agent: str,
    entries: list[Reading],
    values: Callable[[list[Reading], str], list[float]],
) -> Row:
    outcome, strict = values(entries, "outcome"), values(entries, "strict")
    return Row(
        task=task,
        agent=agent,
        outcome=_mean(outcome),
        outcome_stderr=_stderr(outcome),
        strict=_mean(strict),
        strict_stderr=_stderr(strict),
        passed=_mean(values(entries, "passed")),
        scored=sum(entry.outcome is not None for entry in entries),
        errored=sum(entry.errored for entry in entries),
        unscored=sum(entry.outcome is None and not entry.errored for entry in entries),
    )


def _values(entries: list[Reading], key: str) -> list[float]:
    return [value for entry in entries if (value := getattr(entry, key)) is not None]


def _task_means(entries: list[Reading], key: str) -> list[float]:
    tasks: defaultdict[str, list[Reading]] = defaultdict(list)
    for entry in entries:
        tasks[entry.task].append(entry)
    found = (_values(of_task, key) for of_task in tasks.values())
    return [fmean(values) for values in found if values]


def _mean(values: list[float]) -> float | None:
    return fmean(values) if values else None


def _stderr(values: list[float]) -> float | None:
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None


def to_json(table: Iterable[Row]) -> list[dict[str, Any]]:
    """Return the rows as JSON-able mappings."""
    return [asdict(row) for row in table]


def render(table: Sequence[Row]) -> str:
    """Return the rows as text for the terminal: a task's name, then a line an agent."""
    width = max([len(row.agent) for row in table], default=0) + 2
    lines = [" " * width + "".join(f"{name:>{size}}" for name, size in _COLUMNS.items())]
    previous = None
    for row in table:
        if row.task != previous:
            lines += ["", row.task]
        previous = row.task
        lines.append(f"  {row.agent:<{width - 2}}" + _figures(row))
    return "\n".join(lines)


def _figures(row: Row) -> str:
    texts = [
        _figure(row.outcome),
        _figure(row.outcome_stderr),
        _figure(row.strict),
        _figure(row.strict_stderr),
        _figure(row.passed, digits=2),
        str(row.scored),
        str(row.errored),
        str(row.unscored),
    ]
    sizes = _COLUMNS.values()
    return "".join(f"{text:>{size}}" for text, size in zip(texts, sizes, strict=True))


def _figure(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
