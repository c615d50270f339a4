"""A capsule that grades in no time, an engine or a skip, and runs of scripted agents."""

from __future__ import annotations

import itertools
import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from inspect_ai import eval
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model

from evals.biaa.task import biaa
from evals.errors import SandboxError
from evals.workspace import docker
from evals.workspace.images import Images, ensure_images

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.solver import Solver

SECRET = "17.25,93.75"
CELLS = [SECRET, "40,40", "60,20", "80,80"]
SPEC: dict[str, Any] = {
    "input": {
        "imaging_modality": "fluorescence",
        "spatial_dimensions": "2D",
        "temporal_dimension": "static",
    },
    "task_logic": {
        "basic_instructions": "Find the cells of each image.",
        "expert_instructions": "Act as an analyst. Find the cells of each image.",
        "primary_task": "spot-detection",
    },
    "deliverables": [
        {
            "id": "centroids_per_image",
            "description": "One CSV file of cell centres for each image.",
            "filename_pattern": "*.csv",
        }
    ],
}
RUBRIC: dict[str, Any] = {
    "grader": "counting",
    "metric_config": {"distance_threshold_px": 10},
    "checklist_filter": {"note": "the rubric's own words"},
}


@pytest.fixture(autouse=True)
def needs_engine(request: pytest.FixtureRequest) -> None:
    """Skip tests marked `docker` where no engine answers."""
    if request.node.get_closest_marker("docker") is not None:
        try:
            docker.engine()
        except SandboxError as error:
            pytest.skip(f"no Docker engine: {error.message}")


@pytest.fixture
def images(needs_engine: None) -> Images:
    """Give the images that ship, built if need be."""
    return ensure_images()


@pytest.fixture
def cells(tmp_path: Path) -> Callable[..., Path]:
    """Give the writer of editions: capsules with one image and four cells to be counted."""

    def make(*names: str) -> Path:
        edition = tmp_path / "edition"
        for name in names or ("cells",):
            write_capsule(edition / name)
        return edition

    return make


def write_capsule(folder: Path) -> None:
    """Write a capsule whose reference only its owner can read."""
    (folder / "input").mkdir(parents=True)
    (folder / "input" / "a.txt").write_text("an image", encoding="utf-8")
    # Rights of the host alone would let anyone write here.
    (folder / "input" / "a.txt").chmod(0o666)
    (folder / "input").chmod(0o777)
    (folder / "evaluation").mkdir()
    reference = folder / "evaluation" / "a.csv"
    reference.write_text("\n".join(["X,Y", *CELLS, ""]), encoding="utf-8")
    reference.chmod(0o600)
    (folder / "evaluation").chmod(0o700)
    if os.geteuid() == 0:
        # As for root's own files nobody needs a right to read them, give them to someone else.
        os.chown(reference, 12345, 12345)
        os.chown(folder / "evaluation", 12345, 12345)
    spec = yaml.safe_dump({"task_id": folder.name, **SPEC})
    (folder / "task_spec.yaml").write_text(spec, encoding="utf-8")
    (folder / "evaluation_rubric.yaml").write_text(yaml.safe_dump(RUBRIC), encoding="utf-8")


def scripted(*turns: tuple[str, dict[str, Any]], forever: bool = False) -> Model:
    """Return a model that plays tool calls, and begins again at the end if `forever`."""
    played = itertools.cycle(turns) if forever else iter(turns)

    def outputs() -> Iterator[ModelOutput]:
        for tool, arguments in played:
            output = ModelOutput.for_tool_call("mockllm/model", tool, arguments)
            # Without it the tokens are counted with a file from the network.
            output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
            yield output

    return get_model("mockllm/model", custom_outputs=outputs())


@dataclass(frozen=True)
class Bench:
    """Runs `evals/biaa` on Docker with scripted agents and tells what came of it."""

    folder: Path

    def shell(
        self, edition: Path, *commands: str, forever: bool = False, **settings: Any
    ) -> EvalSample:
        """Run an agent that gives these commands to its shell, then submits."""
        turns = [("bash", {"command": command}) for command in commands]
        if not forever:
            turns.append(("submit", {"answer": "done"}))
        [sample] = self.run(edition, scripted(*turns, forever=forever), **settings).samples or []
        return sample

    def run(
        self,
        edition: Path,
        model: Model | str = "none/none",
        *,
        solver: Solver | None = None,
        options: dict[str, Any] | None = None,
        process_limit: int | None = None,
        **settings: Any,
    ) -> EvalLog:
        """Run all capsules of an edition."""
        task = biaa(
            edition=str(edition),
            sandbox="docker",
            solver=solver,
            submissions=str(self.folder / "submissions"),
            keep="all",
            **(options or {}),
        )
        if process_limit is not None:
            for sample in task.dataset:
                sample.sandbox.config.services["default"].pids_limit = process_limit
        [log] = eval(
            task,
            model=model,
            log_dir=str(self.folder / "logs"),
            display="none",
            **settings,
        )
        return log

    def kept(self, sample: EvalSample) -> Path:
        """Return the folder of a sample's kept submission."""
        return self.folder / "submissions" / str(sample.store["Graded:kept"])


@pytest.fixture
def run_here(tmp_path: Path) -> Callable[..., EvalSample]:
    """Give the runner of a solver, or of an endless script of the shell, in the local sandbox."""

    def run(
        edition: Path,
        *commands: str,
        solver: Solver | None = None,
        options: dict[str, Any] | None = None,
        **settings: Any,
    ) -> EvalSample:
        task = biaa(
            edition=str(edition),
            sandbox="local",
            solver=solver,
            submissions=str(tmp_path / "submissions"),
            keep="none",
            **(options or {}),
        )
        turns = [("bash", {"command": command}) for command in commands or ("true",)]
        [log] = eval(
            task,
            model=scripted(*turns, forever=True),
            log_dir=str(tmp_path / "logs"),
            display="none",
            **settings,
        )
        assert log.status == "success", log.error
        [sample] = log.samples or []
        return sample

    return run


@pytest.fixture
def bench(tmp_path: Path, images: Images) -> Bench:
    """Give a bench whose logs and submissions belong to the test."""
    return Bench(tmp_path)


@pytest.fixture
def things_of() -> Callable[[str], list[str]]:
    """Give the listing of the containers, volumes and networks of a Compose project."""
    return _things_of


def _things_of(project: str) -> list[str]:
    mine = f"label=com.docker.compose.project={project}"
    found: list[str] = []
    for listing in (["ps", "--all"], ["volume", "ls"], ["network", "ls"]):
        told = subprocess.run(
            ["docker", *listing, "--quiet", "--filter", mine],
            check=True,
            capture_output=True,
            text=True,
        )
        found += told.stdout.split()
    return found


@pytest.fixture
def remaining() -> Callable[[EvalSample], list[str]]:
    """Give the listing of what is left of a sample's sandbox."""

    def listing(sample: EvalSample) -> list[str]:
        name = str(sample.store["Workspace:agent_container"])
        return _things_of(name.removesuffix("-default-1"))

    return listing
