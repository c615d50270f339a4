"""The table of a puncta submission and its reference, image by image."""

from __future__ import annotations

import math
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.nuclei import CONDITION, COUNT, IMAGE, PLACE, SIZES, read_nuclei
from scorers.files.tree import reference_tree

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from numpy.typing import NDArray

    from scorers.contract import Job
    from scorers.files.nuclei import NucleusTable
    from scorers.files.tree import SubmittedFile

    Key = tuple[str, str]

DELIVERABLE = "cell_quants"
_NAME = "cell_quants.csv"


@dataclass(frozen=True)
class Nuclei:
    """The nuclei of one image.

    Attributes
    ----------
    place
        Centroids in voxels, shape (n, 3): z, y, x.
    count
        Numbers of puncta, shape (n,).
    name
        The image as its first row spells it, without folders.
    """

    place: NDArray[np.float64]
    count: NDArray[np.float64]
    name: str

    def __len__(self) -> int:
        return len(self.count)


NOBODY = Nuclei(np.zeros((0, 3)), np.zeros(0), "")


def by_image(table: NucleusTable) -> dict[Key, Nuclei]:
    """Return the usable rows by condition and image, in the order of these keys."""
    return _grouped(table, _keys(table))


def by_known_image(
    table: NucleusTable, known: Collection[Key]
) -> tuple[dict[Key, Nuclei], dict[str, NDArray[np.float64]]]:
    """Return the usable rows of known images, and the counts of all others by condition.

    Conditions that no known image has are taken together, under an empty name.
    """
    conditions = {condition for condition, _ in known}
    keys = _keys(table)
    groups = _grouped(table, {row: key for row, key in keys.items() if key in known})
    others: dict[str, list[int]] = {}
    for row, key in keys.items():
        if key not in known:
            others.setdefault(key[0] if key[0] in conditions else "", []).append(row)
    counts = table.numbers[COUNT]
    return groups, {condition: counts[rows] for condition, rows in others.items()}


def _keys(table: NucleusTable) -> dict[int, Key]:
    rows = np.flatnonzero(table.is_nucleus).tolist()
    return {row: (table.condition[row], table.image[row]) for row in rows}


def _grouped(table: NucleusTable, keys: dict[int, Key]) -> dict[Key, Nuclei]:
    if not keys:
        return {}
    places, counts = table.place, table.numbers[COUNT]
    known = sorted(set(keys.values()))
    number = {key: at for at, key in enumerate(known)}
    rows = np.array([*keys])
    group = np.array([number[key] for key in keys.values()])
    order = np.argsort(group, kind="stable")
    parts = np.split(rows[order], np.flatnonzero(np.diff(group[order])) + 1)
    return {
        key: Nuclei(places[part], counts[part], _base(table.named[part[0]]))
        for key, part in zip(known, parts, strict=True)
    }


def voxel_edge(table: NucleusTable) -> float | None:
    """Return the edge in µm of a cube as large as a voxel, as the published matching has it.

    From the upper median of the nuclei's volumes in µm³ over those in voxels; None without them.
    """
    size, voxels = (table.numbers[name] for name in SIZES)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        ratio = (size / voxels)[(size > 0) & (voxels > 0)]
    if not len(ratio):
        return None
    return math.cbrt(np.sort(ratio)[len(ratio) // 2])


def reference_file(job: Job) -> SubmittedFile | None:
    """Return the reference's table, the least deep of those named so; None if there is none."""
    if job.reference_dir is None:
        raise CapsuleFault(f"evaluation/ is missing: expected {_NAME}, one row a nucleus")
    files = reference_tree(job.reference_dir, job.limits).files
    tables = [file for file in files if file.path.suffix == ".csv"]
    exact = [file for file in tables if file.name == _NAME]
    alike = [file for file in tables if DELIVERABLE in file.name]
    return min(exact or alike, key=lambda file: len(file.path.parts), default=None)


def read_reference(file: SubmittedFile, job: Job) -> NucleusTable:
    """Read the reference's table, or raise `CapsuleFault`."""
    try:
        return read_nuclei(file, job.limits.for_references())
    except SubmissionFault as fault:
        raise CapsuleFault(f"evaluation/{file.path}: {fault}; mend or replace it") from fault


def perfect(job: Job, out: Path) -> None:
    """Write the reference's table, byte for byte."""
    file = reference_file(job)
    if file is None:
        raise CapsuleFault(f"evaluation/ lacks {_NAME}: nothing to lay out as deliverables")
    with file.open() as source, (out / _NAME).open("wb") as target:
        shutil.copyfileobj(source, target)


def blank(job: Job, out: Path) -> None:
    """Write a table of no nucleus."""
    heading = ",".join([CONDITION, IMAGE, *PLACE, COUNT])
    (out / _NAME).write_text(f"{heading}\n", encoding="utf-8")


def _base(name: str) -> str:
    return name.replace("\\", "/").rpartition("/")[2]
