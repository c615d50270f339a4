"""The middle: the classical pipeline that comes with a capsule, run where an agent works."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspect_ai.log import transcript
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox

from evals.errors import CapsuleInvalidError, DataMissingError, SandboxError
from evals.harness.sandboxed import capsule_of, conclude, current_workspace, python_of

if TYPE_CHECKING:
    from pathlib import Path

    from evals.capsule import Capsule
    from evals.workspace.place import Workspace

PROGRAM = "solve.py"
MOST_BYTES = 20 << 20  # of a solution: it is code, not data
TAIL = 4000  # characters kept of what it prints

# Beside the input and output where the working directory allows it, so that it goes with them.
MAKE_PLACE = 'mktemp -d "$PWD/solution.XXXXXX" 2>/dev/null || mktemp -d'


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
        place = await _carry_in(solution)
        report = await _run(workspace, place, timeout)
        transcript().info(report, source="evals/baseline")
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


async def _carry_in(solution: Path) -> str:
    """Copy a solution to a new folder in the sandbox and return that folder."""
    files = [path for path in sorted(solution.rglob("*")) if path.is_file()]
    files = [path for path in files if "__pycache__" not in path.parts]
    size = sum(path.stat().st_size for path in files)
    if size > MOST_BYTES:
        raise CapsuleInvalidError(
            f"{solution}: holds {size / 1e6:.0f} MB, at most {MOST_BYTES / 1e6:.0f} MB are copied."
            " Keep code there, and data elsewhere."
        )
    made = await sandbox().exec(["sh", "-c", MAKE_PLACE], timeout=60)
    place = made.stdout.strip()
    if not made.success or not place:
        raise SandboxError(f"no folder for the solution could be made: {made.stderr.strip()}")
    for path in files:
        inside = path.relative_to(solution).as_posix()
        await sandbox().write_file(f"{place}/{inside}", path.read_bytes())
    return place


async def _run(workspace: Workspace, place: str, timeout: int) -> dict[str, Any]:
    """Run the solution and report how it ended."""
    command = [python_of(workspace), PROGRAM, workspace.input_dir, workspace.output_dir]
    try:
        result = await sandbox().exec(command, cwd=place, timeout=timeout, timeout_retry=False)
    except TimeoutError:
        words = f"The solution did not end within {timeout} s; what it left is graded."
        return {"words": words, "exit_code": None, "timed_out": True}
    if result.success:
        words = "The capsule's solution ran to its end."
    else:
        lines = (result.stderr or result.stdout).strip().splitlines() or ["no output"]
        words = (
            f"The solution failed with exit code {result.returncode}: {lines[-1][:300]}\n"
            "What it left is graded."
        )
    return {
        "words": words,
        "exit_code": result.returncode,
        "timed_out": False,
        "stdout": result.stdout[-TAIL:],
        "stderr": result.stderr[-TAIL:],
    }
