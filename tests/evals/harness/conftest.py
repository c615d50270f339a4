"""A tiny capsule run through Inspect on this machine, and models that play a script."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import resolve_sample_attachments
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.util import SandboxEnvironmentSpec, sandbox, store_as

from evals.edition import open_edition
from evals.errors import SandboxError
from evals.workspace.compose import compose_for
from evals.workspace.images import ensure_images
from evals.workspace.place import Workspace
from evals.workspace.setup import prepare_workspace

if TYPE_CHECKING:
    from pathlib import Path

    from inspect_ai.log import EvalSample
    from inspect_ai.solver import Solver, TaskState

Turn = str | tuple[str, dict[str, Any]]


@dataclass
class Ran:
    """One sample that was run, and the text files it left."""

    sample: EvalSample
    files: dict[str, str]


class Run(Protocol):
    """Runs a solver on a capsule."""

    def __call__(self, capsule: Path, solver: Solver, model: str | Model = "none/none") -> Ran:
        """Return the sample that ran, and what it left."""
        ...


@scorer(metrics=[mean()])
def left_files() -> Scorer:
    """Keep what lies in the output folder as the score's metadata."""

    async def score(state: TaskState, target: Target) -> Score:
        workspace = store_as(Workspace)
        isolated = workspace.kind == "docker"
        place, folder = ("grader", "/submission") if isolated else (None, workspace.output_dir)
        python = "python3" if isolated else sys.executable
        told = await sandbox(place).exec([python, "-c", READ_FILES, folder])
        files = json.loads(told.stdout)
        return Score(value=len(files), metadata={"files": files})

    return score


READ_FILES = """
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
files = sorted(path for path in folder.rglob("*") if path.is_file())
read = {str(path.relative_to(folder)): path.read_bytes().decode("latin-1") for path in files}
print(json.dumps(read))
"""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Give a way to run a solver on a capsule with the sandbox `local`."""

    def go(capsule: Path, solver: Solver, model: str | Model = "none/none") -> Ran:
        return run_once(capsule, solver, model, "local", tmp_path / "logs")

    return go


@pytest.fixture
def run_on_docker(tmp_path: Path) -> Run:
    """Give a way to run a solver on a capsule in the images that ship."""
    try:
        images = ensure_images()
    except SandboxError as error:
        pytest.skip(f"no Docker engine to run on: {error.message}")

    def go(capsule: Path, solver: Solver, model: str | Model = "none/none") -> Ran:
        config = compose_for(capsule, images=images)
        spec = SandboxEnvironmentSpec("docker", config)
        return run_once(capsule, solver, model, spec, tmp_path / "logs")

    return go


def run_once(
    capsule: Path,
    solver: Solver,
    model: str | Model,
    place: str | SandboxEnvironmentSpec,
    logs: Path,
) -> Ran:
    [opened] = open_edition(str(capsule))
    sample = Sample(
        id=opened.task_id,
        input="Input: /workspace/input. Output: /workspace/output.",
        metadata={"data_hash": opened.data_hash},
    )
    task = Task(
        dataset=[sample],
        setup=prepare_workspace(),
        solver=solver,
        scorer=left_files(),
        fail_on_error=False,
        sandbox=place,
    )
    [log] = eval(task, model=model, display="none", log_dir=str(logs))
    assert log.status == "success", log.error
    [ran] = [resolve_sample_attachments(sample, "full") for sample in log.samples or []]
    scores = ran.scores or {}
    files = (scores["left_files"].metadata or {})["files"] if scores else {}
    return Ran(ran, files)


@pytest.fixture
def scripted() -> Any:
    """Give a way to make a model that plays turns: plain text, or a tool with its arguments."""

    def make(*turns: Turn) -> Model:
        outputs = []
        for turn in turns:
            if isinstance(turn, str):
                output = ModelOutput.from_content("mockllm/model", turn)
            else:
                output = ModelOutput.for_tool_call("mockllm/model", *turn)
            output.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
            outputs.append(output)
        return get_model("mockllm/model", custom_outputs=outputs)

    return make
