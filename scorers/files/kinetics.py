"""Tables of nuclear pore kinetics: one row a time, columns for each daughter nucleus."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.errors import SubmissionFault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorers.files.sheets import Cell

TIME = "time after anaphase onset (min)"
CORE, RIM = "normalized_total_innercore", "normalized_total_noncore"
METRICS = {
    "volume_nucleus": ("volume_nucleus",),
    "surface_area_nucleus": ("surfacearea_nucleus", "surface_area_nucleus"),
    CORE: ("normalized_total_intensity_innercore", "normalized_total_innercore"),
    RIM: ("normalized_total_intensity_noncore", "normalized_total_noncore"),
}
_FRAMES = frozenset({"frame", "time_point", "timepoint"})
_LONGEST_ONSET = 0.5


@dataclass(frozen=True)
class Kinetics:
    """One cell's table; `nan` where a cell holds no number.

    Attributes
    ----------
    time
        Minutes after anaphase onset, float64, shape (rows,).
    frame
        Shape (rows,).
    values
        By metric, shape (rows, columns): all fitting columns, usually one a daughter.
    """

    time: NDArray[np.float64]
    frame: NDArray[np.float64]
    values: dict[str, NDArray[np.float64]]

    @property
    def onset(self) -> float | None:
        """The frame of the row nearest to time 0, the first of equals; None if that is far."""
        known = np.flatnonzero(np.isfinite(self.time) & np.isfinite(self.frame))
        if not len(known):
            return None
        nearest = known[np.argmin(np.abs(self.time[known]))]
        if abs(self.time[nearest]) > _LONGEST_ONSET:
            return None
        return float(self.frame[nearest])

    def series(self, metric: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return times and values of all columns of a metric as one series, in order of time.

        Values of one time stay in the order of rows, then columns.
        """
        values = self.values.get(metric)
        if values is None:
            return np.zeros(0), np.zeros(0)
        row, column = np.nonzero(np.isfinite(values) & np.isfinite(self.time)[:, None])
        order = np.argsort(self.time[row], kind="stable")
        return self.time[row][order], values[row, column][order]


def fits(heading: Sequence[Cell]) -> bool:
    """Return whether a first row is that of a table of kinetics."""
    names = _named(heading)
    return _time_column(names) is not None and any(_columns(names, m) for m in METRICS)


def parse_kinetics(rows: Sequence[Sequence[Cell]], most_cells: int) -> Kinetics | None:
    """Take a table apart by the published rules; None if it is none of kinetics.

    Names of columns count without case and blanks at the ends.

    Raises
    ------
    SubmissionFault
        It would hold more than `most_cells` values.
    """
    if not rows or not fits(rows[0]):
        return None
    names = _named(rows[0])
    time = _time_column(names)
    frame = next(
        (at for at, name in enumerate(names) if at != time and _is_frame(name)),
        None,
    )
    columns = {metric: _columns(names, metric) for metric in METRICS}
    body = rows[1:]
    if len(body) * sum(map(len, columns.values())) > most_cells:
        raise SubmissionFault(f"a table of more than {most_cells} values")
    return Kinetics(
        _numbers(body, time),
        _numbers(body, frame),
        {
            metric: np.stack([_numbers(body, at) for at in places], axis=1)
            for metric, places in columns.items()
            if places
        },
    )


def _named(heading: Sequence[Cell]) -> list[str]:
    return ["" if cell is None else str(cell).strip().lower() for cell in heading]


def _time_column(names: Sequence[str]) -> int | None:
    if TIME in names:
        return names.index(TIME)
    return next((at for at, n in enumerate(names) if "time" in n and "anaphase" in n), None)


def _is_frame(name: str) -> bool:
    return ("time" in name and "point" in name) or name in _FRAMES


def _columns(names: Sequence[str], metric: str) -> list[int]:
    return [at for at, name in enumerate(names) if any(part in name for part in METRICS[metric])]


def _numbers(rows: Sequence[Sequence[Cell]], at: int | None) -> NDArray[np.float64]:
    if at is None:
        return np.full(len(rows), math.nan)
    return np.array([_number(row[at]) if at < len(row) else math.nan for row in rows], np.float64)


def _number(cell: Cell) -> float:
    try:
        return math.nan if cell is None else float(cell)
    except ValueError:
        return math.nan
