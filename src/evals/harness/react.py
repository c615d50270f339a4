"""The default agent for a real model: Inspect's react loop with a shell, Python and eyes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from inspect_ai.agent import AgentPrompt, AgentState, AgentSubmit, as_solver
from inspect_ai.agent import react as react_loop
from inspect_ai.model import ChatMessageAssistant, CompactionAuto
from inspect_ai.solver import Generate, Solver, TaskState, solver

from evals.errors import UnknownNameError
from evals.harness.check_tool import can_check, check_deliverables
from evals.harness.sandboxed import capsule_of, current_workspace
from evals.harness.shell_tools import shell_tools
from evals.harness.view_tool import view_image

if TYPE_CHECKING:
    from inspect_ai.tool import Tool

LongContext = Literal["trim", "compact", "stop"]

INSTRUCTIONS = """\
You are a scientist who analyses biomedical data on a computer, alone: nobody answers questions.

Look at the data before choosing a method. Check what you produce against the data, by numbers and
by eye, before you hand it in. Only files in the output folder count, under the names that were
asked for. No network is to be expected: work with the software that is installed.\
"""

SEES_IMAGES = "`view_image` shows you a picture of an image, a volume or a label image."

HANDING_IN = """\
When all files are in place, call `{submit}` with a short summary of method, results and doubts.
That ends the work: there is no second try.\
"""

GO_ON = "No tool was called. Go on with the task, or call `{submit}` if all files are in place."
IDLE_TURNS = 5  # turns in a row without a tool call, after which the work has ended


@solver
def react(
    tool_timeout: int = 600,
    view: bool = True,
    view_timeout: int = 120,
    check: bool = True,
    long_context: LongContext = "trim",
    refusal_retries: int = 0,
) -> Solver:
    """Let a model work on its own with `bash`, `python` and `view_image` until it submits.

    Args:
        tool_timeout: Seconds that one call of `bash` or `python` may take.
        view: Whether the model gets `view_image`; turn it off for models that see no pictures.
        view_timeout: Seconds that one call of `view_image` may take.
        check: Whether the model gets `check_deliverables`, which tells which of its files are
            found and why others are not, and no score.
        long_context: What happens when the conversation outgrows the model's context: `trim`
            drops the oldest turns, `compact` has them summarised, `stop` ends the work.
        refusal_retries: How often a refusal of the model is tried again.
    """
    if long_context not in get_args(LongContext):
        raise UnknownNameError(
            f"evals/react: unknown long_context {long_context!r}; expected one of"
            f" {', '.join(get_args(LongContext))}"
        )
    overflow: dict[str, dict[str, Any]] = {
        "trim": {"truncation": "auto"},
        "compact": {"compaction": CompactionAuto()},
        "stop": {"truncation": "disabled"},
    }

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        tools: list[Tool] = shell_tools(current_workspace().kind, tool_timeout)
        if view:
            tools.append(view_image(view_timeout))
        if check and can_check(state):
            tools.append(check_deliverables(capsule_of(state).data_hash))
        worker = react_loop(
            prompt=AgentPrompt(
                instructions=f"{INSTRUCTIONS}\n\n{SEES_IMAGES}" if view else INSTRUCTIONS,
                assistant_prompt=None,
                submit_prompt=HANDING_IN,
            ),
            tools=tools,
            submit=AgentSubmit(description="Hand in the work and end it."),
            on_continue=unless_idle,
            retry_refusals=refusal_retries or None,
            **overflow[long_context],
        )
        return await as_solver(worker)(state, generate)

    return solve


async def unless_idle(state: AgentState) -> bool | str:
    """Remind a model that called no tool, and let it go after some turns of that."""
    idle = 0
    for message in reversed(state.messages):
        if isinstance(message, ChatMessageAssistant):
            if message.tool_calls:
                break
            idle += 1
    if idle >= IDLE_TURNS:
        return False
    return GO_ON if idle else True
