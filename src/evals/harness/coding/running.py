"""Running a coding agent on a sample: what must be there before it, and how it ends."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from inspect_ai.agent import as_solver
from inspect_ai.log import transcript

from evals.errors import DataMissingError, SandboxError
from evals.harness.bridge import check_model_answered, check_sdks
from evals.harness.program import TAIL
from evals.harness.sandboxed import conclude, current_workspace

if TYPE_CHECKING:
    from inspect_ai.agent import Agent
    from inspect_ai.solver import Generate, TaskState

# How the agents of inspect_swe, and the bridge, say that a program of the sandbox has ended badly.
_ENDED_BADLY = ("Error executing ", "Model proxy process exited")
_SHOWN = 300  # characters of what it said that are shown at once


def check_extra(name: str) -> None:
    """Check that what a coding agent needs on this side is installed.

    Raises:
        DataMissingError: Something is missing.
    """
    if find_spec("inspect_swe") is None:
        raise DataMissingError(
            f"evals/{name} runs the agent of inspect_swe, which is not installed. Mend: install "
            "evals[harness], in a checkout by `pip install -e '.[harness]'`."
        )
    check_sdks(f"evals/{name}")


def check_container(name: str) -> None:
    """Check that the running sample has a sandbox that isolates.

    Raises:
        SandboxError: It has none.
    """
    if current_workspace().kind == "local":
        raise SandboxError(
            f"evals/{name} needs the sandbox `docker`, got `local`: there its program would run as "
            "you, with your files, your settings of it and your network, and with leave to do "
            "whatever a model says. Mend: run it with `-T sandbox=docker` (the default), or take "
            "evals/react for a first look."
        )


async def work(name: str, agent: Agent, state: TaskState, generate: Generate) -> TaskState:
    """Let a coding agent work, and have graded what it left if its program fails.

    Args:
        name: Name of the harness.
        agent: The agent.
        state: State of the sample.
        generate: Passed on.

    Raises:
        ModelFailedError: No call of the model succeeded, whatever the program made of that.
        RuntimeError: The program failed before the model answered it.
    """
    try:
        state = await as_solver(agent)(state, generate)
    except RuntimeError as error:
        words = str(error)
        if not words.startswith(_ENDED_BADLY):
            raise
        check_model_answered()
        # Some agents hold back the events of their calls, but not the answers.
        if not any(message.role == "assistant" for message in state.messages):
            raise
        transcript().info({"words": words[-TAIL:]}, source=f"evals/{name}")
        told = f"The agent's program failed; what it left is graded. It said: {words[:_SHOWN]}"
        current_workspace().failure = told
        return conclude(state, told)
    # Some programs end well though none of their calls came through.
    check_model_answered()
    return state
