"""One submission against one capsule: the whole way from two folders to a grade."""

from __future__ import annotations

import math
import os
import stat
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from scorers.canary import canaries_of, marked_files
from scorers.contract import Grade, Job, Result
from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.deliverables import MissingDeliverable, resolve
from scorers.files.limits import Limits
from scorers.files.tree import Refusal, Tree
from scorers.graders import family_for
from scorers.listing import Listing
from scorers.specification import load_rubric, load_spec

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from scorers.contract import Family, Scalar

MANIFEST = "submission.json"
ARTIFACTS = "artifacts"
DEFAULT = Limits()


@dataclass(frozen=True)
class Assessment:
    """A grade, and the family's own result with the rows of single objects."""

    grade: Grade
    result: Result


def grade(
    task_dir: Path, submission_dir: Path, limits: Limits = DEFAULT, *, draws: bool = True
) -> Grade:
    """Grade a submission as it lies, or its `artifacts/` where it holds a `submission.json`.

    Parameters
    ----------
    task_dir
        A capsule: `task_spec.yaml`, `evaluation_rubric.yaml`, `evaluation/`, `input/`.
    submission_dir
        An existing folder; what is in it is not trusted.
    limits
        Bounds on what is read of it.
    draws
        Whether pictures are wanted.

    Returns
    -------
    Grade
        `outcome` is None only where the capsule's reference is missing or broken.

    Raises
    ------
    CapsuleFault
        The capsule cannot be loaded or names no known grader.
    NotADirectoryError
        One of the folders does not exist.
    """
    # Nobody will see the rows of single objects.
    return assess(task_dir, submission_dir, replace(limits, objects=1), draws=draws).grade


def assess(
    task_dir: Path, submission_dir: Path, limits: Limits = DEFAULT, *, draws: bool = True
) -> Assessment:
    """Grade as `grade` does, and keep the family's result."""
    for folder in (task_dir, submission_dir):
        if not folder.is_dir():
            raise NotADirectoryError(f"expected a folder, got {str(folder)!r}")
    spec, rubric = load_spec(task_dir), load_rubric(task_dir)
    family = family_for(spec, rubric)
    with open_submission(submission_dir.resolve(), limits) as tree:
        job = Job(
            task_dir=task_dir,
            spec=spec,
            rubric=rubric,
            submission=tree,
            reference_dir=_folder(task_dir / "evaluation"),
            input_dir=_folder(task_dir / "input"),
            limits=limits,
            draws=draws,
        )
        result = evaluate(job, family)
        verdict = _verdict(job, result)
        verdict.canary = marked_files(tree, canaries_of(task_dir), limits)
        return Assessment(verdict, result)


def evaluate(job: Job, family: Family | None = None) -> Result:
    """Run a job's family; what it raises about the submission or the capsule becomes a result."""
    family = family or family_for(job.spec, job.rubric)
    try:
        return family.grade(job)
    except MissingDeliverable as fault:
        told: dict[str, Any] = {"error": str(fault), "missing_deliverable": fault.to_json()}
        return Result(0.0, told, strict=0.0, error=str(fault))
    except SubmissionFault as fault:
        return Result(0.0, {"error": str(fault)}, strict=0.0, error=str(fault))
    except CapsuleFault as fault:
        return Result(None, {"error": str(fault)}, fault=str(fault))


def flat(metrics: Mapping[str, Any]) -> dict[str, Scalar]:
    """Return nested metrics under dotted names.

    A list of plain values becomes text; a list of rows is left out, since `items` holds rows. A
    number that is not finite becomes None.
    """
    flattened: dict[str, Scalar] = {}
    for name, value in metrics.items():
        if isinstance(value, dict):
            flattened |= {f"{name}.{key}": inner for key, inner in flat(value).items()}
        elif isinstance(value, list | tuple):
            if not any(isinstance(entry, dict) for entry in value):
                flattened[name] = ", ".join(map(str, value))
        else:
            flattened[name] = _plain(value)
    return flattened


def open_submission(root: Path, limits: Limits) -> Tree:
    """List the files of a submission: those in `artifacts/` where it is packed."""
    if not _is(root / MANIFEST, stat.S_ISREG):
        return Tree(root, limits)
    # Whoever made the submission made this folder as well: it is not followed if it is a link.
    if not _is(root / ARTIFACTS, stat.S_ISDIR):
        tree = Tree(root, limits)
        tree.files = ()
        tree.refused = [Refusal(ARTIFACTS, f"no such folder beside {MANIFEST}")]
        return tree
    return Tree(root / ARTIFACTS, limits)


def _verdict(job: Job, result: Result) -> Grade:
    resolution = resolve(job.spec, job.submission, job.limits)
    error = result.fault or result.error
    score = _plain(result.result_score)
    outcome = score if isinstance(score, float | int) else 0.0
    if result.result_score is not None and score is None:
        error = error or "the result is not a finite number"
    if resolution.missing:
        lacking = ", ".join(entry["id"] for entry in resolution.missing)
        error = error or f"missing required deliverables: {lacking}"
        outcome = 0.0
    elif score is None:
        error = error or "the submission could not be evaluated"
    certain = None if result.fault else float(outcome)
    return Grade(
        task_id=job.spec.task_id,
        result_score=None if score is None else float(score),
        outcome=certain,
        passed=certain is not None
        and score is not None
        and not resolution.missing
        and certain >= job.rubric.result_pass_threshold,
        strict=None if result.fault else _plain(result.strict),
        metrics=_told(result.metrics, job.limits),
        strict_metrics=_told(result.strict_metrics, job.limits),
        items=Listing(job.limits.listed_bytes).take(
            {key: _short(_plain(value), job.limits) for key, value in row.items()}
            for row in result.items[: job.limits.items]
        ),
        deliverables=resolution.to_json(job.submission),
        pictures=result.pictures,
        error=_short(error, job.limits),
    )


def _told(metrics: Mapping[str, Any], limits: Limits) -> dict[str, Scalar]:
    """Return flat metrics as far as there is room; names and texts may be of the submission's."""
    rows = ((name, _short(value, limits)) for name, value in flat(metrics).items())
    return dict(Listing(limits.listed_bytes).take(rows))


def _short(value: Any, limits: Limits) -> Any:
    if isinstance(value, str) and len(value) > limits.told_chars:
        return f"{value[: limits.told_chars]} …"
    return value


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it: no NumPy scalars, nothing that is not finite."""
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _folder(path: Path) -> Path | None:
    return path if path.is_dir() else None


def _is(path: Path, test: Any) -> bool:
    try:
        return bool(test(os.lstat(path).st_mode))
    except OSError:
        return False
