"""What a judge is tried on: a task's own solution, a folder, or a sample of a log."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from evals.errors import DataMissingError, EvalsError
from evals.judging.case import Case, chosen
from evals.judging.dossier import Dossier, case_of, check_results, evidence_of
from evals.judging.gather import gather_folder
from evals.judging.rubrics import anchors_for, selection_of
from evals.judging.trial import Subject
from evals.names import unknown
from scorers.rubric.checks.mapping import decide
from scorers.rubric.copying import with_copies_flagged

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from inspect_ai.log import EvalSample

    from evals.capsule import Capsule
    from evals.judging.protocol import Images
    from evals.judging.rubrics import ChosenChecklist
    from scorers.rubric.items import Item

SOLUTION_SECONDS = 600.0
_CPUS = 2


def items_of(capsule: Capsule, checklist: ChosenChecklist) -> tuple[Item, ...]:
    """Return the items that a task is judged by."""
    return checklist.items_for(selection_of(capsule.rubric))


async def folder_subject(
    capsule: Capsule, folder: Path, checklist: ChosenChecklist, images: Images
) -> Subject:
    """Return the submission in a folder with its evidence gathered, as a run does it.

    Args:
        capsule: The task.
        folder: The submission.
        checklist: What it is judged by.
        images: Which figures the judge sees.
    """
    items = items_of(capsule, checklist)
    found = await gather_folder(capsule.path, folder, capsule.task_id)
    evidence = with_copies_flagged(found, [item.text for item in items])
    case = Case(
        instruction=_instruction(capsule),
        evidence=evidence,
        figures=chosen(evidence.figures, images),
        anchors=capsule.rubric.vlm_anchors,
    )
    return Subject(capsule.task_id, case, items, decide(items, check_results(evidence)))


def log_subject(
    path: Path, sample: str | None, checklist: ChosenChecklist, images: Images
) -> Subject:
    """Return a sample of a log with the evidence that the log keeps.

    Args:
        path: The log.
        sample: Id of the sample, or id and epoch as `ID:2`; None where there is one alone.
        checklist: What it is judged by.
        images: Which figures the judge sees.

    Raises:
        DataMissingError: There is no log, or it keeps no evidence.
        UnknownNameError: The log has no such sample, or several and none is named.
    """
    from inspect_ai.model import ModelName
    from inspect_ai.solver import TaskState

    known = {f"{one.id}:{one.epoch}": one for one in _judgeable(path)}
    name, told = _named(path, sample, known)
    dossier = told.store_as(Dossier)
    state = TaskState(
        model=ModelName("none/none"),
        sample_id=told.id,
        epoch=told.epoch,
        input=told.input,
        messages=[],
        metadata=told.metadata,
        store=told.store,
    )
    items = checklist.items_for(dossier.selection)
    try:
        evidence = evidence_of(dossier)
        case = case_of(state, dossier, items, images, anchors_for(told.metadata))
    except ValueError as error:
        raise DataMissingError(
            f"{path}, {name}: the evidence that the log keeps does not hold to its form. Mend: "
            "give a log that nobody changed."
        ) from error
    return Subject(name, case, items, decide(items, check_results(evidence)))


@asynccontextmanager
async def solved(capsule: Capsule) -> AsyncIterator[Path]:
    """Give the folder of an honest submission: what a task's own solution leaves, with its code.

    Raises:
        DataMissingError: The task has no solution.
        EvalsError: The solution failed.
    """
    from anyio import to_thread

    from evals.calibration.solving import PROGRAM, end_solutions, solve

    if capsule.solution_dir is None:
        raise DataMissingError(
            f"{capsule.task_id} comes without a solution. Mend: give a submission of it with "
            "--submission FOLDER."
        )
    with tempfile.TemporaryDirectory(prefix="evals-judge-", ignore_cleanup_errors=True) as name:
        workshop, folder = Path(name), Path(name) / "submission"
        folder.mkdir()
        try:
            # In a thread, so that Ctrl-C need not wait for it.
            problem = await to_thread.run_sync(
                solve, capsule, folder, workshop, SOLUTION_SECONDS, abandon_on_cancel=True
            )
        finally:
            end_solutions(workshop)
        if problem:
            raise EvalsError(f"{capsule.task_id}: {problem}.")
        shutil.copyfile(capsule.solution_dir / PROGRAM, folder / PROGRAM)
        yield folder


def _instruction(capsule: Capsule) -> str:
    from evals.biaa.compute import Compute
    from evals.biaa.prompt import render_prompt

    return render_prompt(capsule.spec, "basic", Compute(cpus=_CPUS, memory_bytes=None))


def _judgeable(path: Path) -> list[EvalSample]:
    from inspect_ai.log import read_eval_log

    if not path.is_file():
        raise DataMissingError(f"There is no file {path}.")
    try:
        log = read_eval_log(path, resolve_attachments="full", exclude_fields={"events", "messages"})
    except Exception as error:  # Inspect promises no kind for a file that is no log.
        raise DataMissingError(
            f"{path}: expected a log of Inspect, got: {type(error).__name__}: {error}. Mend: give "
            "a log (.eval)."
        ) from error
    found = [one for one in log.samples or [] if one.store_as(Dossier).evidence is not None]
    if not found:
        raise DataMissingError(
            f"{path} keeps no evidence: expected samples that were judged, or that ran with "
            "-T evidence=true, got none. Mend: run the task again with it, or give a folder with "
            "--submission."
        )
    return found


def _named(path: Path, sample: str | None, known: dict[str, EvalSample]) -> tuple[str, EvalSample]:
    """Return the sample that is named, or the only one."""
    fitting = [name for name, one in known.items() if sample in (None, name, str(one.id))]
    if len(fitting) == 1:
        return fitting[0], known[fitting[0]]
    if sample is not None and not fitting:
        raise unknown("sample of the log", sample, known)
    raise DataMissingError(
        f"{path} has {len(fitting)} samples with evidence, expected one. Mend: name it with "
        f"--sample, of: {', '.join(fitting[:8])}{', …' if len(fitting) > 8 else ''}."
    )
