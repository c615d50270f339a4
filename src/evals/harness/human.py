"""A person at work: the same instruction and the same workspace, through a terminal."""

from __future__ import annotations

from inspect_ai.agent import as_solver, human_cli
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox

from evals import options
from evals.errors import SandboxError
from evals.harness.sandboxed import current_workspace

HANDING_IN = (
    "What lies in /workspace/output when you submit is graded; the command needs no answer."
)
# The terminal is a login shell, and the home folder is new in each sandbox.
_GREET = """\
[ -e ~/.bash_profile ] || echo '[ ! -f ~/.bashrc ] || . ~/.bashrc' > ~/.bash_profile
"""


@solver
def human(record: bool = False) -> Solver:
    """Let a person work in the sandbox with Inspect's human agent, and grade what is left.

    Needs Docker, and a person with a terminal on this machine: Inspect shows a `docker exec`
    command, which opens a shell in the sandbox and tells the instruction. There, `task submit`
    ends the work and `task quit` gives up; either way what lies in the output is graded. One
    sample after the other. Calls no model: run it with `--model none/none`. The time limit of the
    task runs on from the start of the sample; `-T time_limit=null` takes it off.

    Args:
        record: Whether what is typed and shown in the terminal goes into the log.
    """
    worker = as_solver(
        human_cli(
            answer=False,
            record_session=bool(options.flag("record", record)),
            instructions=HANDING_IN,
        )
    )

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if current_workspace().kind != "docker":
            raise SandboxError(
                "evals/human opens a terminal in a container, which the sandbox `local` does not"
                " have. Mend: use Docker, -T sandbox=docker."
            )
        greeted = await sandbox().exec(["sh", "-c", _GREET], timeout=60)
        if not greeted.success:
            raise SandboxError(
                f"the home folder of the sandbox's user cannot be written:"
                f" {greeted.stderr.strip()}. A sandbox of your own needs one that can."
            )
        return await worker(state, generate)

    return solve
