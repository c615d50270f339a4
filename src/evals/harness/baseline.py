"""The middle: the classical pipeline that comes with a capsule, run where an agent works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspect_ai.log import transcript
from inspect_ai.solver import Generate, Solver, TaskState, solver

from evals.errors import DataMissingError
from evals.harness.carry import carry_in, make_place
from evals.harness.program import run_program
from evals.harness.sandboxed import capsule_of, conclude, current_workspace, python_of

if TYPE_CHECKING:
    from pathlib import Path

    from evals.capsule import Capsule

PROGRAM = "solve.py"


@solver
def baseline(timeout: int = 1800) -> Solver:
    """Run the capsule's solution, `python solve.py INPUT OUTPUT`, inside the sandbox.

    Calls no model: run it with `--model none/none`. A solution that fails or runs out of time is
    told in the transcript and graded on what it left.

    Args:
        timeout: Seconds that the solution may take.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        capsule = capsule_of(state)
        solution = solution_of(capsule)
        workspace = current_workspace()
        place = await make_place("solution")
        await carry_in(solution, place)
        command = [python_of(workspace), PROGRAM, workspace.input_dir, workspace.output_dir]
        ended = await run_program(command, cwd=place, timeout=timeout)
        report = ended.report("The capsule's solution")
        transcript().info(report, source="evals/baseline")
        ended.tell(workspace, report["words"])
        return conclude(state, report["words"])

    return solve


def solution_of(capsule: Capsule) -> Path:
    """Return the folder of a capsule's solution.

    Raises:
        DataMissingError: The capsule has no solution.
    """
    folder = capsule.solution_dir
    if folder is None or not (folder / PROGRAM).is_file():
        raise DataMissingError(
            f"{capsule.task_id}: the baseline runs the capsule's own solution, but there is no"
            f" solution/{PROGRAM} in it. Add one that is called with the input and the output"
            " folder, or run another solver."
        )
    return folder
