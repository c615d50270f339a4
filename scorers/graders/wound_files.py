"""The files of a wound-healing capsule by experiment, and what is submitted for each."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.deliverables import resolve
from scorers.files.fields import read_field, write_field
from scorers.files.tree import reference_tree

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from scorers.contract import Job
    from scorers.files.tree import SubmittedFile

    Field = NDArray[np.float64]

KYMOGRAPH, X, Y, ROI = "_speedKymograph", "_mf_dxs", "_mf_dys", "_roi"
TRUE_KYMOGRAPH, TRUE_X, TRUE_Y = "_truth_kymograph", "_truth_dxs", "_truth_dys"
SUFFIXES = (KYMOGRAPH, X, Y)
DELIVERABLES = {KYMOGRAPH: "speed_kymograph", X: "velocity_x", Y: "velocity_y"}


@dataclass(frozen=True)
class Known:
    """What a capsule holds: files by suffix and experiment; experiments with a kymograph count."""

    files: dict[str, dict[str, SubmittedFile]]

    @property
    def keys(self) -> list[str]:
        """Experiments in order of their names."""
        return sorted(self.files[KYMOGRAPH])

    @property
    def has_truth(self) -> bool:
        """Whether true values lie beside the reference pipeline's."""
        return any(self.files[suffix] for suffix in (TRUE_KYMOGRAPH, TRUE_X, TRUE_Y))

    def read(self, suffix: str, key: str, job: Job) -> Field | None:
        """Return a field of the capsule, None where there is no such file."""
        file = self.files[suffix].get(key)
        if file is None:
            return None
        try:
            return read_field(file, job.limits.for_references())
        except SubmissionFault as fault:
            raise CapsuleFault(f"reference {fault}") from fault

    def truth(self, key: str, job: Job) -> tuple[Field, tuple[Field, Field] | None]:
        """Return an experiment's kymograph and velocities: the true ones, else the reference's."""
        kymograph = self.read(TRUE_KYMOGRAPH, key, job)
        if kymograph is None:
            kymograph = self.reference(key, job)
        for x, y in ((TRUE_X, TRUE_Y), (X, Y)):
            vx, vy = self.read(x, key, job), self.read(y, key, job)
            if vx is not None and vy is not None:
                return kymograph, (vx, vy)
        return kymograph, None

    def reference(self, key: str, job: Job) -> Field:
        """Return an experiment's reference kymograph."""
        kymograph = self.read(KYMOGRAPH, key, job)
        assert kymograph is not None
        return kymograph


def known_files(job: Job) -> Known:
    """Return the capsule's files, or raise `CapsuleFault` if no kymograph is among them.

    Beside the reference pipeline's fields, `evaluation/` may hold the true ones of simulated
    cells for each experiment: `<EXP>_truth_dxs.tif`, `<EXP>_truth_dys.tif` (of the first pair of
    frames) and `<EXP>_truth_kymograph.tif`, all in µm/h.
    """
    if job.reference_dir is None:
        raise CapsuleFault(
            f"{job.task_dir.name}: expected the reference in the folder evaluation/, got no such "
            "folder; get the task's data, or make them"
        )
    files = reference_tree(job.reference_dir, job.limits).files
    wanted = (KYMOGRAPH, X, Y, TRUE_KYMOGRAPH, TRUE_X, TRUE_Y)
    found = {
        suffix: by_experiment([f for f in files if fnmatchcase(f.name, f"*{suffix}.tif*")], suffix)
        for suffix in wanted
    }
    if not found[KYMOGRAPH]:
        raise CapsuleFault(
            f"{job.task_dir.name}: expected *{KYMOGRAPH}.tif* in evaluation/, got {len(files)} "
            "other files; get the task's data, or make them"
        )
    inputs = () if job.input_dir is None else reference_tree(job.input_dir, job.limits).files
    masks = [file for file in inputs if fnmatchcase(file.name, f"*{ROI}.tif*")]
    return Known(found | {ROI: by_experiment(masks, ROI)})


def submitted_files(job: Job) -> dict[str, dict[str, SubmittedFile]]:
    """Return what is submitted by suffix and experiment."""
    resolution = resolve(job.spec, job.submission, job.limits)
    return {
        suffix: by_experiment(resolution.found.get(name, ()), suffix)
        for suffix, name in DELIVERABLES.items()
    }


def by_experiment(files: Iterable[SubmittedFile], suffix: str) -> dict[str, SubmittedFile]:
    """Return files by their lower-cased stem without a suffix it must have; the first counts."""
    found: dict[str, SubmittedFile] = {}
    for file in files:
        stem = file.stem.lower()
        if stem.endswith(suffix.lower()):
            found.setdefault(stem.removesuffix(suffix.lower()), file)
    return found


def perfect(job: Job, out: Path) -> None:
    """Write each experiment's true fields, or else the reference's, as its deliverables."""
    known = known_files(job)
    for key in known.keys:
        kymograph, velocities = known.truth(key, job)
        _write(known, key, out, (kymograph, *(velocities or ())))


def blank(job: Job, out: Path) -> None:
    """Write fields of the right shapes that are zero throughout: scores completeness, .10."""
    known = known_files(job)
    for key in known.keys:
        fields = [known.read(suffix, key, job) for suffix in SUFFIXES]
        _write(known, key, out, [np.zeros(field.shape) for field in fields if field is not None])


def _write(known: Known, key: str, out: Path, fields: Iterable[Field]) -> None:
    path = known.files[KYMOGRAPH][key].path
    stem = path.stem[: -len(KYMOGRAPH)]
    for suffix, field in zip(SUFFIXES, fields, strict=False):
        write_field(out / path.parent / f"{stem}{suffix}.tif", field)
