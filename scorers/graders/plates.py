"""Plates: which well holds what, and its ratio, from a capsule's own files."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.columns import Columns, read_columns
from scorers.files.tree import reference_tree

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from scorers.contract import Job

TRUTH = "truth_per_well.csv"
_HEADER = ("well", "cell_type", "dose", "mean_nuc_over_cyto_ratio")
_WELL = re.compile(r"([A-Za-z]{1,2})[ _-]?0*([1-9][0-9]{0,2})")


@dataclass(frozen=True)
class Plate:
    """Wells with what is in them.

    Attributes
    ----------
    well
        Names such as `A01`, see `well_name`.
    cell_type, dose
        Of each well.
    ratio
        Nuclear over cytoplasmic intensity, shape (n,).
    """

    well: list[str]
    cell_type: list[str]
    dose: NDArray[np.float64]
    ratio: NDArray[np.float64]


def well_name(text: str) -> str | None:
    """Return a well's name in one spelling, `A01` for `a1`, `A-01` and the like; else None."""
    found = _WELL.fullmatch(text.strip())
    return f"{found.group(1).upper()}{int(found.group(2)):02d}" if found else None


def well_place(name: str) -> tuple[int, int]:
    """Return row and column, both from 0 on, of a well in the spelling of `well_name`."""
    letters, digits = name.rstrip("0123456789"), name.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    row = 0
    for letter in letters:
        row = row * 26 + ord(letter) - ord("A") + 1
    return row - 1, int(digits) - 1


def read_truth(job: Job) -> Plate | None:
    """Return the true ratios of `evaluation/truth_per_well.csv`, None where the capsule has none.

    Raises
    ------
    CapsuleFault
        The file is there but does not give each well once, with a ratio above 0.
    """
    if job.reference_dir is None:
        return None
    table = _table(job, job.reference_dir, TRUTH)
    if table is None:
        return None
    well, cell_type, dose, ratio = (table.place(name) for name in _HEADER)
    names = [well_name(text) for text in table.texts(well)]
    known = [name for name in names if name is not None]
    plate = Plate(known, table.texts(cell_type), table.numbers(dose), table.numbers(ratio))
    sound = np.isfinite(plate.ratio).all() and (plate.ratio > 0).all()
    if not known or len(set(known)) < len(table) or not sound:
        raise CapsuleFault(
            f"evaluation/{TRUTH}: expected the columns {', '.join(_HEADER)}, each well once, "
            f"ratios above 0; got {len(set(known))} wells in {len(table)} rows"
        )
    return plate


def read_plate_map(job: Job) -> Plate:
    """Return the plate as `input/` describes it, or else the truth's wells; ratios are `nan`.

    The map is the CSV of `input/` with a column for each of row, column, dose and cell type.

    Raises
    ------
    CapsuleFault
        There is neither.
    """
    if job.input_dir is not None:
        with reference_tree(job.input_dir, job.limits) as tree:
            names = [str(file.path) for file in tree.files if file.suffix == ".csv"]
        for name in names:
            plate = _mapped(_table(job, job.input_dir, name))
            if plate is not None:
                return plate
    truth = read_truth(job)
    if truth is None:
        raise CapsuleFault(
            f"{job.task_dir.name}: the wells are not known: expected a CSV in input/ with columns "
            f"for row, column, dose and cell type, or evaluation/{TRUTH}; got neither"
        )
    return Plate(truth.well, truth.cell_type, truth.dose, np.full(len(truth.well), np.nan))


def write_wells(path: Path, plate: Plate) -> None:
    """Write a plate as the table of wells that is to be delivered."""
    with path.open("w", encoding="utf-8", newline="") as opened:
        table = csv.writer(opened, lineterminator="\n")
        table.writerow(_HEADER)
        table.writerows(
            zip(plate.well, plate.cell_type, plate.dose.tolist(), plate.ratio.tolist(), strict=True)
        )


def _mapped(table: Columns | None) -> Plate | None:
    """Return a plate map, None if the table is none."""
    if table is None:
        return None
    words = ("row", "col", "dose", "cell")
    places = [
        next((at for at, name in enumerate(table.names) if word in name.lower()), None)
        for word in words
    ]
    if None in places:
        return None
    row, column, _, cell_type = (table.texts(place) for place in places)
    dose = table.numbers(places[2])
    names = [well_name(f"{letter}{digits}") for letter, digits in zip(row, column, strict=True)]
    kept = [at for at, name in enumerate(names) if name is not None and np.isfinite(dose[at])]
    if not kept:
        return None
    return Plate(
        [names[at] or "" for at in kept],
        [cell_type[at] for at in kept],
        dose[kept],
        np.full(len(kept), np.nan),
    )


def _table(job: Job, folder: Path, name: str) -> Columns | None:
    with reference_tree(folder, job.limits) as tree:
        file = next((file for file in tree.files if str(file.path) == name), None)
        if file is None:
            return None
        try:
            return read_columns(file, job.limits.for_references())
        except SubmissionFault as fault:
            raise CapsuleFault(f"{folder.name}/{name}: {fault}") from fault
