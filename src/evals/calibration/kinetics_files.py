"""Workbooks of nuclear pore kinetics, one a cell, damaged in place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.files.kinetics import CORE, METRICS, RIM
from scorers.files.limits import Limits
from scorers.files.tree import Tree
from scorers.files.workbook_writing import write_workbook
from scorers.files.workbooks import read_workbook

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from evals.calibration.doses import Pick
    from scorers.files.sheets import Cell

    Cells = NDArray[np.object_]

KILO = 1000.0
LATE_FRAMES = 20


@dataclass(frozen=True)
class Book:
    """One cell's sheet.

    Attributes
    ----------
    heading
        Names of the columns.
    cells
        Rows below it, shape (times, columns); None where there is nothing.
    """

    heading: list[str]
    cells: Cells

    def columns(self, metric: str) -> list[int]:
        """Return the columns of a metric, one a daughter nucleus."""
        names = METRICS[metric]
        return [at for at, n in enumerate(self.heading) if any(part in n.lower() for part in names)]

    def containing(self, word: str) -> list[int]:
        """Return the columns whose names hold a word."""
        return [at for at, name in enumerate(self.heading) if word in name.lower()]

    def replaced(self, columns: Sequence[int], values: Cells, hit: NDArray[np.bool_]) -> Book:
        """Return the sheet with other values in some rows of some columns."""
        cells = self.cells.copy()
        cells[np.flatnonzero(hit)[:, None], columns] = values[hit]
        return Book(self.heading, cells)


def times(folder: Path, pick: Pick, change: Callable[[Book, NDArray[np.bool_]], Book]) -> int:
    """Change rows, chosen among those of all cells; return how many."""
    books = _books(folder)
    hits = pick.hits_in([len(book.cells) for book in books.values()])
    for (path, book), hit in zip(books.items(), hits, strict=True):
        _write(path, change(book, hit))
    return int(sum(hit.sum() for hit in hits))


def cells(folder: Path, pick: Pick, change: Callable[[Book, NDArray[np.bool_]], Book]) -> int:
    """Change all rows of some cells; return how many cells."""
    books = _books(folder)
    hits = pick.hits(len(books))
    for (path, book), hit in zip(books.items(), hits, strict=True):
        _write(path, change(book, np.full(len(book.cells), hit)))
    return int(hits.sum())


def drop(book: Book, hit: NDArray[np.bool_]) -> Book:
    """Leave times out."""
    return Book(book.heading, book.cells[~hit])


def magnify(book: Book, hit: NDArray[np.bool_]) -> Book:
    """Tell totals in a unit a thousand times too small."""
    places = [*book.columns(CORE), *book.columns(RIM)]
    return book.replaced(places, _times(book.cells[:, places], KILO), hit)


def exchange_regions(book: Book, hit: NDArray[np.bool_]) -> Book:
    """Call the core the rim and the rim the core."""
    core, rim = book.columns(CORE), book.columns(RIM)
    return book.replaced([*core, *rim], book.cells[:, [*rim, *core]], hit)


def exchange_daughters(book: Book, hit: NDArray[np.bool_]) -> Book:
    """Call one daughter the other."""
    places = [*book.columns(CORE), *book.columns(RIM)]
    other = [*book.columns(CORE)[::-1], *book.columns(RIM)[::-1]]
    return book.replaced(places, book.cells[:, other], hit)


def count_from_one(book: Book, hit: NDArray[np.bool_]) -> Book:
    """Count time points from 1."""
    places = book.containing("point")
    return book.replaced(places, _plus(book.cells[:, places], 1), hit)


def delay(book: Book, hit: NDArray[np.bool_]) -> Book:
    """Say that anaphase began later: its frame by twenty, all times earlier by as much."""
    places = book.containing("anaphase")
    time = _numbers(book.cells[:, places])
    step = float(np.nanmedian(np.diff(time, axis=0)))
    return book.replaced(places, _plus(book.cells[:, places], -LATE_FRAMES * step), hit)


def _times(cells: Cells, factor: float) -> Cells:
    return _told(_numbers(cells) * factor)


def _plus(cells: Cells, term: float) -> Cells:
    return _told(_numbers(cells) + term)


def _numbers(cells: Cells) -> NDArray[np.float64]:
    return cells.astype(np.float64)  # None becomes nan


def _told(numbers: NDArray[np.float64]) -> Cells:
    told: Cells = numbers.astype(object)
    told[np.isnan(numbers)] = None
    return told


def _books(folder: Path) -> dict[Path, Book]:
    limits = Limits()
    with Tree(folder, limits) as tree:
        sheets = {folder / str(f.path): read_workbook(f, limits)[0].rows for f in tree.files}
    return {path: _book(rows) for path, rows in sorted(sheets.items())}


def _book(rows: Sequence[tuple[Cell, ...]]) -> Book:
    heading = ["" if name is None else str(name) for name in rows[0]]
    body: Any = [[*row, *[None] * (len(heading) - len(row))] for row in rows[1:]]
    return Book(heading, np.array(body, object).reshape(len(body), len(heading)))


def _write(path: Path, book: Book) -> None:
    write_workbook(path, {path.stem: [book.heading, *book.cells.tolist()]})
