"""Excel workbooks (.xlsx): the values of their sheets, and nothing else of what they may hold.

A workbook is a zip archive of XML files. They are read as streams here rather than by a library
that builds all of it in memory: a kilobyte of archive can hold gigabytes of cells. Formulas are
never computed and links to other files never followed; what the workbook stores as the value of
such a cell counts, if it does. Of merged cells the first holds the value. Dates are text.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorers.errors import SubmissionFault
from scorers.files.archives import Archive
from scorers.files.limits import Limits
from scorers.files.markup import read_elements
from scorers.files.sheets import Budget, Cell, SharedStrings, SheetCells, Styles

if TYPE_CHECKING:
    from scorers.files.markup import Elements
    from scorers.files.tree import SubmittedFile

DEFAULT = Limits()
_ROOT = "_rels/.rels"
_USUAL_BOOK = "xl/workbook.xml"
_LONGEST_NAME = 255


@dataclass(frozen=True)
class Sheet:
    """One sheet: its name and its rows from the first on, each as long as its last value."""

    name: str
    rows: list[tuple[Cell, ...]]


def read_workbook(file: SubmittedFile, limits: Limits = DEFAULT) -> list[Sheet]:
    """Read the values of all sheets, in the order of the workbook.

    Returns
    -------
    list of Sheet
        Numbers are floats, truth values bools, all else text; None is an empty cell. A number may
        be infinite or not a number where the file says so.

    Raises
    ------
    SubmissionFault
        The file is no workbook that can be read, or is beyond the limits on the archive, sheets,
        rows, columns, cells or the length of a cell.
    """
    try:
        with Archive(file, limits) as archive:
            return _Book(archive, limits).sheets()
    except SubmissionFault as fault:
        said = str(fault)
        raise SubmissionFault(said if str(file.path) in said else f"{file.path} {said}") from fault
    except MemoryError:
        raise
    except Exception as fault:
        # The parsers meet whatever an agent wrote; all of it means the same.
        reason = f"{type(fault).__name__}: {fault}"[:200]
        raise SubmissionFault(f"{file.path} is unreadable: {reason}") from fault


class _Book:
    def __init__(self, archive: Archive, limits: Limits) -> None:
        self._archive = archive
        self._limits = limits

    def sheets(self) -> list[Sheet]:
        place = next(
            (target for kind, target in self._links("").values() if kind == "officeDocument"),
            _USUAL_BOOK,
        )
        named = _Named(self._limits.sheets)
        self._read(place, named)
        links = self._links(place)
        strings = SharedStrings(self._limits.cells)
        styles = Styles(from_1904=named.from_1904)
        for kind, target in links.values():
            if kind == "sharedStrings":
                self._read(target, strings)
            elif kind == "styles" and target in self._archive.names:
                self._read(target, styles)
        budget = Budget(self._limits.rows, self._limits.cells)
        found: list[Sheet] = []
        for name, link in named.sheets:
            kind, target = links.get(link, ("", ""))
            if kind == "worksheet" and target in self._archive.names:
                cells = SheetCells(strings.values, styles, budget, self._limits.columns)
                self._read(target, cells)
                found.append(Sheet(name, cells.rows))
        return found

    def _links(self, part: str) -> dict[str, tuple[str, str]]:
        """Return what a part (`""`: the workbook as a whole) links to inside of the archive."""
        folder, name = posixpath.split(part)
        place = posixpath.join(folder, "_rels", f"{name}.rels") if part else _ROOT
        links = _Links(folder)
        if place in self._archive.names:
            self._read(place, links)
        return links.found

    def _read(self, name: str, elements: Elements) -> None:
        if name not in self._archive.names:
            raise SubmissionFault(f"is no workbook: it lacks {name[:100]!r}")
        read_elements(self._archive.pieces(name), elements, self._limits.cell_chars)


class _Links:
    """Relationships: kind and target by their ids, without those that lead out of the file."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.found: dict[str, tuple[str, str]] = {}

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        if name != "Relationship" or attributes.get("TargetMode") == "External":
            return
        target = attributes.get("Target", "")
        if not target.startswith("/"):
            target = posixpath.join(self._folder, target)
        kind = attributes.get("Type", "").rpartition("/")[2]
        self.found[attributes.get("Id", "")] = (kind, posixpath.normpath(target).lstrip("/"))

    def finish(self, name: str, text: str) -> None:
        """Do nothing."""


class _Named:
    """The list of sheets: names and ids of their links."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.sheets: list[tuple[str, str]] = []
        self.from_1904 = False

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        if name == "workbookPr":
            self.from_1904 = attributes.get("date1904") in {"1", "true"}
        elif name == "sheet":
            if len(self.sheets) == self._most:
                raise SubmissionFault(f"has more than {self._most} sheets")
            title = attributes.get("name", "")
            if len(title) > _LONGEST_NAME:
                raise SubmissionFault(f"has a sheet with a name of {len(title)} characters")
            self.sheets.append((title, attributes.get("id", "")))

    def finish(self, name: str, text: str) -> None:
        """Do nothing."""
