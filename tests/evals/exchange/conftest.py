"""Logs written by hand, with the submissions that they say were kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalPlan,
    EvalPlanStep,
    EvalSample,
    EvalSpec,
    write_eval_log,
)
from inspect_ai.scorer import Score

from evals.biaa.facts import RELEASED
from evals.scoring.keep import hashes
from evals.telemetry.record import Telemetry, Tokens

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SIXTEEN = tuple(RELEASED)
FACTS = {
    "edition": "v1.0",
    "instruction_level": "basic",
    "cpus": 4,
    "memory_bytes": 8 * 2**30,
    "gpus": [],
    "data": {"revision": "v1.0", "commit": "abc123"},
}


@dataclass
class Ran:
    """One sample as a test wants it; the files are what its agent left."""

    task: str = SIXTEEN[0]
    epoch: int = 1
    status: str = "delivered"
    outcome: float | None = 0.5
    process: float | None = None
    files: dict[str, str] = field(default_factory=lambda: {"a.csv": "X,Y\n1,1\n"})
    found: dict[str, list[str]] = field(default_factory=lambda: {"counts": ["a.csv"]})
    missing: list[dict[str, str]] = field(default_factory=list)
    turns: int = 2
    sample_id: str | None = None
    store: dict[str, Any] = field(default_factory=dict)


def telemetry(turns: int) -> dict[str, Any]:
    counts = dict.fromkeys(
        (
            "model_errors",
            "tool_calls",
            "repeated_calls",
            "errors",
            "code_executions",
            "failed_executions",
            "images_viewed",
            "turns_without_usage",
        ),
        0,
    )
    told = Telemetry(
        started="2026-09-01T08:00:00+00:00",
        agent_time_s=90.0,
        model_time_s=1.0,
        model_working_s=1.0,
        tool_time_s=1.0,
        turns=turns,
        tool_calls_by_name={},
        tokens=Tokens(input=10, cache_read=20, cache_write=30, output=5, total=65),
        cost_usd=0.25 if turns else None,
        files_total=1,
        files_bytes=1,
        files=[],
        output_growth=[],
        **counts,
    )
    return told.model_dump(mode="json")


def _sample(ran: Ran, submissions: Path) -> EvalSample:
    name = f"{ran.task}-{ran.epoch}"
    folder = submissions / name
    folder.mkdir(parents=True)
    for path, text in ran.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    told = {
        "grade": {"deliverables": {"found": ran.found, "rejected": [], "missing": ran.missing}},
        "status": ran.status,
        "kept": name,
        "kept_files": hashes(folder),
        "telemetry": telemetry(ran.turns),
        **ran.store,
    }
    scores = {
        "grade": Score(value={"outcome": float("nan") if ran.outcome is None else ran.outcome})
    }
    if ran.process is not None:
        scores["process"] = Score(
            value={"checklist": ran.process}, metadata={"judges": {"mockllm/judge": {}}}
        )
    return EvalSample(
        id=ran.sample_id or ran.task,
        epoch=ran.epoch,
        input="Count.",
        target="",
        metadata={"task_id": ran.task},
        store={f"Graded:{key}": value for key, value in told.items()},
        scores=scores,
        completed_at="2026-09-01T10:10:00.123+02:00",
    )


@pytest.fixture
def write_log(tmp_path: Path) -> Callable[..., Path]:
    """Give the writer of a log; its submissions lie in `kept`."""

    def write(*runs: Ran, solver: str = "evals/react", facts: dict[str, Any] | None = None) -> Path:
        spec = EvalSpec(
            created="2026-09-01T08:00:00+00:00",
            task="evals/biaa",
            task_version=1,
            dataset=EvalDataset(),
            model="anthropic/claude-x",
            config=EvalConfig(),
            solver=solver,
            packages={"evals": "0.1.0"},
            task_args={"seed": 3},
            metadata=FACTS | (facts or {}),
        )
        log = EvalLog(
            eval=spec,
            status="success",
            plan=EvalPlan(steps=[EvalPlanStep(solver=solver)]),
            samples=[_sample(run, tmp_path / "kept") for run in runs],
        )
        place = tmp_path / "logs" / "run.eval"
        place.parent.mkdir(exist_ok=True)
        write_eval_log(log, str(place))
        return place

    return write


@pytest.fixture
def ran() -> type[Ran]:
    """Give the form of one sample."""
    return Ran


@pytest.fixture
def sixteen() -> Callable[..., list[Ran]]:
    """Give the maker of runs of all tasks; changes of single runs by task number and epoch."""

    def make(epochs: int = 1, changes: dict[tuple[int, int], dict[str, Any]] | None = None) -> Any:
        pairs = [(number, epoch) for number in range(16) for epoch in range(1, epochs + 1)]
        return [
            Ran(SIXTEEN[number], epoch, **(changes or {}).get((number, epoch), {}))
            for number, epoch in pairs
        ]

    return make
