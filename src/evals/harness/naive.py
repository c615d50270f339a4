"""The floor: what is earned without looking at the data."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import anyio.to_thread
from inspect_ai.solver import Generate, Solver, TaskState, solver

from evals.errors import UnknownNameError
from evals.harness.floor import KINDS, leave
from evals.harness.sandboxed import capsule_of, conclude, current_workspace


@solver
def naive(kind: str = "empty") -> Solver:
    """Hand in something that took no look at the data: what a score is worth at least.

    Calls no model: run it with `--model none/none`.

    Args:
        kind: `empty` leaves an empty folder; `bluff` a fluent report, a log and a tiny picture,
            but no deliverables; `blank` deliverables of the right shape that hold nothing; `prior`
            what the literature leads one to expect, without a look at any pixel (where there is
            nothing to expect, as `blank`).
    """
    if kind not in KINDS:
        raise UnknownNameError(
            f"evals/naive: unknown kind {kind!r}; expected one of {', '.join(KINDS)}, for example"
            " -S kind=blank"
        )

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        capsule = capsule_of(state)
        with tempfile.TemporaryDirectory(prefix="evals-naive-") as name:
            folder = Path(name)
            await anyio.to_thread.run_sync(partial(leave, kind, capsule, folder))
            if kind != "empty":
                await current_workspace().put_tree(folder)
        return conclude(state, KINDS[kind])

    return solve
