"""Means of cytometric features by population: the reference's, a summary's, or from cells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.errors import SubmissionFault
from scorers.files.tables import read_rows
from scorers.graders.stitching_words import (
    POPULATIONS,
    Key,
    cell_type_columns,
    channel_of,
    feature_of,
    key_of_column,
    population_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from scorers.files.limits import Limits
    from scorers.files.tree import SubmittedFile


@dataclass(frozen=True)
class Mean:
    """Mean of a feature over one population, and its standard deviation where it is known."""

    mean: float
    sd: float | None = None


Means = dict[Key, dict[str, Mean]]


@dataclass(frozen=True)
class Reference:
    """The published table: means, and the effect sizes that came with them."""

    means: Means
    effect: dict[Key, float]


class OverlongRow(SubmissionFault):
    """A row with more cells than the header has; the published reader falls over it."""


def complete(means: Means) -> list[Key]:
    """Return the keys for which both populations have a mean, in order."""
    return sorted(key for key, each in means.items() if all(p in each for p in POPULATIONS))


def read_reference(file: SubmittedFile, limits: Limits) -> Reference:
    """Read the reference table: `Feature`, `WBC_Mean`, `MCF7_Mean`, and `D` if it is there."""
    header, rows = _table(file, limits)
    place = {name.strip(): index for index, name in enumerate(header)}
    reference = Reference({}, {})
    for row in rows:
        text = _cell(row, place.get("Feature"))
        channel, feature = channel_of((text.split() or [""])[0]), feature_of(text)
        if channel is None or feature is None:
            continue
        found = {name: number(_cell(row, place.get(f"{name}_Mean"))) for name in POPULATIONS}
        means = {name: Mean(value) for name, value in found.items() if value is not None}
        if not means:
            continue
        reference.means[channel, feature] = means
        effect = number(_cell(row, place.get("D")))
        if effect is not None:
            reference.effect[channel, feature] = effect
    return reference


def read_summary(file: SubmittedFile, limits: Limits) -> Means:
    """Read a summary with one row for each population, channel and feature; the last row counts.

    Raises
    ------
    SubmissionFault
        The file cannot be read.
    OverlongRow
        A row has more cells than the header.
    """
    header, rows = _table(file, limits)
    place = {name.strip().lower(): index for index, name in enumerate(header)}
    means: Means = {}
    for row in rows:
        text = {name: _cell(row, place.get(name)) for name in ("population", "channel", "feature")}
        population = population_of(text["population"])
        channel, feature = channel_of(text["channel"]), feature_of(text["feature"])
        mean = number(_cell(row, place.get("mean")))
        if population is None or channel is None or feature is None or mean is None:
            continue
        sd = number(_cell(row, place.get("sd")))
        means.setdefault((channel, feature), {})[population] = Mean(mean, sd)
    return means


def read_cells(file: SubmittedFile, limits: Limits) -> Means:
    """Derive means and standard deviations (n - 1) from a table of single cells.

    Raises
    ------
    SubmissionFault
        The file cannot be read.
    OverlongRow
        A row has more cells than the header.
    """
    header, rows = _table(file, limits)
    types = cell_type_columns(header)
    kinds = np.array([_population(row, types) for row in rows], dtype="U8")
    columns: dict[Key, list[int]] = {}
    for index, name in enumerate(header):
        key = None if index in types else key_of_column(name)
        if key is not None:
            columns.setdefault(key, []).append(index)
    means: Means = {}
    for key, places in columns.items():
        values = np.concatenate([_column(rows, place) for place in places])
        owner = np.tile(kinds, len(places))
        for population in POPULATIONS:
            own = values[(owner == population) & np.isfinite(values)]
            if len(own):
                means.setdefault(key, {})[population] = _mean(own)
    return means


def number(text: str) -> float | None:
    """Return the finite number that a cell holds, else None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _table(file: SubmittedFile, limits: Limits) -> tuple[list[str], list[list[str]]]:
    """Return the first row and those below it that are not blank."""
    header, *rows = read_rows(file, limits) or [[]]
    filled = [row for row in rows if row]
    if any(len(row) > len(header) for row in filled):
        raise OverlongRow(f"{file.path} has a row of more cells than its header has")
    return header, filled


def _cell(row: Sequence[str], index: int | None) -> str:
    return "" if index is None or index >= len(row) else row[index]


def _column(rows: Sequence[Sequence[str]], index: int) -> NDArray[np.float64]:
    values = (number(_cell(row, index)) for row in rows)
    return np.array([math.nan if value is None else value for value in values], np.float64)


def _population(row: Sequence[str], types: Sequence[int]) -> str:
    said: Iterator[str | None] = (population_of(_cell(row, index)) for index in types)
    return next((population for population in said if population is not None), "")


def _mean(values: NDArray[np.float64]) -> Mean:
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(values.mean())
        sd = float(values.std(ddof=1)) if len(values) > 1 else math.nan
    if not math.isfinite(mean):
        # The sum overflowed, not the mean.
        mean = float((values / len(values)).sum())
    return Mean(mean, sd if math.isfinite(sd) else None)
