"""What a log says of its runs, in the words of BIABench's leaderboard."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inspect_ai.log import read_eval_log
from inspect_ai.util import Store

from evals.errors import DataMissingError, EvalsError
from evals.scoring.leak import TRANSCRIPT
from evals.scoring.record import Graded
from evals.telemetry.record import Telemetry

if TYPE_CHECKING:
    from pathlib import Path

    from inspect_ai.log import EvalLog, EvalSample

    from evals.exchange.entry import RunStatus


class ExportRefused(EvalsError, ValueError):
    """Something that must not, or cannot truthfully, leave this machine as a result."""


@dataclass(frozen=True)
class RunRead:
    """One sample of a log.

    Attributes
    ----------
    run_id
        The session: one of each epoch.
    status, outcome
        As the leaderboard counts them; a refused run has no outcome.
    judges
        Names of the models behind the process score.
    """

    task_id: str
    run_id: str
    record: Graded
    status: RunStatus
    outcome: float | None
    process: float | None
    judges: tuple[str, ...]
    ended: str
    telemetry: Telemetry | None

    @property
    def found(self) -> dict[str, list[str]]:
        """The files of each deliverable, as the grader saw them."""
        found: dict[str, list[str]] = deliverables_of(self.record).get("found") or {}
        return found


def read_log(path: Path) -> EvalLog:
    """Return a finished log.

    Raises:
        DataMissingError: There is none, or it has no samples.
    """
    if not path.is_file():
        raise DataMissingError(f"There is no log {path}.")
    log = read_eval_log(str(path), resolve_attachments=False)
    if log.status != "success" or not log.samples:
        raise DataMissingError(
            f"{path}: expected the log of a finished run, got one with the status {log.status!r}"
            f" and {len(log.samples or [])} samples. Mend: `inspect eval-retry {path}`."
        )
    return log


def made_from_the_reference(log: EvalLog) -> bool:
    """Tell whether the log's solver is the oracle, alone or as one step of several."""
    names = [log.eval.solver or "", *(step.solver for step in log.plan.steps)]
    return any(name.rpartition("/")[2] == "oracle" for name in names)


def runs_of(log: EvalLog) -> list[RunRead]:
    """Return a log's runs by task and session.

    Raises:
        ExportRefused: A sample has no verdict, is one of several instances of a task, or holds
            private text in its files.
    """
    stamp = "".join(letter for letter in log.eval.created[:19] if letter.isdigit())
    session = f"run_{stamp[:8]}_{stamp[8:]}"
    runs = [_run(sample, session) for sample in log.samples or []]
    return sorted(runs, key=lambda run: (run.task_id, run.run_id))


def deliverables_of(record: Graded) -> dict[str, Any]:
    """Return what a verdict says of the deliverables."""
    return (record.grade or {}).get("deliverables") or {}


def _run(sample: EvalSample, session: str) -> RunRead:
    record = Graded(store=Store(sample.store))
    name = f"{sample.id} (epoch {sample.epoch})"
    task_id = str(sample.metadata.get("task_id"))
    if str(sample.id) != task_id:
        raise ExportRefused(
            f"{name}: expected a task once in each epoch, got an instance of {task_id}. Mend: run"
            " without -T replicas; repeats of a task are --epochs."
        )
    if record.grade is None or record.status is None:
        raise ExportRefused(
            f"{name}: expected a verdict, got none: {record.problem or 'it was never graded'}."
            " Mend: `evals regrade LOG`, or run the sample again with `inspect eval-retry LOG`."
        )
    _refuse_private(name, record)
    status, outcome = _ended(name, sample, record)
    process, judges = _process(sample)
    return RunRead(
        task_id=task_id,
        run_id=session if sample.epoch == 1 else f"{session}-{sample.epoch}",
        record=record,
        status=status,
        outcome=outcome,
        process=None if status == "refused" else process,
        judges=judges,
        ended=sample.completed_at or sample.started_at or "",
        telemetry=Telemetry.model_validate(record.telemetry) if record.telemetry else None,
    )


def _refuse_private(name: str, record: Graded) -> None:
    marked = [place for place in record.canary if place != TRANSCRIPT]
    if marked:
        raise ExportRefused(
            f"{name}: expected a submission without private text, got the private part's canary in"
            f" {', '.join(marked[:5])}. Mend: leave this run out; its result is not honest, and"
            " its files may not be passed on."
        )


def _ended(name: str, sample: EvalSample, record: Graded) -> tuple[RunStatus, float | None]:
    """Return how a run ended by the published rules.

    A run that a limit ended is judged by what it left, one that broke down counts 0 whatever it
    left.
    """
    if record.status == "refused":
        return "refused", None
    if record.status == "crash":
        return "crash", 0.0
    deliverables = deliverables_of(record)
    if deliverables.get("missing") or not any((deliverables.get("found") or {}).values()):
        return "no_deliverable", 0.0
    outcome = _value(sample, "grade", "outcome")
    if outcome is None:
        raise ExportRefused(
            f"{name}: expected an outcome of what was delivered, got none. Mend: score the log"
            " with `inspect score LOG --scorer evals/grade`, or `evals regrade LOG`."
        )
    return "delivered", outcome


def _process(sample: EvalSample) -> tuple[float | None, tuple[str, ...]]:
    score = (sample.scores or {}).get("process")
    told = (score.metadata or {}).get("judges") if score else None
    return _value(sample, "process", "checklist"), tuple(sorted(told or {}))


def _value(sample: EvalSample, scorer: str, key: str) -> float | None:
    score = (sample.scores or {}).get(scorer)
    value = score.value.get(key) if score and isinstance(score.value, dict) else None
    if not isinstance(value, int | float) or math.isnan(value):
        return None
    return float(value)
