"""A 96-well plate: which well holds what, how cells answer to a dose, and the files that say so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evals.simulation.files import write_table
from evals.simulation.quantise import quantise

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ROWS = "ABCDEFGH"
COLUMNS = 12


@dataclass(frozen=True)
class Well:
    """One well.

    Attributes
    ----------
    row, column
        From 0 on, counted from the top left corner.
    line
        Cell line.
    dose
        Amount of the compound in ng/mL.
    """

    row: int
    column: int
    line: str
    dose: float

    @property
    def name(self) -> str:
        """Name as printed on the plate, `A01` to `H12`."""
        return f"{ROWS[self.row]}{self.column + 1:02d}"

    @property
    def at_rim(self) -> bool:
        """Tell whether it lies at the plate's edge, where wells dry out first."""
        return self.row in (0, len(ROWS) - 1) or self.column in (0, COLUMNS - 1)

    def picture(self, channel: int) -> str:
        """Return the name of its picture in a channel."""
        number = self.row * COLUMNS + self.column + 1
        letter = ROWS[self.row]
        return f"Channel {channel}-{number:02d}-{letter}-{self.column + 1:02d}-00.bmp"


@dataclass(frozen=True)
class Response:
    """How the ratio of a signal in nucleus and cytoplasm follows the dose: a Hill curve.

    Attributes
    ----------
    rest
        Ratio without the compound.
    gain
        What a saturating dose adds; negative: the signal leaves the nucleus.
    half_ng_ml
        Dose of half the effect.
    dip
        Share by which the lowest doses lie below the control.
    """

    rest: float
    gain: float
    half_ng_ml: float = 0.4
    dip: float = 0.06

    def ratio(self, dose: float) -> float:
        """Return the mean ratio at a dose in ng/mL."""
        bound = dose**1.1 / (dose**1.1 + self.half_ng_ml**1.1)
        dipped = 1 - self.dip / (1 + (dose / 0.02) ** 2) if dose else 1.0
        return float(quantise(self.rest * dipped + self.gain * bound, 2.0**-12))


def lay_out_plate(lines: Sequence[str], doses: Sequence[float]) -> list[Well]:
    """Return the wells row by row.

    Parameters
    ----------
    lines
        Cell lines from the top down, each in an equal number of rows.
    doses
        Dose of each column.
    """
    band = len(ROWS) // len(lines)
    return [
        Well(row, column, lines[row // band], doses[column])
        for row in range(len(ROWS))
        for column in range(COLUMNS)
    ]


def write_plate(folder: Path, wells: Sequence[Well], channels: Sequence[int]) -> None:
    """Write the plate map, the doses laid out as the plate, and the list of pictures."""
    rows = [(ROWS[well.row], f"{well.column + 1:02d}", well.dose, well.line) for well in wells]
    header = ["row", "column", "dose", "cell_type"]
    write_table(folder / "BBBC014_v1_platemap_dosekey.csv", header, rows)
    by_row = [
        (letter, *(well.dose for well in wells if well.row == row))
        for row, letter in enumerate(ROWS)
    ]
    top = ["TNF-alpha (ng/mL)", *(f"{column + 1:02d}" for column in range(COLUMNS))]
    write_table(folder / "BBBC014_v1_platemap_all.txt", top, by_row, delimiter="\t")
    names = [[well.picture(channel)] for channel in channels for well in wells]
    write_table(folder / "contents_BBBC014_v1_images_filenames.txt", [], names)
