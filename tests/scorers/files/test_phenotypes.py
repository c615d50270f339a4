"""Tables of cells with classes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.files.phenotypes import (
    ANNOTATED,
    SUBMITTED,
    CellTable,
    InfiniteFrame,
    class_of,
    parse_cells,
    read_cells,
    write_cells,
)

if TYPE_CHECKING:
    from pathlib import Path

HEADING = ["frame", "x", "y", "label"]


def test_columns_are_found_by_name_and_classes_by_their_position() -> None:
    table = parse_cells([["Label", " Y", "X ", "Frame"], ["Amoeboid", "2", "1", "7.9"]], SUBMITTED)
    assert (table.frame.tolist(), table.place.tolist()) == ([7.0], [[1.0, 2.0]])
    assert table.kind.tolist() == [1]


def test_the_annotation_names_rows_and_columns_of_the_image() -> None:
    rows = [
        ["index", "axis-0", "axis-1", "axis-2", "label"],
        ["0", "3.0", "20", "10", "stratified"],
    ]
    table = parse_cells(rows, ANNOTATED)
    assert table.place.tolist() == [[10.0, 20.0]]
    assert table.kind.tolist() == [2]


def test_of_two_columns_with_one_name_the_last_counts() -> None:
    assert parse_cells([[*HEADING, "x"], ["0", "1", "2", "", "9"]], SUBMITTED).place.tolist() == [
        [9.0, 2.0]
    ]


@pytest.mark.parametrize(
    "row", [[], ["0", "1"], ["a", "1", "2"], ["nan", "1", "2"], ["0", "", "2"]]
)
def test_rows_without_frame_x_and_y_are_skipped(row: list[str]) -> None:
    assert len(parse_cells([HEADING, row], SUBMITTED)) == 0


@pytest.mark.parametrize("rows", [[], [[]], [["frame", "x"], ["0", "1"]], [["0", "1", "2"]]])
def test_a_table_without_the_columns_holds_no_cell(rows: list[list[str]]) -> None:
    assert len(parse_cells(rows, SUBMITTED)) == 0


def test_an_infinite_frame_is_refused() -> None:
    with pytest.raises(InfiniteFrame):
        parse_cells([HEADING, ["inf", "1", "2", "round"]], SUBMITTED)


def test_labels_that_are_no_class_are_minus_one() -> None:
    labels = ["round", " ROUND ", "ramified", "stratified", "", "blob"]
    assert [class_of(label) for label in labels] == [0, 0, 2, 2, -1, -1]


@given(st.lists(st.lists(st.text(max_size=8), max_size=6), max_size=6))
def test_any_table_gives_cells_or_is_refused(rows: list[list[str]]) -> None:
    try:
        table = parse_cells([HEADING, *rows], SUBMITTED)
    except InfiniteFrame:
        return
    assert not any(map(math.isnan, table.frame.tolist()))
    assert table.place.shape == (len(table), 2)


def test_what_is_written_is_read_the_same(tmp_path: Path, tree_of) -> None:
    table = CellTable(np.arange(4.0), np.arange(8.0).reshape(4, 2) / 3, np.array([0, 1, 2, -1]))
    write_cells(tmp_path / "a.csv", table)
    found = read_cells(tree_of(tmp_path).files[0], SUBMITTED)
    assert found.frame.tolist() == table.frame.tolist()
    assert found.place.tolist() == table.place.tolist()
    assert found.kind.tolist() == table.kind.tolist()
