"""What checks look at: a submission, its declared deliverables, the input and the specification."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Self, TypeVar

from scorers.errors import SubmissionFault
from scorers.files.calibration import pixel_size, voxel_size
from scorers.files.columns import Columns, read_columns
from scorers.files.deliverables import resolve
from scorers.files.images import TIFF_SUFFIXES
from scorers.files.tree import reference_tree
from scorers.files.workbooks import read_workbook

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from scorers.files.deliverables import Resolution
    from scorers.files.limits import Limits
    from scorers.files.tree import SubmittedFile, Tree
    from scorers.specification import Deliverable, TaskSpec

Told = TypeVar("Told")

IMAGE_SUFFIXES = TIFF_SUFFIXES | {".png", ".jpg", ".jpeg", ".bmp"}
_TABLE_SUFFIXES = frozenset({".csv", ".xlsx"})
_MOST_TABLES = 40
_MOST_ASKED = 24
_TABLE_BYTES = 16 * 2**20
_INSTANCES, _BINARY = re.compile(r"instance|label"), re.compile(r"binary")
_TELLS_PIXEL_SIZE = re.compile(
    r"(?:pixel|voxel)[\s_-]?sizes?|\d\s?(?:µm|um|nm)\s?(?:/|per|×|x)|(?:pixel|voxel)s?\s(?:is|are|of)"
    r"\s[\d.]+",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Scene:
    """A submission and what it answers to; what is read once is kept.

    Attributes
    ----------
    input_after
        SHA-256 of the agent's own input files by path when it had ended, where the run took them.
    """

    def __init__(
        self,
        spec: TaskSpec,
        submission: Tree,
        input_dir: Path | None,
        limits: Limits,
        input_after: Mapping[str, str] | None = None,
    ) -> None:
        self.spec = spec
        self.submission = submission
        self.limits = limits
        self.input_after = input_after
        self._input = None if input_dir is None else reference_tree(input_dir, limits)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._input is not None:
            self._input.close()

    @property
    def inputs(self) -> tuple[SubmittedFile, ...]:
        """All files of the input."""
        return self._input.files if self._input is not None else ()

    @property
    def input_images(self) -> tuple[SubmittedFile, ...]:
        """Those that are images."""
        return tuple(file for file in self.inputs if file.suffix in IMAGE_SUFFIXES)

    @cached_property
    def resolution(self) -> Resolution:
        """Which file is which deliverable."""
        return resolve(self.spec, self.submission, self.limits)

    def delivered(self, deliverable: Deliverable) -> tuple[SubmittedFile, ...]:
        """Return the files of one deliverable."""
        return self.resolution.found.get(deliverable.id, ())

    def tells(self, key: str) -> str:
        """Return what the specification says of the input under a key, lower-cased."""
        return str(self.spec.input.get(key, "")).lower()

    @property
    def volumes(self) -> bool:
        """Whether images have a depth."""
        return self.tells("spatial_dimensions").startswith("3d")

    @property
    def movies(self) -> bool:
        """Whether images follow each other in time."""
        return "time" in self.tells("temporal_dimension")

    @property
    def n_channels(self) -> int | None:
        """Number of channels, as far as the specification says."""
        told = self.spec.input.get("n_channels")
        return told if isinstance(told, int) and not isinstance(told, bool) else None

    @cached_property
    def masks(self) -> list[tuple[SubmittedFile, str]]:
        """Delivered images of objects, each with the form asked for: `instance` or `binary`."""
        found: list[tuple[SubmittedFile, str]] = []
        for deliverable in self.spec.deliverables:
            form = form_asked(deliverable)
            if form:
                found += [
                    (file, form)
                    for file in self.delivered(deliverable)
                    if file.suffix in IMAGE_SUFFIXES
                ]
        return found

    @cached_property
    def tables(self) -> list[tuple[SubmittedFile, Columns]]:
        """Tables of the submission that can be read, each sheet of a workbook as one."""
        found: list[tuple[SubmittedFile, Columns]] = []
        files = [file for file in self.submission.files if file.suffix in _TABLE_SUFFIXES]
        for file in files[:_MOST_TABLES]:
            if file.size > _TABLE_BYTES:
                continue
            try:
                found += [(file, table) for table in self._read_table(file)]
            except SubmissionFault:
                continue
        return found

    def _read_table(self, file: SubmittedFile) -> list[Columns]:
        if file.suffix == ".csv":
            return [read_columns(file, self.limits)]
        return [
            Columns(
                [_text(cell).strip() for cell in sheet.rows[0]],
                [[_text(cell) for cell in row] for row in sheet.rows[1:] if row],
            )
            for sheet in read_workbook(file, self.limits)
            if sheet.rows
        ]

    @cached_property
    def pixel_um(self) -> float | None:
        """Width of a pixel in µm: as the input's files tell it, else the specification.

        None if nothing does, or if files differ.
        """
        told = self._told_by_inputs(pixel_size)
        if len(told) > 1:
            return None
        return next(iter(told), None) or next(_pixel_sizes(self.spec.input), None)

    def unit_um(self, power: int) -> float | None:
        """Return the area (2) or the volume (3) of a pixel in µm; None as for `pixel_um`."""
        if power == 2:
            return None if self.pixel_um is None else self.pixel_um**2
        told = self._told_by_inputs(voxel_size)
        return math.prod(next(iter(told))) if len(told) == 1 else None

    def _told_by_inputs(self, read: Callable[[SubmittedFile, Limits], Told | None]) -> set[Told]:
        found: set[Told] = set()
        tiffs = [file for file in self.input_images if file.suffix in TIFF_SUFFIXES]
        for file in tiffs[:_MOST_ASKED]:
            with suppress(SubmissionFault):
                told = read(file, self.limits)
                found |= {told} if told is not None else set()
        return found

    @property
    def pixel_size_told(self) -> bool:
        """Whether anything the agent was given may tell the size of a pixel."""
        logic = self.spec.task_logic
        said = f"{self.spec.input} {logic.basic_instructions} {logic.expert_instructions}"
        return self.pixel_um is not None or bool(_TELLS_PIXEL_SIZE.search(said))


def form_asked(deliverable: Deliverable) -> str:
    """Return what an image of objects should be, `instance` or `binary`; empty for other files."""
    pattern = deliverable.filename_pattern.lower().rstrip("*?")
    if PurePosixPath(pattern).suffix not in IMAGE_SUFFIXES:
        return ""
    told = (deliverable.format or "").lower()
    if _BINARY.search(told):
        return "binary"
    return "instance" if _INSTANCES.search(told) else ""


def _pixel_sizes(told: Any) -> Iterator[float]:
    """Yield what a mapping says of the width of a pixel, in µm."""
    if not isinstance(told, dict):
        return
    for key, value in told.items():
        name = str(key).lower()
        if isinstance(value, dict):
            yield from _pixel_sizes(value)
        elif re.fullmatch(r"(?:pixel|voxel)_size(?:_xy)?_(?:um|nm)", name):
            number = _NUMBER.search(str(value))
            size = float(number[0]) if number else 0.0
            if 0 < size < math.inf:
                yield size / 1000 if name.endswith("nm") else size


def _text(cell: object) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell)
