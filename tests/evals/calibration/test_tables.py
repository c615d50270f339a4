from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evals.calibration import tables
from evals.calibration.doses import Pick
from evals.calibration.tables import Form

FORM = Form("*.csv", ("x", "y"), "value", "condition", "frame", shift_px=0.5)
PICK = Pick(0, 1, 0.2)


@pytest.fixture
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "frame": np.repeat(np.arange(10), 5),
            "x": rng.random(50) * 100,
            "y": rng.random(50) * 50,
            "value": rng.random(50) + 1,
            "condition": np.repeat(["a", "b", "c", "d", "e"], 10),
        }
    )


def changed(one: pd.DataFrame, other: pd.DataFrame) -> int:
    return int((one != other).any(axis=1).sum())


@pytest.mark.parametrize(
    ("change", "columns"),
    [
        (tables.scattered, {"x", "y"}),
        (tables.shifted, {"x", "y"}),
        (tables.turned, {"x", "y"}),
        (tables.magnified_places, {"x", "y"}),
        (tables.magnified_values, {"value"}),
        (tables.inverted, {"value"}),
        (tables.from_one, {"frame"}),
        (tables.exchanged_values, {"value"}),
        (tables.exchanged_conditions, {"condition"}),
    ],
)
def test_a_fifth_of_the_rows_is_changed_in_the_columns_meant(
    change: tables.Change, columns: set[str], table: pd.DataFrame
) -> None:
    found = change(table, FORM, PICK)
    assert changed(found, table) == 10
    assert {name for name in table if not found[name].equals(table[name])} == columns
    assert (found.dtypes == table.dtypes).all()


def test_rows_are_left_out_or_told_twice(table: pd.DataFrame) -> None:
    assert len(tables.dropped(table, FORM, PICK)) == 40
    twice = tables.split(table, FORM, PICK)
    assert len(twice) == 60
    assert twice["condition"].is_monotonic_increasing


def test_a_condition_is_left_out_whole(table: pd.DataFrame) -> None:
    assert (
        tables.without_a_condition(table, FORM, PICK)["condition"].value_counts().to_list()
        == [10] * 4
    )


def test_conditions_are_turned_round(table: pd.DataFrame) -> None:
    found = tables.reversed_conditions(table, FORM, PICK)["condition"]
    assert list(dict.fromkeys(found)) == ["e", "d", "c", "b", "a"]


def test_one_class_is_the_commonest() -> None:
    table = pd.DataFrame({"value": ["round"] * 6 + ["ramified"] * 4})
    assert set(tables.one_class(table, FORM, Pick(0, 1, 1.0))["value"]) == {"round"}
