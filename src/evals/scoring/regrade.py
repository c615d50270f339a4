"""Run changed graders on kept submissions, and write a log with their verdicts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from inspect_ai.log import (
    ProvenanceData,
    edit_score,
    read_eval_log,
    recompute_metrics,
    write_eval_log,
)
from inspect_ai.scorer import ScoreEdit
from inspect_ai.util import Store

from evals.data.recipe import Recipe
from evals.edition import capsule_for, open_edition, other_data
from evals.errors import DataMissingError, EvalsError
from evals.scoring.keep import verify
from evals.scoring.leak import TRANSCRIPT
from evals.scoring.outcome import take_report, verdict_score
from evals.scoring.record import Graded
from evals.scoring.run_grader import grade_in_child
from evals.scoring.status import has_refused, status_of

if TYPE_CHECKING:
    from pathlib import Path

    from inspect_ai.log import EvalLog, EvalSample

SCORER = "grade"


@dataclass(frozen=True)
class Regraded:
    """One sample's outcome before and after; `note` says why there is no new one."""

    sample: str
    epoch: int
    before: float | None
    after: float | None
    note: str | None = None


async def regrade(
    log_file: Path, submissions: Path, output: Path, *, edition: str | None = None
) -> list[Regraded]:
    """Grade a log's kept submissions again and write a new log.

    Args:
        log_file: The log of a run that kept its submissions.
        submissions: The folder where they are kept.
        output: The log to write. Samples that could not be graded again stay as they were.
        edition: Where the capsules are now, if not where the run had them from.

    Raises:
        DataMissingError: The log or the folder is missing, or the new log exists already.
    """
    _check_places(log_file, submissions, output)
    log = read_eval_log(str(log_file))
    _register_capsules(log, edition)
    told = [await _regrade_sample(log, sample, submissions) for sample in log.samples or []]
    recompute_metrics(log)
    output.parent.mkdir(parents=True, exist_ok=True)
    write_eval_log(log, str(output))
    return told


def _check_places(log_file: Path, submissions: Path, output: Path) -> None:
    if not log_file.is_file():
        raise DataMissingError(f"There is no log {log_file}.")
    if not submissions.is_dir():
        raise DataMissingError(
            f"There is no folder {submissions} of kept submissions. Give with --submissions the "
            "folder that the run had as -T submissions=… (logs/submissions unless told otherwise)."
        )
    if output.exists():
        raise DataMissingError(f"{output} exists already. Give another name with --output.")


def _register_capsules(log: EvalLog, edition: str | None) -> None:
    """Open the run's edition, so that capsules are found by the hash of their data."""
    told = log.eval.task_args
    names = ("seed", "difficulty", "scale", "dims", "biology")
    settings: dict[str, Any] = {name: told[name] for name in names if told.get(name) is not None}
    replicas = int(told.get("replicas") or 1)
    tasks = sorted({str(sample.metadata["task_id"]) for sample in log.samples or []})
    open_edition(
        edition or str(told.get("edition", "synthetic")),
        tasks=tasks,
        recipe=Recipe(**settings),
        replicas=replicas,
    )


async def _regrade_sample(log: EvalLog, sample: EvalSample, submissions: Path) -> Regraded:
    store = Store(sample.store)
    record = Graded(store=store)
    before = _outcome(sample)
    name = str(sample.id)
    if not record.kept:
        note = record.kept_note or "no submission was kept"
        return Regraded(name, sample.epoch, before, None, note)
    folder = submissions / record.kept
    try:
        verify(folder, record.kept_files)
        _check_data(log, sample)
        capsule = capsule_for(sample.metadata["data_hash"])
        report = await grade_in_child(capsule.path, folder, capsule.task_id)
    except EvalsError as error:
        return Regraded(name, sample.epoch, before, None, error.message)
    _mend(sample, record)
    grade = take_report(record, report)
    said = [place for place in record.canary if place == TRANSCRIPT]
    record.canary = said + (grade.get("canary") or [])
    record.status = status_of(
        grade,
        refused=has_refused(sample.output, sample.events),
        limit=record.limit,
        crashed=sample.error is not None,
    )
    _replace_score(log, sample, record)
    sample.store = {**sample.store, **dict(store.items())}
    return Regraded(name, sample.epoch, before, _outcome(sample))


def _check_data(log: EvalLog, sample: EvalSample) -> None:
    """Raise if the data that are here are of another revision than the log's."""
    told = sample.metadata["data_hash"]
    here = other_data(str(sample.metadata["task_id"]), told)
    if here is None:
        return
    data = (log.eval.metadata or {}).get("data") or {}
    commit = f" (commit {data['commit']})" if data.get("commit") else ""
    raise DataMissingError(
        f"{here.path}: expected the data that the log was made with, of the edition "
        f"{sample.metadata['edition']!r}{commit} with the data hash {told}, got others "
        f"with the hash {here.data_hash}. Mend: give with --edition the revision of the log's "
        "data, or run the task again on these."
    )


def _mend(sample: EvalSample, record: Graded) -> None:
    """Lift the error of a sample that failed only because its grader did."""
    if record.problem is not None:
        sample.error = None
        record.problem = None


def _replace_score(log: EvalLog, sample: EvalSample, record: Graded) -> None:
    score = verdict_score(record)
    edit = ScoreEdit(
        value=score.value,
        answer=score.answer or "",
        explanation=score.explanation or "",
        reason=score.reason,
        metadata=score.metadata or {},
        provenance=ProvenanceData(
            author="evals regrade", reason=f"graders of evals {version('evals')}"
        ),
    )
    edit_score(log, sample.id, SCORER, edit, recompute_metrics=False, epoch=sample.epoch)


def _outcome(sample: EvalSample) -> float | None:
    score = (sample.scores or {}).get(SCORER)
    if score is None or not isinstance(score.value, dict):
        return None
    value = score.value.get("outcome")
    number = float(value) if isinstance(value, int | float) else math.nan
    return None if math.isnan(number) else number
