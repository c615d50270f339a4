"""The least of all agents, BioXArena's: generate a program, run it, have it repaired."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from inspect_ai.log import transcript
from inspect_ai.model import ChatMessageUser, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from evals import options
from evals.harness.program import Ended, run_program
from evals.harness.sandboxed import capsule_of, current_workspace, python_of
from evals.telemetry.own_steps import own_step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evals.capsule import Capsule
    from evals.workspace.place import Workspace

PROGRAM = "solution.py"
ATTEMPTS = 3
TIMEOUT_S = 7200
SHOWN = 3000

HOW_TO_ANSWER = f"""\
## How to answer

Answer with one complete Python program in a single fenced block and nothing else. It is saved as
`{PROGRAM}` in the output directory and run there by `python {PROGRAM}`, without arguments. You see
nothing of the data but what a failing program of yours prints; one that ends without an error and
leaves the files to hand in is the last."""

ON_TIMEOUT = """\
- Do less: fewer steps, smaller models, a coarser search.
- Save files that can be handed in early, and improve them later.
- Use all processors, and never compute the same thing twice."""

_FENCED = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)^[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)
_LOOKS_LIKE_CODE = ("def ", "import ", "from ")
# What an earlier program left under this name, a folder or a link say, gives way.
_SAVE = f'cd -- "$1" && rm -rf -- {PROGRAM} && cat > {PROGRAM}'
_RUN = f'cd -- "$1" && exec "$2" {PROGRAM}'
_LIST = 'cd -- "$1" && find . -type f ! -size 0 -printf "%P\\n" | head -n 20000'


@dataclass(frozen=True)
class Attempt:
    """One program and what became of it.

    Attributes:
        error: What is wrong, for the model; empty if nothing is.
        ended: How the program ended, or None where there was none to run.
        missing: Patterns of required deliverables that no file fits.
    """

    error: str
    ended: Ended | None = None
    missing: tuple[str, ...] = ()

    def report(self, number: int) -> dict[str, Any]:
        """Return what goes into the log."""
        ran = {} if self.ended is None else self.ended.report("The program")
        return {"attempt": number, **ran, "error": self.error, "missing": list(self.missing)}


@solver
def minimal(attempts: int = ATTEMPTS, timeout: int = TIMEOUT_S, shown: int = SHOWN) -> Solver:
    """Ask a model for a program, run it, and ask for repairs until it works: no tools, no looks.

    One user message and no system message, as in BioXArena's minimal agent; its published runs
    have the temperature 0, here `--temperature 0`. A program has worked when it ends with code 0
    and every required deliverable has a file. An answer without a program uses up an attempt. The
    output is not cleared between attempts. A model that cannot be reached is an error, not an
    attempt.

    Args:
        attempts: Programs in total: the first and its repairs.
        timeout: Seconds that one program may take; the sample's own limit counts as well.
        shown: Characters of a program's complaints that the model is shown, from their beginning.
    """
    options.whole_number("attempts", attempts, least=1)
    options.whole_number("timeout", timeout, least=1)
    options.whole_number("shown", shown, least=1)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        capsule, workspace = capsule_of(state), current_workspace()
        state.user_prompt.text += f"\n\n---\n\n{HOW_TO_ANSWER}"
        for number in range(1, attempts + 1):
            state.output = await get_model().generate(state.messages)
            state.messages.append(state.output.message)
            attempt = await _attempt(state.output.completion, capsule, workspace, timeout)
            transcript().info(attempt.report(number), source="evals/minimal")
            if not attempt.error:
                break
            if number < attempts:
                request = repair_request(capsule.task_id, attempt, shown)
                state.messages.append(ChatMessageUser(content=request))
        state.completed = True
        return state

    return solve


def program_in(answer: str) -> str | None:
    """Return the program of an answer: its last fenced block, else all of it if it is like one."""
    blocks = _FENCED.findall(answer)
    if blocks:
        return str(blocks[-1])
    return answer if any(word in answer for word in _LOOKS_LIKE_CODE) else None


def missing_deliverables(capsule: Capsule, files: Sequence[str]) -> tuple[str, ...]:
    """Return the patterns of required deliverables that none of these files fits."""
    paths = [path.lower() for path in files if path != PROGRAM]
    names = [path.rpartition("/")[2] for path in paths]
    return tuple(
        deliverable.filename_pattern
        for deliverable in capsule.spec.deliverables
        if deliverable.required
        and not any(
            fnmatchcase(name, deliverable.filename_pattern.lower()) for name in [*names, *paths]
        )
    )


def repair_request(task_id: str, attempt: Attempt, shown: int) -> str:
    """Return the message that asks for a full replacement of a program."""
    ended = attempt.ended
    parts = [
        f"The program for {task_id} did not work. Answer with a complete replacement in a single"
        " fenced block and nothing else.",
        f"Missing files: {', '.join(attempt.missing)}" if attempt.missing else "",
        f"Error: {attempt.error}"[:shown],
    ]
    if ended is not None and ended.complaints.strip():
        parts.append(f"Standard error:\n{ended.complaints[:shown]}")
    if ended is not None and ended.timed_out:
        parts.append(f"To stay within the time:\n{ON_TIMEOUT}")
    return "\n\n".join(part for part in parts if part)


async def _attempt(answer: str, capsule: Capsule, workspace: Workspace, timeout: int) -> Attempt:
    """Run the program of an answer and look at what it left."""
    program = program_in(answer)
    if program is None:
        return Attempt("the answer holds no program, neither in a fenced block nor as a whole")
    output = workspace.output_dir
    async with own_step():
        saved = await run_program(["sh", "-c", _SAVE, "sh", output], input=program, timeout=60)
    if not saved.success:
        return Attempt(f"the program could not be saved: {saved.stderr.strip()}", saved)
    command = ["sh", "-c", _RUN, "sh", output, python_of(workspace)]
    ended = await run_program(command, timeout=timeout)
    async with own_step():
        listed = await run_program(["sh", "-c", _LIST, "sh", output], timeout=60)
    missing = missing_deliverables(capsule, listed.stdout.splitlines())
    if ended.stopped:
        return Attempt(f"the program {ended.stopped}", ended, missing)
    if not ended.success:
        return Attempt(f"the program ended with exit code {ended.exit_code}", ended, missing)
    return Attempt("files to hand in are missing" if missing else "", ended, missing)
