"""The published numbers, on submissions whose results by the reference implementation are known.

A file tests/data/parity/biaa/<task_id>.zip holds `references/<id>/` (evaluation folders),
`cases/<case>/output/` (submissions), `cases/<case>/case.json` (`expected`, `reference`) and, for
some tasks, `task/` (files that lie beside the specification).
"""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from scorers.grading import assess

if TYPE_CHECKING:
    from collections.abc import Callable

ARCHIVES = sorted((Path(__file__).parents[1] / "data" / "parity" / "biaa").glob("*.zip"))
TOLERANCE = 5e-5


def _cases() -> list[tuple[Path, str]]:
    found = []
    for archive in ARCHIVES:
        with zipfile.ZipFile(archive) as content:
            names = [name.split("/") for name in content.namelist()]
        cases = {parts[1] for parts in names if parts[0] == "cases" and parts[2:] == ["case.json"]}
        found += [(archive, case) for case in sorted(cases)]
    return found


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    done: dict[Path, Path] = {}

    def unpack(archive: Path) -> Path:
        if archive not in done:
            done[archive] = tmp_path_factory.mktemp(archive.stem[:20])
            with zipfile.ZipFile(archive) as content:
                content.extractall(done[archive])
        return done[archive]

    return unpack


def _numbers(value: Any, path: str = "") -> dict[str, float]:
    """Return all numbers of a nested mapping under dotted names; rows of lists in one order."""
    if isinstance(value, dict):
        parts = [(f"{path}.{key}", inner) for key, inner in value.items() if key != "run_metrics"]
    elif isinstance(value, list):
        rows = sorted(value, key=lambda row: sorted(_numbers(row).values()))
        parts = [(f"{path}[{index}]", row) for index, row in enumerate(rows)]
    elif isinstance(value, int | float):
        return {path: float(value)}
    else:
        return {}
    return {name: number for at, part in parts for name, number in _numbers(part, at).items()}


@pytest.mark.parametrize(
    ("archive", "case"), [pytest.param(*c, id=f"{c[0].stem}-{c[1]}") for c in _cases()]
)
def test_every_number_agrees_with_the_published_evaluator(
    archive: Path,
    case: str,
    unpacked: Callable[[Path], Path],
    released_task: Callable[[str, Path | None], Path],
    submission: Path,
) -> None:
    root = unpacked(archive)
    known = json.loads((root / "cases" / case / "case.json").read_text("utf-8"))
    reference = root / "references" / known["reference"] if known["reference"] else None
    if reference is not None:
        # An archive does not hold empty folders.
        reference.mkdir(parents=True, exist_ok=True)
    task = released_task(archive.stem, reference)
    if (root / "task").is_dir():
        shutil.copytree(root / "task", task, dirs_exist_ok=True)
    if (root / "cases" / case / "output").is_dir():
        shutil.copytree(root / "cases" / case / "output", submission, dirs_exist_ok=True)

    assessment = assess(task, submission)

    expected = _numbers(known["expected"])
    found = _numbers(assessment.result.metrics | {"result_score": assessment.grade.result_score})
    assert {name: found.get(name) for name in expected} == pytest.approx(expected, abs=TOLERANCE)
    assert isinstance(assessment.grade.outcome, float)
    if known["expected"]["result_score"] is None:
        assert assessment.grade.result_score is None
        assert assessment.grade.error
