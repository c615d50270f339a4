"""Decisions on items from files: tables that people or other judges filled in, and logs."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evals.errors import DataMissingError, EvalsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from inspect_ai.log import EvalSample

SCORER = "process"
DECISIONS = "decisions"
PLACE = ("task_id", "sample_id", "epoch")
_NEEDED = ("item_id", "status")
_LOGS = (".eval", ".json")
_NOT_NEEDED = {"messages", "events", "store", "attachments"}


class DecisionsInvalidError(EvalsError, ValueError):
    """Decisions that cannot be read or compared."""


@dataclass(frozen=True)
class Rating:
    """What one rater decided of one item of one sample.

    Attributes:
        item: The item's id.
        status: As it is written; empty without an answer.
        rater: Empty if the file names none.
        place: Task, sample and epoch, empty where the file does not tell.
        severity: Of the item, empty if the file does not tell.
        by_check: Whether code decided it, not a judge.
        where: The line or sample of the file, for messages.
    """

    item: str
    status: str
    rater: str
    place: tuple[str, str, str]
    severity: str
    by_check: bool
    where: str


@dataclass(frozen=True)
class Decisions:
    """The decisions of one file; `unscored` counts a log's samples without any."""

    path: Path
    ratings: Sequence[Rating]
    unscored: int = 0

    @property
    def places(self) -> tuple[str, ...]:
        """The parts of a place that the file tells."""
        return tuple(
            name for at, name in enumerate(PLACE) if any(r.place[at] for r in self.ratings)
        )


def read_decisions(path: Path) -> Decisions:
    """Read a log (`.eval`, `.json`) or else a table with commas between its columns.

    Raises:
        DataMissingError: The file is missing or of another kind.
        DecisionsInvalidError: It has no decisions, or one of them is incomplete.
    """
    if not path.is_file():
        raise DataMissingError(f"There is no file {path}.")
    read = _from_log(path) if path.suffix in _LOGS else Decisions(path, _from_table(path))
    if not read.ratings:
        raise DecisionsInvalidError(
            f"{path} has no decisions: expected a line for each, got none. Mend: give another file."
        )
    return read


def _from_table(path: Path) -> list[Rating]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as opened:
            table = csv.DictReader(opened)
            _check_columns(path, table.fieldnames or ())
            return [_from_line(path, f"line {table.line_num}", line) for line in table]
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataMissingError(
            f"{path}: expected a table in UTF-8 with commas between its columns, got: {error}. "
            "Mend: save it as CSV in UTF-8."
        ) from error


def _check_columns(path: Path, columns: Iterable[str]) -> None:
    found = list(columns)
    missing = [name for name in _NEEDED if name not in found]
    if missing:
        raise DecisionsInvalidError(
            f"{path}: expected the columns {', '.join(_NEEDED)} (and of {', '.join(PLACE)}, rater, "
            f"severity those that there are), got {', '.join(found) or 'none'}. Mend: name the "
            f"{'column' if len(missing) == 1 else 'columns'} {', '.join(missing)} in the first "
            "line."
        )


def _from_line(path: Path, where: str, line: Mapping[str | None, Any]) -> Rating:
    # A line longer than the first one has its rest under None, a shorter one None as a value.
    told = {str(name): str(value or "").strip() for name, value in line.items() if name}
    if not told["item_id"]:
        raise DecisionsInvalidError(
            f"{path}, {where}: expected the id of an item in the column item_id, got nothing. "
            "Mend: fill it in, or remove the line."
        )
    return Rating(
        item=told["item_id"],
        status=told["status"],
        rater=told.get("rater", ""),
        place=(told.get("task_id", ""), told.get("sample_id", ""), told.get("epoch", "")),
        severity=told.get("severity", ""),
        by_check=told.get("by", "") == "check",
        where=where,
    )


def _from_log(path: Path) -> Decisions:
    decided = [_decided(path, sample) for sample in _samples(path)]
    ratings = [rating for found in decided for rating in found or []]
    if not ratings:
        raise DecisionsInvalidError(
            f"{path}: expected samples with a score `{SCORER}` whose metadata has `{DECISIONS}`, "
            "got none. Mend: give the log of a run with a model in the role `grader` "
            "(--model-role grader=…)."
        )
    return Decisions(path, ratings, unscored=decided.count(None))


def _samples(path: Path) -> list[EvalSample]:
    from inspect_ai.log import read_eval_log

    try:
        log = read_eval_log(path, exclude_fields=_NOT_NEEDED)
    except Exception as error:  # Inspect promises no kind for a file that is no log.
        raise DataMissingError(
            f"{path}: expected a log of Inspect, got: {type(error).__name__}: {error}. Mend: give "
            "a log (.eval), or decisions as a file .csv."
        ) from error
    return log.samples or []


def _decided(path: Path, sample: EvalSample) -> list[Rating] | None:
    """Return a sample's decisions, or None if it has no process score."""
    score = (sample.scores or {}).get(SCORER)
    found = (score.metadata or {}).get(DECISIONS) if score is not None else None
    if found is None:
        return None
    where = f"sample {sample.id} (epoch {sample.epoch})"
    task = str((sample.metadata or {}).get("task_id") or "")
    place = (task, str(sample.id), str(sample.epoch))
    if not isinstance(found, list):
        raise _malformed(path, where, found)
    return [_from_entry(path, where, place, entry) for entry in found]


def _from_entry(path: Path, where: str, place: tuple[str, str, str], entry: object) -> Rating:
    if not isinstance(entry, Mapping):
        raise _malformed(path, where, entry)
    item, status = entry.get("item_id"), entry.get("status")
    if not isinstance(item, str) or not item or not isinstance(status, str | None):
        raise _malformed(path, where, {"item_id": item, "status": status})
    return Rating(
        item=item,
        status=status or "",
        rater="",
        place=place,
        severity=str(entry.get("severity") or ""),
        by_check=entry.get("by") == "check",
        where=where,
    )


def _malformed(path: Path, where: str, found: object) -> DecisionsInvalidError:
    return DecisionsInvalidError(
        f"{path}, {where}: expected {DECISIONS} as a list of objects with a text item_id and a "
        f"text or null status, got {str(found)[:200]!r}. Mend: score the log again."
    )
