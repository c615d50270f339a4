"""Capsules of every family with known references, and a task whose capsules take no time."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from evals import assets
from scorers.contract import Job
from scorers.files.limits import Limits
from scorers.files.tree import Tree
from scorers.graders import family_for
from scorers.specification import load_rubric, load_spec

if TYPE_CHECKING:
    from collections.abc import Callable

PARITY = Path(__file__).parents[2] / "data" / "parity" / "biaa"
RELEASED = ("task_spec.yaml", "evaluation_rubric.yaml")

SIMULATE = '''\
"""Cells at random places; the harder, the fewer a solution finds."""
from pathlib import Path
import numpy as np


def simulate(out, *, seed, difficulty=0.5, dims=None, scale="quick", biology="canonical"):
    """Write input and reference."""
    for folder in ("input", "evaluation"):
        (Path(out) / folder).mkdir()
    for image in range(3):
        places = np.random.default_rng([seed, image]).random((40, 2)) * 500
        lines = ["X,Y", *(f"{x!r},{y!r}" for x, y in places.tolist())]
        (Path(out) / "evaluation" / f"{image}.csv").write_text("\\n".join(lines) + "\\n")
        found = lines[: 1 + round(40 * (1 - difficulty / 2))]
        (Path(out) / "input" / f"{image}.png").write_text("\\n".join(found) + "\\n")
'''
SOLVE = """\
import pathlib, sys
for image in pathlib.Path(sys.argv[1]).glob("*.png"):
    (pathlib.Path(sys.argv[2]) / f"{image.stem}.csv").write_text(image.read_text())
"""


@pytest.fixture
def tasks_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder with one counting task, and a cache of the test's own."""
    monkeypatch.setenv("EVALS_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "tasks" / "cells"
    (folder / "solution").mkdir(parents=True)
    source = assets() / "tasks" / "biaa" / "fluo-cell-counting-2d-cellfmcount"
    for name in RELEASED:
        shutil.copy(source / name, folder / name)
    (folder / "simulate.py").write_text(SIMULATE, encoding="utf-8")
    (folder / "solution" / "solve.py").write_text(SOLVE, encoding="utf-8")
    return folder.parent


@pytest.fixture
def reference_of(tmp_path: Path) -> Callable[[str], Path]:
    """Give the maker of a released task's capsule with a small reference."""

    def make(task_id: str) -> Path:
        folder = tmp_path / "capsules" / task_id
        folder.mkdir(parents=True)
        for name in RELEASED:
            shutil.copy(assets() / "tasks" / "biaa" / task_id / name, folder / name)
        with zipfile.ZipFile(PARITY / f"{task_id}.zip") as content:
            content.extractall(tmp_path / "unpacked" / task_id)
        unpacked = tmp_path / "unpacked" / task_id
        if (unpacked / "task").is_dir():
            shutil.copytree(unpacked / "task", folder, dirs_exist_ok=True)
        references = sorted((unpacked / "references").glob("*"), key=_size)
        if references:
            shutil.copytree(references[-1], folder / "evaluation")
        else:
            (folder / "evaluation").mkdir()
            name, lines = TRUTHS[task_id]()
            (folder / "evaluation" / name).write_text("\n".join([*lines, ""]), encoding="utf-8")
        return folder

    return make


@pytest.fixture
def perfect() -> Callable[[Path, Path], str]:
    """Give the writer of a capsule's reference as a submission; it returns the family."""
    return _perfect


def _perfect(capsule: Path, folder: Path) -> str:
    spec, rubric = load_spec(capsule), load_rubric(capsule)
    family = family_for(spec, rubric)
    limits = Limits()
    given = capsule / "input"
    with Tree(folder, limits) as tree:
        job = Job(
            task_dir=capsule,
            spec=spec,
            rubric=rubric,
            submission=tree,
            reference_dir=capsule / "evaluation",
            input_dir=given if given.is_dir() else None,
            limits=limits,
        )
        family.perfect(job, folder)
    return family.name


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _coefficients() -> tuple[str, list[str]]:
    rng = np.random.default_rng(1)
    groups = (("Control", 60, 0.12), ("Stage 1", 20, 0.12), ("Stage 2", 24, 0.25))
    lines = ["condition,image,spearman"]
    for name, n, mean in (*groups, ("Stage 3", 40, 0.34)):
        values = np.clip(rng.normal(mean, 0.1, n), -1, 1).tolist()
        lines += [f"{name},{at}.tif,{value!r}" for at, value in enumerate(values)]
    return "truth_colocalization.csv", lines


def _wells() -> tuple[str, list[str]]:
    rng = np.random.default_rng(1)
    lines = ["well,cell_type,dose,mean_nuc_over_cyto_ratio"]
    for row, letter in enumerate("ABCDEFGH"):
        line, rise = ("MCF7", 1.4) if row < 4 else ("A549", 1.0)
        for column, dose in enumerate((0, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 200, 400)):
            ratio = 0.6 + rise * dose / (dose + 3) + rng.normal(0, 0.05)
            lines.append(f"{letter}{column + 1:02d},{line},{dose},{float(ratio)!r}")
    return "truth_per_well.csv", lines


# Tasks that were released without a reference.
TRUTHS: dict[str, Callable[[], tuple[str, list[str]]]] = {
    "fluo-coronavirus-golgi-colocalization": _coefficients,
    "cytoplasm-nucleus-translocation-bbbc014": _wells,
}
