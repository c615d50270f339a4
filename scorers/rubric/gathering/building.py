"""The whole way from a task's folder and a submission to evidence.

Of the task only its specification is read and, for checks, its input: neither the reference nor
the rubric can get into evidence, since neither is opened.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from scorers.files.deliverables import resolve
from scorers.files.limits import KIB, Limits
from scorers.files.tree import Tree
from scorers.grading import open_submission
from scorers.rubric.checks.file_checks import HASHED_BYTES, sha256_of
from scorers.rubric.checks.running import run_checks
from scorers.rubric.evidence import EVIDENCE_BYTES, MOST_LISTED, Check, Evidence, File
from scorers.rubric.figures import Wanted, figures_of
from scorers.rubric.gathering.documents import documents_of
from scorers.rubric.gathering.tables import SUFFIXES, tables_of
from scorers.rubric.gathering.telling import SHORTENED, Telling
from scorers.specification import load_spec

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from scorers.files.tree import SubmittedFile
    from scorers.specification import TaskSpec

DEFAULT = Limits()
PLOTS = Wanted()
_LOGS = "logs"
_LISTED_BYTES = 160 * KIB
# A deliverable in such a file is a table, whatever parts its columns.
_PLAIN = ".txt"


def evidence_of(
    task_dir: Path,
    submission_dir: Path,
    limits: Limits = DEFAULT,
    wanted: Wanted = PLOTS,
    input_after: Path | None = None,
) -> Evidence:
    """Gather the evidence of a submission as it lies, or packed (with a `submission.json`).

    Parameters
    ----------
    task_dir
        A capsule, of which `task_spec.yaml` and `input/` are read.
    submission_dir
        An existing folder; what is in it is not trusted.
    limits
        Bounds on what is read of it.
    wanted
        Which figures are drawn, and how large.
    input_after
        The folder that the agent had its input in, as it is now, if it still lies somewhere.

    Raises
    ------
    CapsuleFault
        The specification cannot be loaded.
    NotADirectoryError
        One of the folders does not exist.
    """
    for folder in (task_dir, submission_dir):
        if not folder.is_dir():
            raise NotADirectoryError(f"expected a folder, got {str(folder)!r}")
    spec = load_spec(task_dir)
    root = submission_dir.resolve()
    limits = replace(limits, listed_bytes=min(limits.listed_bytes, _LISTED_BYTES))
    with open_submission(root, limits) as tree:
        logs = _logs(root, tree, limits)
        try:
            gathered = _gathered(spec, tree, () if logs is None else logs.files, limits, wanted)
            found = run_checks(spec, tree, _input(task_dir), limits, _hashes(input_after, limits))
            checks = [Check(**asdict(each) | {"refs": list(each.refs)}) for each in found]
            return gathered.model_copy(update={"checks": checks})
        finally:
            if logs is not None:
                logs.close()


def _gathered(
    spec: TaskSpec, tree: Tree, logs: Sequence[SubmittedFile], limits: Limits, wanted: Wanted
) -> Evidence:
    telling = Telling()
    resolution = resolve(spec, tree, limits)
    delivered = [file for files in resolution.found.values() for file in files]
    known = {file.path for file in delivered}
    others = [file for file in tree.files if file.path not in known]
    delivered_tables = [file for file in delivered if file.suffix in {*SUFFIXES, _PLAIN}]
    read_as_tables = {file.path for file in delivered_tables}
    patterns = [deliverable.filename_pattern for deliverable in spec.deliverables]
    figures, undrawn = figures_of(tree.files, patterns, wanted, limits, telling)
    evidence = Evidence(
        task_id=spec.task_id,
        deliverables=telling.value(resolution.to_json(tree), "name:deliverables"),
        files=[
            File(path=telling.path(file.path), bytes=file.size) for file in tree.files[:MOST_LISTED]
        ],
        files_total=len(tree.files),
        documents=documents_of(
            [*(file for file in tree.files if file.path not in read_as_tables), *logs], telling
        ),
        tables=tables_of(
            delivered_tables, [file for file in others if file.suffix in SUFFIXES], limits, telling
        ),
        figures=figures,
        undrawn=undrawn,
        flags=telling.flags,
    )
    return _fitted(evidence, telling)


def _input(task_dir: Path) -> Path | None:
    folder = task_dir / "input"
    return folder if folder.is_dir() else None


def _hashes(folder: Path | None, limits: Limits) -> dict[str, str] | None:
    """Return the SHA-256 of each file of a folder; None for none, and where it is too large."""
    if folder is None or not folder.is_dir():
        return None
    with Tree(folder.resolve(), limits) as tree:
        if sum(file.size for file in tree.files) > HASHED_BYTES:
            return None
        return {str(file.path): sha256_of(file) for file in tree.files}


def _logs(root: Path, tree: Tree, limits: Limits) -> Tree | None:
    """Return the logs of a packed submission, which lie beside its artifacts."""
    folder = root / _LOGS
    if tree.root == root or folder.is_symlink() or not folder.is_dir():
        return None
    return Tree(folder, limits)


def _fitted(evidence: Evidence, telling: Telling) -> Evidence:
    """Leave the last supporting documents out where all would be too large to be handed on."""
    documents = list(evidence.documents)
    while documents and _size(evidence) > EVIDENCE_BYTES:
        gone = documents.pop()
        telling.flag(gone.ref, SHORTENED, "not shown: the evidence would be too large")
        told = {"documents": documents, "flags": telling.flags}
        evidence = evidence.model_copy(update=told)
    return evidence


def _size(evidence: Evidence) -> int:
    return len(evidence.printed().encode())
