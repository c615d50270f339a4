"""Submissions made of the honest ones that come with the parity cases, with one part hostile."""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from scorers.files.deliverables import resolve
from scorers.files.limits import GIB, MIB, Limits
from scorers.files.tree import Tree
from scorers.graders import family_for
from scorers.specification import load_rubric, load_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
ARCHIVES = sorted((HERE.parents[1] / "data" / "parity" / "biaa").glob("*.zip"))
KINDS = {
    ".tif": "tiffs",
    ".tiff": "tiffs",
    ".png": "pictures",
    ".csv": "tables",
    ".txt": "tables",
    ".xlsx": "workbooks",
}
# No released task asks for PNG; a task of one's own may.
PICTURE_TASK = "he-nuinsseg-nuclear-segmentation"
MEMORY = 2 * GIB
ALL_PAIRS = bool(os.environ.get("ALL_PAIRS"))
# Narrower than usual, so that what exceeds them may be smaller.
NARROW = {
    "rows": 100_000,
    "cells": 1_000_000,
    "text_bytes": 16 * MIB,
    "total_text_bytes": 64 * MIB,
    "workbook_bytes": 32 * MIB,
    "elements": 100_000,
    "directories": 1000,
    "metadata_bytes": 8 * MIB,
    "memory_bytes": MEMORY,
}
SECRET = "an-unlikely-word-of-the-reference"


@dataclass(frozen=True)
class Honest:
    """A task with its reference, an honest submission, and its deliverables by id."""

    task: Path
    submission: Path
    deliverables: dict[str, Path]


@dataclass(frozen=True)
class Outcome:
    """How a confined grader ended."""

    code: int | None
    out: str
    err: str
    seconds: float
    peak_bytes: int

    @property
    def grade(self) -> dict[str, Any]:
        """What it printed."""
        told: dict[str, Any] = json.loads(self.out)
        return told


@cache
def corpus(name: str) -> ModuleType:
    """Load a module of the corpus by its path; tests are no packages."""
    specification = importlib.util.spec_from_file_location(
        f"hostile_corpus_{name}", HERE / "corpus" / f"{name}.py"
    )
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def builders(name: str) -> dict[str, Callable[..., None]]:
    """Return the public functions of a module of the corpus."""
    module = corpus(name)
    return {
        key: value
        for key, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and key[0] != "_"
    }


def tasks() -> list[str]:
    """Return the tasks that have parity cases and a shipped specification."""
    names = [archive.stem for archive in ARCHIVES]
    return [name for name in names if (ROOT / "tasks" / "biaa" / name / "task_spec.yaml").exists()]


def _archive(task: str) -> Path:
    return HERE.parents[1] / "data" / "parity" / "biaa" / f"{task}.zip"


@cache
def _best_case(task: str) -> tuple[str, str | None]:
    """Return a task's parity case `exact`, else the one that scores most, and its reference."""
    ranked: dict[tuple[bool, float, str], str | None] = {}
    with zipfile.ZipFile(_archive(task)) as archive:
        for name in archive.namelist():
            folder, _, last = name.rpartition("/")
            if folder.startswith("cases/") and last == "case.json":
                known = json.loads(archive.read(name))
                case, score = folder.removeprefix("cases/"), known["expected"].get("result_score")
                ranked[case == "exact", score or 0.0, case] = known["reference"]
    best = max(ranked)
    return best[2], ranked[best]


@cache
def _deliverable_suffixes(task: str) -> dict[str, str]:
    """Return the suffix of each deliverable of a task's honest submission, found by its pattern."""
    from fnmatch import fnmatchcase

    within = f"cases/{_best_case(task)[0]}/output/"
    with zipfile.ZipFile(_archive(task)) as archive:
        names = [Path(name) for name in archive.namelist() if name.startswith(within)]
    spec = load_spec(ROOT / "tasks" / "biaa" / task)
    return {
        entry.id: name.suffix.lower()
        for entry in spec.deliverables
        for name in reversed(names)
        if name.suffix and fnmatchcase(name.name.lower(), entry.filename_pattern.lower())
    }


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise the tests that ask for a builder of the corpus with all that it can hit.

    Of all pairs one a builder is run, on another task each; `ALL_PAIRS=1` runs them all, and
    has pictures drawn.
    """
    if "builder" in metafunc.fixturenames:
        names = ("task", "deliverable", "kind", "builder")
        metafunc.parametrize(names, [*_file_cases()])
    elif "folder_builder" in metafunc.fixturenames:
        cases = _thinned("trees", [(task,) for task in tasks()])
        metafunc.parametrize(("folder_builder", "task"), [*cases])
    elif "large_builder" in metafunc.fixturenames:
        targets = [
            (task, deliverable)
            for task in tasks()
            for deliverable, suffix in _deliverable_suffixes(task).items()
            if KINDS.get(suffix) == "tables"
        ]
        cases = zip(cycle(builders("largest")), targets, strict=False)
        names = ("large_builder", "task", "deliverable")
        metafunc.parametrize(names, [(builder, *target) for builder, target in cases])
    elif "any_task" in metafunc.fixturenames:
        metafunc.parametrize("any_task", tasks())
    elif "tiff_task" in metafunc.fixturenames:
        known = {task: _deliverable_suffixes(task).values() for task in tasks()}
        of_tiffs = [task for task in known if {".tif", ".tiff"} & set(known[task])]
        metafunc.parametrize("tiff_task", of_tiffs)


def _file_cases() -> Iterator[Any]:
    targets: dict[str, list[tuple[str, ...]]] = {"pictures": [("pictures", "segmentation_masks")]}
    for task in tasks():
        for deliverable, suffix in _deliverable_suffixes(task).items():
            for kind in (KINDS.get(suffix), "formats"):
                if kind is not None:
                    targets.setdefault(kind, []).append((task, deliverable))
    for kind, hit in targets.items():
        for case in _thinned(kind, hit):
            name, *target = case.values
            yield pytest.param(*target, kind, name, id=case.id)


def _thinned(kind: str, targets: list[tuple[str, ...]]) -> Iterator[Any]:
    """Yield (builder, *target): one target of each builder, or all where ALL_PAIRS is set."""
    for number, name in enumerate(builders(kind)):
        for place, target in enumerate(targets):
            if ALL_PAIRS or place == number % len(targets):
                yield pytest.param(name, *target, id="-".join((name, *target)))


@pytest.fixture(scope="session")
def narrow() -> dict[str, int]:
    """The limits that hostile submissions are graded within, by name."""
    return NARROW


@pytest.fixture(scope="session", name="builders")
def _builders() -> Callable[[str], dict[str, Callable[..., None]]]:
    return builders


@pytest.fixture(scope="session")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Honest]:
    """Unpack a task and its honest submission once."""

    @cache
    def unpack(task: str) -> Honest:
        root = tmp_path_factory.mktemp(task[:20])
        source = PICTURE_TASK if task == "pictures" else task
        with zipfile.ZipFile(_archive(source)) as file:
            file.extractall(root)
        best, reference = _best_case(source)
        folder = root / "capsule"
        shutil.copytree(ROOT / "tasks" / "biaa" / source, folder)
        if reference is not None and (root / "references" / reference).is_dir():
            shutil.copytree(root / "references" / reference, folder / "evaluation")
        (folder / "evaluation").mkdir(exist_ok=True)
        if (root / "task").is_dir():
            shutil.copytree(root / "task", folder, dirs_exist_ok=True)
        submission = root / "cases" / best / "output"
        if task == "pictures":
            _in_pictures(folder, submission)
        (folder / "evaluation" / "secret").write_text(SECRET, encoding="utf-8")
        spec, rubric = load_spec(folder), load_rubric(folder)
        family_for(spec, rubric)
        with Tree(submission, Limits()) as tree:
            found = resolve(spec, tree).found
        firsts = {key: Path(files[0].path) for key, files in found.items() if files}
        return Honest(folder, submission, firsts)

    return unpack


def _in_pictures(task: Path, submission: Path) -> None:
    """Turn a task that asks for TIFF into one that asks for PNG."""
    import tifffile
    from PIL import Image

    specification = (task / "task_spec.yaml").read_text("utf-8")
    (task / "task_spec.yaml").write_text(
        specification.replace('"*.tif"', '"*.png"').replace("'*.tif'", "'*.png'"), "utf-8"
    )
    for path in submission.glob("*.tif"):
        Image.fromarray(tifffile.imread(path)).save(path.with_suffix(".png"))
        path.unlink()


@pytest.fixture(scope="session")
def confined() -> Iterator[Callable[..., Outcome]]:
    """Run the graders' command line in a child process with limits of memory and time."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, str(HERE / "confined.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        warm: set[Path] = set()

        def ask(question: dict[str, Any]) -> dict[str, Any]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
            answer: dict[str, Any] = json.loads(process.stdout.readline())
            return answer

        def grade(
            case: Honest, submission: Path, *, seconds: float = 60, limits: dict[str, int] = NARROW
        ) -> Outcome:
            if case.task not in warm:
                ask({"warm": ["grade", str(case.task), str(case.submission), "--json"]})
                warm.add(case.task)
            arguments = ["grade", str(case.task), str(submission), "--json"]
            arguments += [] if ALL_PAIRS else ["--no-pictures"]
            arguments += [f"--limit={name}={value}" for name, value in limits.items()]
            memory_bytes = limits.get("memory_bytes", Limits().memory_bytes)
            run = {"run": arguments, "seconds": seconds, "memory_bytes": memory_bytes}
            return Outcome(**ask(run))

        yield grade
        process.stdin.close()
        process.wait(timeout=20)


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[Honest], Path]:
    """Copy an honest submission, to be made hostile; taken away at the end, it may be large."""

    def copy(case: Honest) -> Path:
        return Path(shutil.copytree(case.submission, tmp_path / "submission"))

    return copy


@pytest.fixture
def outside(tmp_path: Path) -> Callable[[Honest], Path]:
    """Lay an honest submission's files and a secret out in one folder beside the submission."""

    def lay_out(case: Honest) -> Path:
        folder = tmp_path / "outside"
        folder.mkdir()
        (folder / "secret").write_text(SECRET, encoding="utf-8")
        for path in case.submission.rglob("*"):
            if path.is_file():
                shutil.copy(path, folder / path.name)
        return folder

    return lay_out
