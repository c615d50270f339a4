"""Score submissions that exist already; nothing is run."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from inspect_ai.log import transcript
from inspect_ai.solver import Generate, Solver, TaskState, solver

from evals import options
from evals.harness.sandboxed import conclude, current_workspace

if TYPE_CHECKING:
    from evals.submissions.collection import Collection
    from evals.submissions.submission import Submission

_SHOWN = 10


@solver
def ready(path: str, agent: str | None = None) -> Solver:
    """Hand in submissions that lie on this machine, in the layout that BIABench exports.

    Calls no model and runs nothing: use it with `--model none/none`. A submission is matched to
    its sample by the task id, and the k-th run of a task to the k-th epoch. A sample without a
    submission, and one whose zip is refused, is graded as nothing handed in; the transcript says
    why. What a submission says of itself is kept there too, and trusted for nothing.

    Args:
        path: Folder or zip: one submission (`submission.json` beside `artifacts/`), many at any
            depth, zips of them, or folders `TASK_ID/files…`.
        agent: Which agent's submissions, where there are several: its name as the submissions give
            it, `agent` or `agent/model`, or a pattern.
    """
    from evals.submissions.collection import collect

    place = Path(options.text("path", path, "submissions/")).expanduser().resolve()
    collection = collect(place, agent)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        runs = collection.runs_of(str(state.sample_id))
        if len(runs) < state.epoch:
            report: dict[str, Any] = {"reason": _absence(collection, state, len(runs))}
        else:
            report = await _hand_in(runs[state.epoch - 1])
        transcript().info(report, source="evals/ready")
        return conclude(state, report["reason"])

    return solve


async def _hand_in(submission: Submission) -> dict[str, Any]:
    """Put a submission into the output as it is, and return what there is to say of it."""
    from evals.submissions.submission import metrics_in
    from evals.submissions.zips import SubmissionRefused

    report: dict[str, Any] = {
        "submission": submission.name,
        "claims": submission.manifest.model_dump(mode="json", exclude_none=True),
        "faults_of_claims": list(submission.faults),
    }
    with tempfile.TemporaryDirectory(prefix="evals-ready-") as name:
        folder = Path(name) / "submission"
        folder.mkdir()
        try:
            taken = await anyio.to_thread.run_sync(partial(submission.take, folder))
        except SubmissionRefused as fault:
            words = f"The submission {submission.name} is refused: {fault.message}."
            return {"reason": words, **report}
        await current_workspace().put_tree(folder)
        metrics = metrics_in(folder, (file.path for file in taken.kept))
    return {
        "reason": f"Handed in {submission.name}, files: {len(taken.kept)}.",
        **report,
        "run_metrics": metrics.model_dump(mode="json", exclude_none=True),
        "bytes": sum(file.size for file in taken.kept),
        "left_out": [f"{file.path}: {file.reason}" for file in taken.dropped[:_SHOWN]],
    }


def _absence(collection: Collection, state: TaskState, runs: int) -> str:
    """Return why there is nothing for a sample."""
    if runs:
        return (
            f"There is no submission for epoch {state.epoch} of {state.sample_id}: its runs are"
            f" {runs}."
        )
    tasks = collection.tasks()
    told = f"There is no submission for {state.sample_id}"
    if tasks:
        more = ", …" if len(tasks) > _SHOWN else ""
        told += f"; what there is, is for {', '.join(tasks[:_SHOWN])}{more}"
    refused = "".join(f" {name} is refused: {why}." for name, why in collection.refused[:_SHOWN])
    return f"{told}.{refused}"
