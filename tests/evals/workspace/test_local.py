from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspect_ai import eval
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox

from evals.biaa.task import biaa
from evals.workspace import local
from evals.workspace.place import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest


@solver
def look() -> Solver:
    """Note what the sample's folders hold and whether the prompt names them."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        workspace = state.store_as(Workspace)
        told = await sandbox().exec(["ls", "-l", workspace.input_dir, workspace.output_dir])
        state.store.set("listing", told.stdout)
        state.store.set("prompt", state.user_prompt.text)
        return state

    return solve


def run(edition: Path, folder: Path) -> Any:
    task = biaa(edition=str(edition), sandbox="local", solver=look(), submissions=str(folder))
    [log] = eval(task, model="none/none", log_dir=str(folder / "logs"), display="none")
    [sample] = log.samples or []
    assert sample.error is None
    return sample


def test_the_input_is_a_copy_without_the_right_to_write(
    cells: Callable[..., Path], tmp_path: Path
) -> None:
    sample = run(cells(), tmp_path)
    assert "-r--r--r--" in sample.store["listing"]
    assert Path(sample.store["Workspace:input_dir"]).name == "input"


def test_the_prompt_names_the_real_folders(cells: Callable[..., Path], tmp_path: Path) -> None:
    sample = run(cells(), tmp_path)
    prompt = sample.store["prompt"]
    assert sample.store["Workspace:input_dir"] in prompt
    assert sample.store["Workspace:output_dir"] in prompt
    assert " /workspace/" not in prompt


def test_the_folders_go_with_the_sample(cells: Callable[..., Path], tmp_path: Path) -> None:
    sample = run(cells(), tmp_path)
    assert not Path(sample.store["Workspace:output_dir"]).exists()


def test_it_says_once_that_it_does_not_isolate(caplog: pytest.LogCaptureFixture) -> None:
    local._warn_once.cache_clear()
    with caplog.at_level(logging.WARNING):
        local._warn_once()
        local._warn_once()
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == [
        "The sandbox `local` does not isolate"
    ]
