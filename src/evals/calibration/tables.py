"""Damage done to tables of cells, molecules, events and wells: pure functions of data frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable

    from evals.calibration.doses import Pick

    Change = Callable[[pd.DataFrame, "Form", Pick], pd.DataFrame]

KILO = 1000.0
_DOUBLE_PX = 1.0


@dataclass(frozen=True)
class Form:
    """What the columns of a family's table mean, by lower-case names.

    Attributes
    ----------
    pattern
        Of the table's file.
    place
        Coordinates, in the order of the columns.
    value
        What is measured, or said, of each item.
    condition, frame
        Such columns, empty where there is none.
    shift_px
        By how much a place is moved along each axis.
    separator
        Of the file's fields.
    """

    pattern: str
    place: tuple[str, ...] = ()
    value: str = ""
    condition: str = ""
    frame: str = ""
    shift_px: float = 0.0
    separator: str = ","


def dropped(table: pd.DataFrame, form: Form, pick: Pick) -> pd.DataFrame:
    """Leave rows out."""
    return table.loc[~pick.hits(len(table))]


def split(table: pd.DataFrame, form: Form, pick: Pick) -> pd.DataFrame:
    """Say rows twice, a place's double a pixel away."""
    twins = table.loc[pick.hits(len(table))].copy()
    place = list(form.place)
    twins[place] = twins[place] + _DOUBLE_PX
    return pd.concat([table, twins]).sort_index(kind="stable")


def scattered(table: pd.DataFrame, form: Form, pick: Pick) -> pd.DataFrame:
    """Put rows anywhere within the extent of all rows."""
    place = list(form.place)
    low, high = table[place].min().to_numpy(), table[place].max().to_numpy()
    anywhere = low + (high - low) * pick.values().random((len(table), len(place)))
    return _replaced(table, place, anywhere, pick)


def shifted(table: pd.DataFrame, form: Form, pick: Pick) -> pd.DataFrame:
    """Move rows along every axis."""
    place = list(form.place)
    return _replaced(table, place, table[place].to_numpy(float) + form.shift_px, pick)


def turned(table: pd.DataFrame, form: Form, pick: Pick) -> pd.DataFrame:
    """Exchange the first and the last axis of places."""
    place = list(form.place)
    return _replaced(table, place, table[place[::-1]].to_numpy(float), pick)


def magnified_places(table: pd.DataFrame, form: Form, pick: Pick) -> pd.DataFrame:
    """Tell places in a unit a thousand times too small."""
    place = list(form.place)
    return _replaced(table, place, table[place].to_numpy(float) * KILO, pick)


def magnified_values(table: pd.DataFrame, form: Form, pick: Pick) -> pd.DataFrame:
    """Tell values in a unit a thousand times too small."""
    return _replaced(table, [form.value], table[[form.value]].to_numpy(float) * KILO, pick)


def inverted(table: pd.DataFrame, form: Form, pick: Pick) -> pd.DataFrame:
    """Turn ratios round."""
    return _replaced(table, [form.value], 1 / table[[form.value]].to_numpy(float), pick)


def from_one(table: pd.DataFrame, form: Form, pick: Pick) -> pd.DataFrame:
    """Count frames from 1 instead of 0."""
    return _replaced(table, [form.frame], table[[form.frame]].to_numpy() + 1, pick)


def exchanged_values(table: pd.DataFrame, form: Form, pick: Pick) -> pd.DataFrame:
    """Exchange values, or classes, between rows."""
    return _exchanged(table, form.value, pick)


def exchanged_conditions(table: pd.DataFrame, form: Form, pick: Pick) -> pd.DataFrame:
    """Exchange conditions between rows."""
    return _exchanged(table, form.condition, pick)


def without_a_condition(table: pd.DataFrame, form: Form, pick: Pick) -> pd.DataFrame:
    """Leave conditions out, at least one."""
    names = pd.unique(table[form.condition])
    gone = names[pick.hits(len(names))]
    return table.loc[~table[form.condition].isin(gone)]


def reversed_conditions(table: pd.DataFrame, form: Form, pick: Pick) -> pd.DataFrame:
    """Call the first condition by the name of the last, and so on."""
    names = pd.unique(table[form.condition]).tolist()
    other = dict(zip(names, names[::-1], strict=True))
    return table.assign(**{form.condition: table[form.condition].map(other)})


def one_class(table: pd.DataFrame, form: Form, pick: Pick) -> pd.DataFrame:
    """Call everything by the commonest class."""
    common = table[form.value].mode().iloc[0]
    return table.assign(**{form.value: table[form.value].mask(pick.hits(len(table)), common)})


def _replaced(
    table: pd.DataFrame, columns: list[str], values: np.ndarray, pick: Pick
) -> pd.DataFrame:
    """Return the table with new values in the rows that are hit."""
    hit = pick.hits(len(table))[:, None]
    return table.assign(
        **dict(zip(columns, np.where(hit, values, table[columns].to_numpy()).T, strict=True))
    )


def _exchanged(table: pd.DataFrame, column: str, pick: Pick) -> pd.DataFrame:
    codes, _ = pd.factorize(table[column], sort=True)
    source = pick.exchange(codes.astype(float))
    return table.assign(**{column: table[column].to_numpy()[source]})
