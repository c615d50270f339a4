"""The table of what was scored: one row a submission, written as it comes."""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass, fields
from typing import IO, TYPE_CHECKING, Any

from evals.errors import DataMissingError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from types import TracebackType
    from typing import Self

Key = tuple[str, str, float, int, str, str, float | None, str, str]


@dataclass(frozen=True)
class Record:
    """One submission and its scores.

    Attributes:
        task: Task id.
        family: Of the grader.
        dims: Dimensions asked for, empty for the task's own.
        difficulty: 0 (easy) to 1 (hard).
        seed: Of the capsule.
        agent: `oracle`, `baseline`, `naive` or `perturbed`.
        kind: Of the naive agent, or of the damage.
        dose: Share of the items that are damaged.
        outcome: The published score after the deliverable gate, None if we failed.
        strict: The strict score, None where it is not available.
        seconds: Wall time of making the submission.
        scale: Size of the edition.
        data: Beginning of the hash of the capsule, for a baseline with its solution.
        note: What went wrong.
    """

    task: str
    family: str
    dims: str
    difficulty: float
    seed: int
    agent: str
    kind: str
    dose: float | None
    outcome: float | None
    strict: float | None
    seconds: float
    scale: str
    data: str
    note: str = ""

    @property
    def key(self) -> Key:
        """What was scored, whatever the scores are."""
        return (
            self.task,
            self.dims,
            self.difficulty,
            self.seed,
            self.agent,
            self.kind,
            self.dose,
            self.scale,
            self.data,
        )


COLUMNS = tuple(field.name for field in fields(Record))
_NUMBERS = {"difficulty": float, "seed": int, "seconds": float}
_PERHAPS = ("dose", "outcome", "strict")


class Records:
    """A CSV file of records, to which rows are added; what it holds already is known."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        _trim(path)
        self.rows = read_records(path)
        self._file: IO[str] = path.open("a", encoding="utf-8", newline="")
        self._writer = csv.DictWriter(self._file, COLUMNS, lineterminator="\n")
        if not path.stat().st_size:
            self._writer.writeheader()
        # What failed for a fault of ours is tried again.
        self._known = {row.key for row in self.rows if row.outcome is not None}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()

    def __contains__(self, key: Key) -> bool:
        return key in self._known

    def add(self, record: Record) -> None:
        """Write a row, so that it is there whatever happens next."""
        self._writer.writerow(asdict(record) | {"note": " ".join(record.note.split())})
        self._file.flush()
        self.rows.append(record)
        self._known.add(record.key)


def read_records(path: Path) -> list[Record]:
    """Read a table of records.

    Raises:
        DataMissingError: The file is no such table.
    """
    if not path.is_file() or not path.stat().st_size:
        return []
    with path.open(encoding="utf-8", newline="") as opened:
        table = csv.DictReader(opened)
        if tuple(table.fieldnames or ()) != COLUMNS:
            raise DataMissingError(
                f"{path}: expected a table with the columns {', '.join(COLUMNS)}, got "
                f"{', '.join(table.fieldnames or ()) or 'none'}. Mend: give another --output."
            )
        return [_record(row) for row in table]


def latest(rows: Iterable[Record]) -> list[Record]:
    """Return the rows with scores; of several for one capsule's place the last counts.

    So rows of an older version of a task are left out once there are new ones.
    """
    kept: dict[tuple[Any, ...], Record] = {}
    for row in rows:
        if row.outcome is not None:
            kept[row.key[:7]] = row
    return list(kept.values())


def unscored(rows: Iterable[Record]) -> list[Record]:
    """Return the rows that failed for a fault of ours and were not scored later."""
    rows = list(rows)
    scored = {row.key for row in rows if row.outcome is not None}
    failed = {row.key: row for row in rows if row.key not in scored}
    return list(failed.values())


def _record(row: dict[str, str]) -> Record:
    values: dict[str, Any] = dict(row)
    values |= {name: kind(row[name]) for name, kind in _NUMBERS.items()}
    values |= {name: float(row[name]) if row[name] else None for name in _PERHAPS}
    return Record(**values)


def _trim(path: Path) -> None:
    """Cut off a last line that a killed run did not finish."""
    if path.is_file():
        content = path.read_bytes()
        if content and not content.endswith(b"\n"):
            path.write_bytes(content[: content.rfind(b"\n") + 1])
