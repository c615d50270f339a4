"""The outcome scorer: the field's own metrics on the files that an agent left."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspect_ai.log import transcript
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.util import sandbox

from evals.edition import capsule_for
from evals.errors import GraderFailedError
from evals.scoring.explanation import compared, explanation
from evals.scoring.keep import Keep, Keeping, keep_submission
from evals.scoring.leak import places_of_canary
from evals.scoring.markdown import escaped
from evals.scoring.metrics import count, dim, level, mean, spread, stderr, tasks
from evals.scoring.record import Graded
from evals.scoring.run_grader import (
    GRADER_TIMEOUT,
    grade_in_child,
    grade_in_service,
    grader_service,
)
from evals.scoring.status import has_refused, limit_reached, run_cancelled, run_failed, status_of
from evals.telemetry.observe import observe
from evals.workspace.export import export
from evals.workspace.place import Workspace
from evals.workspace.settle import settle

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from inspect_ai.solver import TaskState

    from evals.scoring.verdict import Report

OVERLAY_SOURCE = "evals/overlay"


@scorer(
    metrics={
        "outcome": [mean(), stderr(), tasks(), dim(), level(), spread()],
        "passed": [mean(), stderr()],
        "strict": [mean(), stderr(), spread()],
        "refused": [count()],
    }
)
def grade(
    submissions: str = Keeping.submissions,
    keep: Keep = Keeping.keep,
    timeout: int = GRADER_TIMEOUT,
) -> Scorer:
    """Grade what the agent left with the task's own metric.

    In a run the agent's processes are ended first, then the grader runs once, away from the agent,
    and its verdict stays in the sample's store. Scoring the log again reads it from there. What is
    wrong with the submission is a score with a reason; what is wrong with us is an error.

    Args:
        submissions: Folder where submissions are kept.
        keep: What is kept of a submission.
        timeout: Seconds that the grader may take.

    Returns:
        Scorer whose value has the keys `outcome` (0 to 1), `passed` (0 or 1), `strict` (0 to 1,
        or NaN where it is not available) and `refused` (0 or 1). Where the provider refused and
        nothing was delivered the first three are NaN, which leaves them out of means.
    """
    keeping = Keeping(submissions, keep)

    async def score(state: TaskState, target: Target) -> Score:
        record = state.store_as(Graded)
        if record.grade is None and not has_sandbox():
            return _unscored(record)
        return verdict_score(await grade_once(state, keeping, timeout))

    return score


def keep_verdict(
    submissions: str = Keeping.submissions,
    keep: Keep = Keeping.keep,
    timeout: int = GRADER_TIMEOUT,
) -> Callable[[TaskState], Awaitable[None]]:
    """Return a task's `cleanup`: it grades and keeps what no scorer got to see.

    That is a crashed run, or one with scoring switched off; `inspect score` can score them later.

    Args:
        submissions: Folder where submissions are kept.
        keep: What is kept of a submission.
        timeout: Seconds that the grader may take.

    Returns:
        The function to give to `Task(cleanup=…)`.
    """
    keeping = Keeping(submissions, keep)

    async def cleanup(state: TaskState) -> None:
        record = state.store_as(Graded)
        prepared = bool(state.store_as(Workspace).kind)
        undecided = record.grade is None and record.problem is None
        # Who stops a run does not want to wait for graders.
        if prepared and undecided and not run_cancelled():
            await grade_once(state, keeping, timeout)

    return cleanup


async def grade_once(state: TaskState, keeping: Keeping, timeout: int) -> Graded:
    """Return the sample's verdict, from its store if it is there, else from the grader.

    Raises:
        GraderFailedError: The grader failed, now or when it was asked before.
    """
    record = state.store_as(Graded)
    if record.grade is not None:
        return record
    if record.problem is not None:
        raise GraderFailedError(record.problem)
    workspace = state.store_as(Workspace)
    await settle(workspace)
    record.limit, record.limit_reason = limit_reached(workspace) or (None, "")
    await observe(record, state, workspace)
    try:
        report = await _report(state, workspace, timeout)
    except GraderFailedError as error:
        record.problem = error.message
        # A mended grader can be run on it later.
        await keep_submission(record, workspace, state.uuid, keeping)
        raise
    grade = take_report(record, report)
    record.canary = places_of_canary(state, grade.get("canary") or [])
    record.status = status_of(
        grade,
        refused=has_refused(state.output, transcript().events),
        limit=record.limit,
        crashed=run_failed(),
        failed=bool(workspace.failure),
    )
    _show_overlays(report)
    await keep_submission(record, workspace, state.uuid, keeping)
    return record


def verdict_score(record: Graded) -> Score:
    """Return the score that a stored verdict stands for."""
    grade = record.grade or {}
    refused = record.status == "refused"
    return Score(
        # What is NaN is left out of means. The count of refused runs cannot be, so it is a value.
        value=dict.fromkeys(("outcome", "passed", "strict"), math.nan) | {"refused": 1.0}
        if refused
        else _values(grade) | {"refused": 0.0},
        answer=compared(grade),
        explanation=explanation(record),
        reason="refusal" if refused else None,
        metadata={
            **grade,
            "status": record.status,
            "limit": record.limit,
            "limit_reason": record.limit_reason,
            "canary": record.canary,
            "telemetry": record.telemetry,
            "audit": record.audit,
        },
    )


def _values(grade: dict[str, Any]) -> dict[str, float]:
    strict = grade["strict"]
    return {
        "outcome": round(float(grade["outcome"]), 4),
        "passed": 1.0 if grade["passed"] else 0.0,
        "strict": math.nan if strict is None else round(float(strict), 4),
    }


async def _report(state: TaskState, workspace: Workspace, timeout: int) -> Report:
    task_id = str(state.metadata["task_id"])
    service = grader_service()
    if service is not None:
        return await grade_in_service(service, task_id, timeout=timeout)
    capsule = capsule_for(state.metadata["data_hash"]).path
    if workspace.kind == "local":
        return await grade_in_child(capsule, Path(workspace.output_dir), task_id, timeout=timeout)
    with tempfile.TemporaryDirectory(prefix="evals-submission-") as scratch:
        folder = Path(scratch) / "submission"
        await export(workspace, folder, keep="all", cap_bytes=Keeping.cap_bytes)
        return await grade_in_child(capsule, folder, task_id, timeout=timeout)


def take_report(record: Graded, report: Report) -> dict[str, Any]:
    """Store a grader's report, all but its larger pictures, and return the stored grade."""
    thumbnail = report.thumbnail
    record.thumbnail = None if thumbnail is None else thumbnail.uri
    record.thumbnail_caption = "" if thumbnail is None else thumbnail.caption
    grade = report.without_pictures()
    record.grade = grade
    return grade


def _show_overlays(report: Report) -> None:
    """Put the larger pictures into the transcript, which stores them once."""
    for picture in report.overlays:
        caption = escaped(picture.caption or picture.name)
        transcript().info(f"{caption}\n\n![{caption}]({picture.uri})", source=OVERLAY_SOURCE)


def has_sandbox() -> bool:
    """Tell whether the sample at hand has a sandbox; one that is scored from its log has none."""
    try:
        sandbox()
    except ProcessLookupError:
        return False
    return True


def _unscored(record: Graded) -> Score:
    why = record.problem or "The log keeps no verdict on this sample: it was never graded."
    return Score.unscored(reason="grader_failed", explanation=escaped(why, 1000))
