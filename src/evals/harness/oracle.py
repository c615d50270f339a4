"""The ceiling: the reference itself, laid out as a submission."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import anyio.to_thread
from inspect_ai.solver import Generate, Solver, TaskState, solver

from evals.capsule import job_for
from evals.errors import DataMissingError
from evals.harness.sandboxed import capsule_of, conclude, current_workspace, family_of


@solver
def oracle() -> Solver:
    """Hand in the reference as deliverables: what a perfect submission scores.

    Calls no model: run it with `--model none/none`. What it leaves is made from the reference, so
    its kept submissions are not for sharing.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        capsule = capsule_of(state)
        if capsule.evaluation_dir is None:
            raise DataMissingError(
                f"{capsule.task_id}: the oracle hands in the reference, but this capsule has no"
                " evaluation/ folder. Leave the task out, or run another solver."
            )
        with tempfile.TemporaryDirectory(prefix="evals-oracle-") as name:
            folder = Path(name)
            perfect = partial(family_of(capsule).perfect, job_for(capsule, folder), folder)
            await anyio.to_thread.run_sync(perfect)
            count = sum(path.is_file() for path in folder.rglob("*"))
            await current_workspace().put_tree(folder)
        return conclude(state, f"Handed in the reference, files: {count}.")

    return solve
