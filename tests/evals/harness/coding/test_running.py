from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from inspect_ai.agent import Agent, AgentState, agent
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from evals.harness.coding.running import work

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@agent
def undeterred() -> Agent:
    """Ask the model once, and end well whatever comes of it."""

    async def execute(state: AgentState) -> AgentState:
        try:
            state.output = await get_model().generate(state.messages)
        except PermissionError:
            state.output = ModelOutput.from_content("mockllm/model", "API Error")
        state.messages.append(state.output.message)
        return state

    return execute


@solver
def working() -> Solver:
    """Let that agent work as one of the coding agents does."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return await work("undeterred", undeterred(), state, generate)

    return solve


@pytest.fixture
def capsule(make_capsule: Callable[..., Path], tmp_path: Path) -> Path:
    return make_capsule(tmp_path)


def test_a_program_that_ends_well_without_a_model_is_an_error_and_no_zero(
    capsule: Path, run: Any
) -> None:
    def unreachable(*_: Any) -> ModelOutput:
        raise PermissionError("the key is wrong")

    ran = run(capsule, working(), get_model("mockllm/model", custom_outputs=unreachable))
    assert ran.sample.error is not None
    assert "None of 1 calls of the model succeeded" in ran.sample.error.message


def test_a_program_that_a_model_answered_is_graded(capsule: Path, run: Any, scripted: Any) -> None:
    ran = run(capsule, working(), scripted("done"))
    assert ran.sample.error is None
    assert ran.sample.output.completion == "done"
