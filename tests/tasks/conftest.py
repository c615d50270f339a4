"""Capsules made by the shipped simulators and solved by the shipped solutions, once a session."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from evals import assets
from evals.data.siblings import files_for
from evals.data.simulate_one import run
from scorers.contract import Job
from scorers.files.limits import Limits
from scorers.files.tree import Tree
from scorers.graders import family_for
from scorers.grading import grade
from scorers.specification import load_rubric, load_spec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from evals.data.recipe import Dims
    from scorers.contract import Grade

SEED = 11
TASKS = assets() / "tasks" / "biaa"


@dataclass(frozen=True)
class Made:
    """A capsule of one seed, quick scale, and what its solution hands in."""

    capsule: Path
    submissions: Path

    @property
    def input(self) -> Path:
        """What an agent sees."""
        return self.capsule / "input"

    @property
    def evaluation(self) -> Path:
        """The reference."""
        return self.capsule / "evaluation"

    def submission(self, name: str) -> Path:
        """Give the folder of a submission: `solution`, `perfect` or `blank`."""
        folder = self.submissions / name
        if not folder.exists():
            folder.mkdir(parents=True)
            self._fill(name, folder)
        return folder

    def grade(self, name: str) -> Grade:
        """Grade a submission: `solution`, `perfect` or `blank`."""
        return grade(self.capsule, self.submission(name))

    def _fill(self, name: str, folder: Path) -> None:
        if name == "solution":
            script = TASKS / self.capsule.name / "solution" / "solve.py"
            command = [sys.executable, "-W", "error", str(script), str(self.input), str(folder)]
            # Anything beside the input and the output would have to be found from here.
            subprocess.run(command, cwd=folder, check=True, timeout=200, env=_bare_environment())
            return
        spec, rubric = load_spec(self.capsule), load_rubric(self.capsule)
        limits = Limits()
        job = Job(
            task_dir=self.capsule,
            spec=spec,
            rubric=rubric,
            submission=Tree(folder, limits),
            reference_dir=self.evaluation,
            input_dir=self.input,
            limits=limits,
        )
        getattr(family_for(spec, rubric), name)(job, folder)


def _bare_environment() -> dict[str, str]:
    kept = ("PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "PYTHONPYCACHEPREFIX")
    return {name: os.environ[name] for name in kept if name in os.environ}


@pytest.fixture(scope="session")
def make(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Made]:
    """Give the maker of the capsule of a task, or of its sibling; one of each a session."""
    made: dict[tuple[str, Dims | None], Made] = {}

    def make_one(task_id: str, dims: Dims | None = None) -> Made:
        if (task_id, dims) not in made:
            root = tmp_path_factory.mktemp("made")
            capsule = root / task_id
            capsule.mkdir()
            run(TASKS / task_id / "simulate.py", capsule, {"seed": SEED, "dims": dims})
            for name, path in files_for(TASKS / task_id, dims).items():
                shutil.copy(path, capsule / name)
            made[task_id, dims] = Made(capsule, root / "submissions")
        return made[task_id, dims]

    return make_one


@pytest.fixture(scope="session")
def simulator() -> Callable[[str], ModuleType]:
    """Give the loader of a task's simulator."""

    def load(task_id: str) -> ModuleType:
        name = f"simulate_{task_id.replace('-', '_')}"
        spec = importlib.util.spec_from_file_location(name, TASKS / task_id / "simulate.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    return load
