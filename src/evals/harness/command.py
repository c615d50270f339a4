"""Any program as a harness: a shell command in the sandbox, with the run's model at hand."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_ai.agent import AgentState
from inspect_ai.log import transcript
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox

from evals import options
from evals.errors import DataMissingError
from evals.harness.bridge import (
    EndpointDiedError,
    check_model_answered,
    check_sdks,
    model_endpoint,
)
from evals.harness.carry import carry_in, make_place
from evals.harness.program import Ended, run_program
from evals.harness.sandboxed import conclude, current_workspace
from evals.harness.shell_tools import own_python_first
from evals.names import unknown
from evals.telemetry.own_steps import own_step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evals.workspace.place import Workspace

EXAMPLE = "'my-agent --task {instruction_file} --in {input_dir} --out {output_dir}'"
PLACEHOLDERS = ("input_dir", "instruction", "instruction_file", "output_dir")
# A shell's own ${VARIABLE} is none.
_PLACEHOLDER = re.compile(r"(?<!\$)\{([A-Za-z_][A-Za-z0-9_]*)\}")


@solver
def command(
    template: str | list[str], files: str | None = None, timeout: int | None = None
) -> Solver:
    """Run a program of yours in the sandbox, with the run's model served to it there.

    The program needs no key: `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL` and `GOOGLE_GEMINI_BASE_URL`,
    each with its key, lead to the model that Inspect was given, and `EVALS_MODEL` is the name to
    ask for. It runs as the sandbox's user in a new folder that holds what `files` names. One that
    fails or runs out of time is told in the transcript and graded on what it left.

    Needs evals[harness]. On Docker, and locally on Linux; locally the endpoint is open to every
    program of this machine while the sample runs.

    Args:
        template: The command, run by bash. `{instruction_file}`, `{input_dir}`, `{output_dir}` and
            `{instruction}` (the text itself) stand for what they say, quoted for the shell.
        files: File or folder of this machine that is copied to where the command runs.
        timeout: Seconds that the command may take; by default the sample's own limits alone count.
    """
    template = _checked_template(template)
    carried = None if files is None else _existing(options.text("files", files, "my_agent.py"))
    if timeout is not None:
        options.whole_number("timeout", timeout, least=1)
    check_sdks("evals/command")

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        workspace = current_workspace()
        instruction = state.user_prompt.text
        place = await make_place("command")
        work = f"{place}/work"
        await _lay_out(place, work, instruction, carried)
        line = fill(
            template,
            {
                "input_dir": workspace.input_dir,
                "instruction": instruction,
                "instruction_file": f"{place}/instruction.md",
                "output_dir": workspace.output_dir,
            },
        )
        conversation = AgentState(messages=state.messages)
        try:
            ended = await _run(line, work, conversation, workspace, timeout)
        finally:
            # A limit that ends the work must not lose what was said.
            state.messages = conversation.messages
            if conversation.output.choices:
                state.output = conversation.output
        report = ended.report("The command")
        transcript().info(report, source="evals/command")
        ended.tell(workspace, report["words"])
        check_model_answered()
        return state if state.output.choices else conclude(state, report["words"])

    return solve


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return a template with its placeholders replaced, each value quoted for the shell."""
    return _PLACEHOLDER.sub(lambda found: shlex.quote(values[found[1]]), template)


def _checked_template(template: object) -> str:
    if isinstance(template, list):
        # Inspect parts the value of an option at its commas.
        template = ",".join(map(str, template))
    text = options.text("template", template, EXAMPLE)
    for name in _PLACEHOLDER.findall(text):
        if name not in PLACEHOLDERS:
            raise unknown("placeholder in template", name, PLACEHOLDERS)
    return text


def _existing(name: str) -> Path:
    path = Path(name).expanduser()
    if not path.exists():
        raise DataMissingError(
            f"Option files: there is no file or folder {str(path.absolute())!r}. Mend: name the"
            " script or the folder that the command needs, or leave the option out."
        )
    return path


async def _lay_out(place: str, work: str, instruction: str, carried: Path | None) -> None:
    await sandbox().write_file(f"{place}/instruction.md", instruction)
    async with own_step():
        await sandbox().exec(["mkdir", work], timeout=60)
    if carried is not None:
        await carry_in(carried, work)


async def _run(
    line: str, work: str, conversation: AgentState, workspace: Workspace, timeout: int | None
) -> Ended:
    """Run the command beside the endpoint, and return how it ended."""
    env = own_python_first() if workspace.kind == "local" else {}
    try:
        async with model_endpoint(conversation, workspace) as variables:
            return await run_program(
                ["bash", "-c", line], cwd=work, env=variables | env, timeout=timeout, waits=True
            )
    except EndpointDiedError as error:
        return Ended(None, stopped=f"was stopped, as {error.message}")
