from __future__ import annotations

import shutil
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from evals.calibration.doses import DOSES, WHOLE
from evals.calibration.perturbations import TABLE, perturb, perturbations
from scorers.graders import GRADER_OF_TASK, GRADERS
from scorers.grading import grade

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_every_family_has_its_kinds() -> None:
    assert set(TABLE) == set(GRADERS)
    for entries in TABLE.values():
        assert len({entry.kind for entry in entries}) == len(entries) >= 5
        assert all(set(entry.doses) <= {*DOSES, WHOLE} for entry in entries)
        assert any(entry.kind == "missing_file" for entry in entries)


@pytest.mark.parametrize("task_id", GRADER_OF_TASK)
def test_strict_falls_with_the_dose_of_every_damage(
    task_id: str,
    reference_of: Callable[[str], Path],
    perfect: Callable[[Path, Path], str],
    tmp_path: Path,
) -> None:
    capsule, whole = reference_of(task_id), tmp_path / "perfect"
    whole.mkdir()
    family = perfect(capsule, whole)
    ceiling = grade(capsule, whole, draws=False).strict
    assert ceiling == pytest.approx(1, abs=1e-6)
    for entry in perturbations(family):
        strict = [1.0]
        for dose in entry.doses:
            folder = tmp_path / f"{entry.kind}-{dose}"
            shutil.copytree(whole, folder)
            perturb(folder, family, entry.kind, dose, 0)
            verdict = grade(capsule, folder, draws=False)
            assert verdict.outcome is not None, verdict.error
            strict.append(verdict.strict or 0.0)
        if not entry.forgiven:
            assert all(low <= high + 1e-9 for high, low in pairwise(strict)), (entry.kind, strict)
            assert strict[-1] < 1 - 1e-6, (entry.kind, strict)


def test_the_same_damage_is_done_to_the_same_bytes(
    reference_of: Callable[[str], Path], perfect: Callable[[Path, Path], str], tmp_path: Path
) -> None:
    capsule = reference_of("5D-npc-assembly-kinetics-idr0115")
    read = []
    for name in ("one", "other"):
        folder = tmp_path / name
        folder.mkdir()
        perturb(folder, perfect(capsule, folder), "drop", 0.1, 4)
        read.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert read[0] == read[1]
