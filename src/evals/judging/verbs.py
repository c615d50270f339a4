"""What `evals judge attack` and `evals judge stability` do between options and report."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeVar, cast

import typer

from evals import options
from evals.edition import SYNTHETIC, open_edition
from evals.errors import DataMissingError
from evals.judging.attacking import Attempt, attack
from evals.judging.doctoring import DOCTORINGS
from evals.judging.protocol import Images, Protocol
from evals.judging.repeating import Repeats, repeat
from evals.judging.subjects import folder_subject, log_subject, solved
from evals.judging.trial import progress_bar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

    from rich.console import Console

    from evals.capsule import Capsule
    from evals.judging.protocol import Judge
    from evals.judging.rubrics import ChosenChecklist
    from evals.judging.trial import Subject

T = TypeVar("T")

# Its solution takes seconds and leaves code, tables, figures and a report.
DEFAULT_TASK = "fluo-cell-counting-2d-cellfmcount"
_STOPPED = 130


def protocol_of(samples: int, images: str, items_per_call: int, *, cache: bool) -> Protocol:
    """Return the protocol of a command's options."""
    return Protocol(samples, cast("Images", images), items_per_call, cache)


def capsules_of(edition: str, tasks: Sequence[str], seed: int) -> list[Capsule]:
    """Return the tasks of an edition."""
    from evals.data.recipe import Recipe

    recipe = Recipe(seed=seed) if edition == SYNTHETIC else None
    return open_edition(edition, tasks=list(tasks), recipe=recipe)


def submitted_to(capsules: Sequence[Capsule], submission: Path | None) -> None:
    """Check a folder that is a submission of the only task.

    Raises:
        DataMissingError: There is no such folder.
        OptionInvalidError: There are several tasks.
    """
    if submission is None:
        return
    if not submission.is_dir():
        raise DataMissingError(f"--submission {submission}: there is no such folder.")
    if len(capsules) != 1:
        raise options.OptionInvalidError(
            f"--submission {submission}: expected the one task that it is of, got "
            f"{len(capsules)}. Mend: add --task ID."
        )


def subject_for(
    log: Path | None,
    sample: str | None,
    submission: Path | None,
    task: str | None,
    made: tuple[str, int],
    chosen: ChosenChecklist,
    protocol: Protocol,
) -> Subject | tuple[Capsule, Path]:
    """Return the sample of a log, or a task with the folder of a submission of it.

    Args:
        log: The log.
        sample: Which sample of it.
        submission: The folder.
        task: The task that the folder is of.
        made: The task's edition, and the seed of a synthetic one.
        chosen: The checklist.
        protocol: How the judge is asked.

    Raises:
        OptionInvalidError: Both or neither of them are given, or the task is not.
    """
    if (log is None) == (submission is None):
        raise options.OptionInvalidError(
            "Expected either a log or --submission FOLDER, got "
            f"{'neither' if log is None else 'both'}. Mend: give one of them."
        )
    if log is not None:
        return log_subject(log, sample, chosen, protocol.images)
    if task is None:
        raise options.OptionInvalidError(
            f"--submission {submission}: expected the task that it is of. Mend: add --task ID."
        )
    assert submission is not None
    capsules = capsules_of(made[0], [task], made[1])
    submitted_to(capsules, submission)
    return capsules[0], submission


async def attack_tasks(
    who: Judge,
    capsules: Sequence[Capsule],
    submission: Path | None,
    chosen: ChosenChecklist,
    protocol: Protocol,
    names: Sequence[str],
    *,
    hybrid: bool,
) -> list[Attempt]:
    """Try the named doctorings on each task, on its own solution or on the given submission."""
    tried = [one for one in DOCTORINGS if one.name in names]
    attempts: list[Attempt] = []
    with progress_bar("Attacking", len(capsules) * len(tried)) as step:
        for capsule in capsules:
            place = nullcontext(submission) if submission is not None else solved(capsule)
            async with place as folder:
                attempts += await attack(
                    who,
                    capsule,
                    folder,
                    chosen,
                    protocol,
                    hybrid=hybrid,
                    doctorings=tried,
                    step=step,
                )
    return attempts


async def repeat_judging(
    who: Judge,
    subject: Subject | tuple[Capsule, Path],
    chosen: ChosenChecklist,
    protocol: Protocol,
    times: int,
    *,
    shuffle: bool,
) -> Repeats:
    """Judge a subject, or the submission in a folder, again and again."""
    if isinstance(subject, tuple):
        subject = await folder_subject(*subject, chosen, protocol.images)
    with progress_bar("Judging", times * (2 if shuffle else 1)) as step:
        return await repeat(who, subject, chosen, protocol, times, shuffle=shuffle, step=step)


def stoppable(work: Callable[[], Awaitable[T]], *, cached: bool) -> T:
    """Do the work; Ctrl-C ends it with a word on what is kept."""
    import anyio

    try:
        return anyio.run(work)
    except KeyboardInterrupt:
        kept = (
            "Answers that were complete are kept; the same command goes on there."
            if cached
            else "Nothing is kept, because of --no-cache."
        )
        typer.echo(f"Stopped. {kept}", err=True)
        raise typer.Exit(_STOPPED) from None


def tell(told: Mapping[str, Any], show: Callable[[Console], None], *, as_json: bool) -> None:
    """Print JSON, or what is for people."""
    from rich.console import Console

    if as_json:
        typer.echo(json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        show(Console(highlight=False, markup=False, soft_wrap=True))
