"""A capsule: one task's folder, its public part and its private part."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evals.data.hashing import tree_hash
from evals.errors import CapsuleInvalidError, DataMissingError
from scorers.errors import CapsuleFault
from scorers.specification import RUBRIC_FILE, SPEC_FILE, load_rubric, load_spec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scorers.contract import Job
    from scorers.specification import Rubric, TaskSpec


@dataclass(frozen=True)
class Capsule:
    """One task: specification, rubric, input and (mostly) reference, all checked.

    Attributes:
        path: The capsule's folder, absolute, links resolved.
        data_hash: SHA-256 over names and bytes of input, reference, specification and rubric.
        seed: The seed that it was made from, as its user gave it; None where it was not simulated.
    """

    path: Path
    spec: TaskSpec
    rubric: Rubric
    data_hash: str
    seed: int | None = None

    @property
    def task_id(self) -> str:
        """The task's id as its specification gives it."""
        return self.spec.task_id

    @property
    def input_dir(self) -> Path:
        """What the agent sees."""
        return self.path / "input"

    @property
    def evaluation_dir(self) -> Path | None:
        """The reference, or None where the task has none."""
        folder = self.path / "evaluation"
        return folder if folder.is_dir() else None

    @property
    def solution_dir(self) -> Path | None:
        """The classical pipeline that comes with the capsule, or None."""
        folder = self.path / "solution"
        return folder if folder.is_dir() else None


def load_capsule(path: Path) -> Capsule:
    """Load and check one capsule.

    Raises:
        DataMissingError: The folder, its input or its reference is missing or cannot be read.
        CapsuleInvalidError: The specification, the rubric or the layout breaks the format.
    """
    if not path.is_dir():
        kind = "a file" if path.exists() else "nothing"
        raise DataMissingError(
            f"{path}: expected a capsule's folder, got {kind}. Mend: give the folder that holds "
            f"{SPEC_FILE}."
        )
    path = path.resolve()
    try:
        spec, rubric = load_spec(path), load_rubric(path)
    except CapsuleFault as error:
        raise CapsuleInvalidError(str(error)) from error
    files = _part(path, "input", needed=True)
    files += _part(path, "evaluation", needed=rubric.needs_reference)
    data_hash = tree_hash(path, [*files, path / SPEC_FILE, path / RUBRIC_FILE])
    return Capsule(path, spec, rubric, data_hash)


def job_for(capsule: Capsule, submission_dir: Path) -> Job:
    """Return the grading job of a submission on this machine."""
    from scorers.contract import Job
    from scorers.files.limits import Limits
    from scorers.files.tree import Tree

    limits = Limits()
    return Job(
        task_dir=capsule.path,
        spec=capsule.spec,
        rubric=capsule.rubric,
        submission=Tree(submission_dir, limits),
        reference_dir=capsule.evaluation_dir,
        input_dir=capsule.input_dir,
        limits=limits,
    )


def _part(capsule: Path, name: str, *, needed: bool) -> list[Path]:
    """Return the files of `input/` or `evaluation/`, each known to be readable."""
    folder = capsule / name
    if not folder.is_dir():
        if needed:
            raise _missing_part(capsule, name, "nothing")
        return []
    if not folder.resolve().is_relative_to(capsule):
        raise CapsuleInvalidError(
            f"{folder}: expected a folder inside the capsule, got a link to {folder.resolve()}, "
            "which does not exist in a container. Mend: move or copy the data into the capsule."
        )
    files = sorted(_files(folder))
    if needed and not files:
        raise _missing_part(capsule, name, "an empty folder")
    for file in files:
        _check_readable(file, folder.resolve())
    return files


def _files(folder: Path) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:
        raise DataMissingError(
            f"{error.filename}: expected a readable folder, got {error.strerror}. Mend: "
            f"chmod u+rx '{error.filename}'."
        ) from error

    for parent, folders, names in os.walk(folder, onerror=unreadable):
        # A linked folder is not walked into; as a file it is refused with its reason.
        linked = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        yield from (folder / os.path.join(parent, name) for name in [*names, *linked])


def _check_readable(file: Path, folder: Path) -> None:
    if file.is_symlink() and not file.resolve().is_relative_to(folder):
        raise DataMissingError(
            f"{file}: expected a file, got a link to {os.readlink(file)}, outside {folder}, "
            "which does not exist in a container. Mend: put a copy of the file in its place."
        )
    try:
        handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            regular = stat.S_ISREG(os.fstat(handle).st_mode)
        finally:
            os.close(handle)
    except OSError as error:
        raise DataMissingError(
            f"{file}: expected a readable file, got {error.strerror}. Mend: chmod u+r '{file}', "
            "or put the file back."
        ) from error
    if not regular:
        raise DataMissingError(
            f"{file}: expected a regular file, got a folder link, pipe or device. Mend: put a "
            "plain file in its place or remove it."
        )


def _missing_part(capsule: Path, name: str, got: str) -> DataMissingError:
    archive = capsule / f"{name}.zip"
    if archive.is_file():
        mend = f"unpack {archive} in its own folder."
    elif name == "input":
        mend = "put the images the agent is to analyse there."
    else:
        mend = (
            "put the reference there, or set evaluation_metadata.ground_truth_present: false in "
            f"{RUBRIC_FILE} if the task has none."
        )
    what = {"input": "the input files", "evaluation": "the reference"}[name]
    return DataMissingError(f"{capsule / name}: expected {what}, got {got}. Mend: {mend}")
