"""Bring submissions in BIABench's layout in, so that `evals/ready` scores them."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evals.errors import DataMissingError
from evals.exchange.folder import new_folder
from evals.exchange.packing import component
from evals.submissions.collection import collect
from evals.submissions.zips import SubmissionRefused
from scorers.grading import ARTIFACTS, MANIFEST

if TYPE_CHECKING:
    from pathlib import Path

    from evals.submissions.submission import Submission


@dataclass
class Imported:
    """What an import brought in.

    Attributes
    ----------
    submissions
        Folder of each below the new one.
    refused
        What was not brought in, each with the reason.
    warnings
        Where a submission breaks the schema, and files that stayed behind.
    """

    submissions: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def import_biabench(source: Path, out: Path, agent: str | None = None) -> Imported:
    """Copy an agent's submissions to `out/<agent>/<run>/<task>`, each in its newest state.

    Args:
        source: Folder or zip, as `evals/ready` takes them.
        out: A folder that is not there yet, or empty.
        agent: Which agent's, where there are several.

    Raises:
        DataMissingError: There is no submission, or none that can be brought in.
        OptionInvalidError: There are several agents.
    """
    collection = collect(source, agent)
    done = Imported(refused=list(collection.refused))
    newest = {each.name: each for task in collection.tasks() for each in collection.runs_of(task)}
    with new_folder(out) as bench:
        for submission in newest.values():
            _bring(submission, bench, done)
        if not done.submissions:
            refused = [f"{name}: {why}" for name, why in done.refused]
            told = "; ".join([*refused, *done.warnings][:5])
            raise DataMissingError(
                f"{source}: expected submissions in BIABench's layout, got none that can be"
                f" brought in ({told}). Mend: give the folder or zip of an export."
            )
    return done


def _bring(submission: Submission, bench: Path, done: Imported) -> None:
    told, name = submission.manifest, submission.name
    if told.task_id is None and not submission.faults:
        done.warnings.append(f"{name}: passed over, there is no {MANIFEST} in it")
        return
    if told.task_id is None or component(told.task_id) != told.task_id:
        why = "; ".join(submission.faults) or f"the task id {told.task_id!r} is no plain name"
        done.refused.append((name, f"it does not say which task it is for: {why}"))
        return
    parts = (told.agent_name or "unnamed", told.run_id or name, told.task_id)
    folder = "/".join(map(component, parts))
    dest = bench / folder
    if dest.exists():
        done.refused.append((name, f"{folder} was brought in from elsewhere already"))
        return
    dest.mkdir(parents=True)
    try:
        taken = submission.take(dest)
    except SubmissionRefused as fault:
        shutil.rmtree(dest)
        done.refused.append((name, fault.message))
        return
    # Empty folders do not come along, and the layout asks for this one.
    (dest / ARTIFACTS).mkdir(exist_ok=True)
    done.submissions.append(folder)
    done.warnings += [f"{name}: {fault}" for fault in submission.faults]
    done.warnings += [f"{name}: left out {file.path}: {file.reason}" for file in taken.dropped]
    if not any(file.path.startswith(f"{ARTIFACTS}/") for file in taken.kept):
        done.warnings.append(f"{name}: there is nothing in {ARTIFACTS}/")
