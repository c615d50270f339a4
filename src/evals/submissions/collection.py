"""The submissions of one agent, and the runs of a task among them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evals.errors import DataMissingError
from evals.names import select
from evals.options import OptionInvalidError
from evals.submissions.finding import find_in_folder, find_in_zip
from evals.submissions.zips import LIMITS, ZipLimits
from scorers.grading import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evals.submissions.submission import Submission

_SHOWN = 24


@dataclass(frozen=True)
class Collection:
    """The submissions of one agent, and the archives that were not opened, each with its reason."""

    submissions: tuple[Submission, ...]
    refused: tuple[tuple[str, str], ...]

    def runs_of(self, task_id: str) -> list[Submission]:
        """Return the runs of a task in the order of their run ids, each in its newest state."""
        runs: dict[str, Submission] = {}
        for each in self.submissions:
            if task_id in each.task_ids:
                run = each.manifest.run_id or each.name
                runs[run] = max(runs.get(run, each), each, key=_age)
        return [runs[run] for run in sorted(runs)]

    def tasks(self) -> list[str]:
        """Return the tasks that something was handed in for."""
        return sorted({name for each in self.submissions for name in each.task_ids})


def collect(path: Path, agent: str | None = None, limits: ZipLimits = LIMITS) -> Collection:
    """Find the submissions in a folder or a zip.

    Args:
        path: A submission, a folder with submissions at any depth (folders or zips), a folder of
            folders that are called as their tasks, or a zip of any of these.
        agent: Which agent's, by its label or a pattern; needed where there are several.
        limits: What archives may hold.

    Raises:
        DataMissingError: There is nothing of the kind.
        UnknownNameError: There is no such agent.
        OptionInvalidError: There are several agents.
    """
    if not path.exists():
        raise DataMissingError(
            f"{path}: expected a folder or a zip of submissions, got nothing. Mend: give the"
            f" folder that holds {MANIFEST}, or one whose subfolders do."
        )
    finds = (find_in_folder if path.is_dir() else find_in_zip)(path, limits)
    if not finds.submissions and not finds.refused:
        raise DataMissingError(
            f"{path}: expected submissions, that is folders or zips with {MANIFEST} beside"
            " artifacts/, or folders that are called as their tasks, got none. Mend: give the"
            " folder that holds them."
        )
    return Collection(tuple(_of_agent(finds.submissions, agent)), tuple(finds.refused))


def _of_agent(found: Sequence[Submission], agent: str | None) -> list[Submission]:
    if agent is not None:
        # Without the model's name too, where that is enough.
        names = {name for each in found for name in _names(each)}
        chosen = set(select("agent", agent, sorted(names)))
        found = [each for each in found if chosen & _names(each)]
    labels = sorted({each.agent for each in found if each.agent})
    if len(labels) > 1:
        raise OptionInvalidError(
            f"Option agent: expected the submissions of one agent, got those of {len(labels)}: "
            f"{', '.join(labels[:_SHOWN])}. Mend: choose one, for example -S agent='{labels[0]}'."
        )
    return list(found)


def _names(submission: Submission) -> set[str]:
    return {submission.agent, submission.manifest.agent_name or ""} - {""}


def _age(submission: Submission) -> tuple[str, bool, str]:
    # Of a folder and the zip that was packed of it, the folder.
    stamp = submission.manifest.timestamp_utc or ""
    return stamp, isinstance(submission.place, Path), submission.name
