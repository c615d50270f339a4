"""Runs that read the private part are flagged by its canary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from inspect_ai import eval
from inspect_ai.model import ChatMessageAssistant
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox

from evals.biaa.task import biaa
from evals.harness.sandboxed import capsule_of, current_workspace
from scorers.canary import canaries_of

if TYPE_CHECKING:
    from pathlib import Path

    from inspect_ai.scorer import Score

COUNTING = "fluo-cell-counting-2d-cellfmcount"


@solver
def peeping(place: str) -> Solver:
    """Tell the canary in a message, or leave it in a file, or do neither."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        own = canaries_of(capsule_of(state).path)[1]
        folder = current_workspace().output_dir
        await sandbox().write_file(f"{folder}/0.csv", "X,Y\n1,1\n")
        if place == "file":
            await sandbox().write_file(f"{folder}/notes/read.txt", f"found {own}")
        elif place == "message":
            state.messages.append(ChatMessageAssistant(content=f"It says {own}."))
        elif place == "command":
            await sandbox().exec(["echo", own])
        return state

    return solve


def score_of(place: str, folder: Path) -> Score:
    task = biaa(
        tasks=COUNTING, sandbox="local", solver=peeping(place), submissions=str(folder / "kept")
    )
    [log] = eval(task, model="none/none", log_dir=str(folder), display="none")
    assert log.samples is not None
    [score] = (log.samples[0].scores or {}).values()
    return score


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("file", ["the transcript", "notes/read.txt"]),
        ("message", ["the transcript"]),
        ("command", ["the transcript"]),
        ("nowhere", []),
    ],
)
def test_a_canary_is_found_where_it_turns_up(place: str, told: list[str], tmp_path: Path) -> None:
    score = score_of(place, tmp_path)
    assert (score.metadata or {})["canary"] == told
    assert ("The private part was read" in (score.explanation or "")) == bool(told)
