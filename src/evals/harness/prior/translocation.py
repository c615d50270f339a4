"""Translocation: more of the factor in the nucleus the higher the dose, less so in A549 cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorers.errors import CapsuleFault
from scorers.graders.plates import Plate, read_plate_map, write_wells

if TYPE_CHECKING:
    from pathlib import Path

    from scorers.contract import Job

_AT_REST, _RISE = 0.8, 0.8
_RISE_OF_WEAKER = 0.4
_WEAKER = "a549"
_SCATTER = 0.03


def write(job: Job, out: Path) -> bool:
    """Write a saturating curve over the doses of the plate map, replicates a few per cent apart."""
    try:
        plate = read_plate_map(job)
    except CapsuleFault:
        return False
    dose = plate.dose
    positive = dose[dose > 0]
    if not len(positive):
        return False
    saturation = dose / (dose + float(np.median(positive)))
    rise = np.array([_RISE_OF_WEAKER if _WEAKER in n.lower() else _RISE for n in plate.cell_type])
    scatter = 1 + _SCATTER * np.sin(np.arange(len(dose)))
    ratio = (_AT_REST + rise * saturation) * scatter
    write_wells(out / "per_well_summary.csv", Plate(plate.well, plate.cell_type, plate.dose, ratio))
    return True
