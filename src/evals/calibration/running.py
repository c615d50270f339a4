"""The calibration itself: every agent on every capsule, two at a time, and taken up again."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evals.calibration.agents import BASELINE, Piece, Scored, agents_for, score
from evals.calibration.records import Record, Records
from evals.calibration.solving import THREADS, end_solutions
from evals.data.hashing import file_hash
from evals.data.recipe import Recipe
from evals.edition import open_edition
from scorers.graders import family_for
from scorers.pool import Lost, run_many

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.progress import Progress

    from evals.data.recipe import Dims, Scale

RECORDS = "records.csv"
PROCESSES = 2
SOLUTION_SECONDS = 600.0
GRADING_SECONDS = 900.0
_HASH_CHARS = 12
_NOTHING = Scored(None, None, 0.0)

Damaged = Literal["every", "middle", "none"]


@dataclass(frozen=True)
class Plan:
    """What to calibrate on.

    Attributes:
        tasks: Ids or patterns, None for all.
        seeds: How many, from 0 on.
        difficulties: From 0 (easy) to 1 (hard).
        dims: Siblings with these dimensions; None stands for the tasks themselves.
        scale: Size of the editions.
        damaged: At which difficulties references are damaged; they hardly change with it.
        tasks_root: The folder of task folders, by default the ones that ship.
    """

    tasks: Sequence[str] | None = None
    seeds: int = 5
    difficulties: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 1.0)
    dims: Sequence[Dims | None] = (None,)
    scale: Scale = "quick"
    damaged: Damaged = "every"
    tasks_root: Path | None = None

    def is_damaged(self, difficulty: float) -> bool:
        """Return whether references are damaged at a difficulty."""
        middle = sorted(self.difficulties)[len(self.difficulties) // 2]
        return self.damaged == "every" or (self.damaged == "middle" and difficulty == middle)


def calibrate(
    plan: Plan, output: Path, *, seconds: float = SOLUTION_SECONDS, processes: int = PROCESSES
) -> list[Record]:
    """Score every agent of a plan and write `records.csv` in a folder; return its rows.

    Rows that are there are not run again, unless the capsule or its solution has changed since, or
    the row tells a fault of ours. Other graders need another folder. Ctrl-C ends everything that
    was started; what was scored stays.

    Args:
        plan: On what.
        output: The folder.
        seconds: How long a solution may take.
        processes: How many submissions are made and graded at once.
    """
    steps = [(dims, difficulty) for dims in plan.dims for difficulty in plan.difficulties]
    with (
        Records(output / RECORDS) as records,
        _display(len(steps)) as display,
        _workshop() as place,
    ):
        for dims, difficulty in steps:
            with display.paused():
                capsules = open_edition(
                    tasks=plan.tasks,
                    recipe=Recipe(difficulty=difficulty, scale=plan.scale, dims=dims),
                    replicas=plan.seeds,
                    tasks_root=plan.tasks_root,
                )
            pieces = [
                Piece(capsule, agent, capsule.seed or 0, place, seconds)
                for capsule in capsules
                for agent in agents_for(capsule, damaged=plan.is_damaged(difficulty))
            ]
            told = partial(_record, dims=dims, difficulty=difficulty, scale=plan.scale)
            missing = [piece for piece in pieces if told(piece, _NOTHING).key not in records]
            display.begin(f"difficulty {difficulty:g}, {dims or 'own dims'}", pieces, missing)
            # The solution's own limit comes first.
            most = seconds + GRADING_SECONDS
            results = run_many(score, missing, processes=processes, seconds=most)
            for at, result in results:
                scored = _NOTHING if isinstance(result, Lost) else result
                note = result.reason if isinstance(result, Lost) else scored.note
                records.add(told(missing[at], replace(scored, note=note)))
                display.advance()
            display.end()
        return records.rows


def _record(
    piece: Piece, scored: Scored, *, dims: Dims | None, difficulty: float, scale: Scale
) -> Record:
    capsule, agent = piece.capsule, piece.agent
    return Record(
        task=capsule.task_id,
        family=family_for(capsule.spec, capsule.rubric).name,
        dims=dims or "",
        difficulty=difficulty,
        seed=piece.seed,
        agent=agent.name,
        kind=agent.kind,
        dose=agent.dose,
        outcome=scored.outcome,
        strict=scored.strict,
        seconds=round(scored.seconds, 2),
        scale=scale,
        data=_data_of(piece)[:_HASH_CHARS],
        note=scored.note,
    )


def _data_of(piece: Piece) -> str:
    """Return what tells whether a row is still of what would be scored now."""
    capsule = piece.capsule
    if piece.agent.name != BASELINE or capsule.solution_dir is None:
        return capsule.data_hash
    programs = sorted(path for path in capsule.solution_dir.rglob("*") if path.is_file())
    both = [capsule.data_hash, *(file_hash(path) for path in programs)]
    return hashlib.sha256(" ".join(both).encode()).hexdigest()


@contextmanager
def _workshop() -> Iterator[Path]:
    """Give a folder for what is made; nothing in it or started from it is left."""
    with tempfile.TemporaryDirectory(prefix="evals-calibrate-", ignore_cleanup_errors=True) as name:
        try:
            yield Path(name)
        finally:
            end_solutions(Path(name))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let processes that are started count with one thread each: several run at once."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class _Display:
    """A bar for the difficulties, and one for the submissions at one of them."""

    def __init__(self, progress: Progress, steps: int) -> None:
        self._progress = progress
        self._all = progress.add_task("Calibrating", total=steps)
        self._step = progress.add_task("", visible=False)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Make room for another display."""
        self._progress.stop()
        try:
            yield
        finally:
            self._progress.start()

    def begin(self, name: str, pieces: Sequence[Piece], missing: Sequence[Piece]) -> None:
        """Begin with the submissions of one difficulty, some of which are known."""
        self._progress.reset(
            self._step,
            total=len(pieces),
            completed=len(pieces) - len(missing),
            description=f"  {name}",
            visible=True,
        )

    def advance(self) -> None:
        """One submission is scored."""
        self._progress.advance(self._step)

    def end(self) -> None:
        """One difficulty is done."""
        self._progress.advance(self._all)


@contextmanager
def _display(steps: int) -> Iterator[_Display]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeElapsedColumn as Elapsed

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Elapsed())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        yield _Display(progress, steps)
