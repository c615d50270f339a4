"""Small capsules, task folders and submissions, and a cache that belongs to the test."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

SPEC: dict[str, Any] = {
    "task_id": "dots",
    "input": {
        "imaging_modality": "fluorescence",
        "spatial_dimensions": "2D",
        "temporal_dimension": "static",
    },
    "task_logic": {
        "basic_instructions": "Count the dots.",
        "expert_instructions": "Act as a Bioimage Analyst. Count the dots.",
        "primary_task": "spot-detection",
    },
    "deliverables": [
        {
            "id": "counts",
            "description": "One CSV file.",
            "filename_pattern": "*.csv",
            "required_columns": ["image", "count"],
        }
    ],
}
RUBRIC: dict[str, Any] = {"metric_config": {"type": "dots"}, "grader": "counting"}

SIMULATE = '''\
"""Write a number and its square."""
from pathlib import Path


def simulate(out, *, seed, difficulty=0.5, dims=None, scale="quick"):
    """Write input and reference."""
    for folder in ("input", "evaluation"):
        (Path(out) / folder).mkdir()
    (Path(out) / "input" / "n.txt").write_text(f"{seed} {difficulty} {scale}", encoding="utf-8")
    (Path(out) / "evaluation" / "square.txt").write_text(str(seed**2), encoding="utf-8")
'''


@pytest.fixture
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what is made and fetched in a folder of the test."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("EVALS_CACHE", str(folder))
    monkeypatch.setenv("EVALS_DATA", str(folder / "data"))
    return folder


def _write(parent: Path, task_id: str, spec: dict[str, Any] | None) -> Path:
    folder = parent / task_id
    folder.mkdir(parents=True)
    whole = {**SPEC, "task_id": task_id, **(spec or {})}
    (folder / "task_spec.yaml").write_text(yaml.safe_dump(whole), encoding="utf-8")
    (folder / "evaluation_rubric.yaml").write_text(yaml.safe_dump(RUBRIC), encoding="utf-8")
    return folder


@pytest.fixture
def make_capsule() -> Callable[..., Path]:
    """Give the writer of a whole capsule: one input file, one reference file."""

    def make(parent: Path, task_id: str = "dots", spec: dict[str, Any] | None = None) -> Path:
        folder = _write(parent, task_id, spec)
        for part, name in (("input", "a.txt"), ("evaluation", "a.csv")):
            (folder / part).mkdir()
            (folder / part / name).write_text(f"{part} of {task_id}", encoding="utf-8")
        return folder

    return make


@pytest.fixture
def make_task() -> Callable[..., Path]:
    """Give the writer of a task folder whose simulator takes no time."""

    def make(parent: Path, task_id: str = "dots", spec: dict[str, Any] | None = None) -> Path:
        folder = _write(parent, task_id, spec)
        (folder / "simulate.py").write_text(SIMULATE, encoding="utf-8")
        (folder / "solution").mkdir()
        (folder / "solution" / "solve.py").write_text("print('solved')\n", encoding="utf-8")
        return folder

    return make


MANIFEST: dict[str, Any] = {
    "schema_version": "1.0",
    "task_id": "dots",
    "agent_name": "counter",
    "agent_version": "2.1",
    "run_id": "run_20260901_080000",
    "prompt_version": "v1",
    "timestamp_utc": "2026-09-01T08:10:00Z",
    "model_name": "some-model",
    "runtime_seconds": 12.5,
}


def write_submission(folder: Path, **changes: Any) -> Path:
    """Write a submission with one deliverable; None leaves a field out."""
    told = {name: value for name, value in (MANIFEST | changes).items() if value is not None}
    table = folder / "artifacts" / "counts" / "a.csv"
    table.parent.mkdir(parents=True)
    table.write_text(f"image,count\n{told.get('run_id')},1\n", encoding="utf-8")
    (folder / "artifacts" / "supporting").mkdir()
    (folder / "artifacts" / "supporting" / "notes.csv").write_text("no,deliverable\n")
    (folder / "submission.json").write_text(json.dumps(told), encoding="utf-8")
    return folder


def pack(path: Path, folders: Iterable[tuple[Path, str]]) -> Path:
    """Write a zip of folders, each under a name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder, name in folders:
            for file in sorted(folder.rglob("*")):
                archive.write(file, f"{name}/{file.relative_to(folder)}".lstrip("/"))
    return path


@pytest.fixture
def make_submission() -> Callable[..., Path]:
    """Give the writer of one submission."""
    return write_submission


@pytest.fixture
def make_zip() -> Callable[..., Path]:
    """Give the packer of folders, each under a name."""
    return pack
