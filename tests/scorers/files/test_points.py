"""Tables of points as agents write them."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from scorers.files.points import parse_points


def parsed(text: str) -> list[list[float]]:
    return parse_points(list(csv.reader(text.splitlines()))).tolist()


def test_columns_are_found_by_their_names_in_any_case() -> None:
    assert parsed("id,Y, X \n7,2,1") == [[1, 2]]
    assert parsed("row,col\n2,1") == [[1, 2]]


def test_the_last_fitting_column_counts() -> None:
    assert parsed("x,y,x_coord\n1,2,3") == [[3, 2]]


def test_without_a_heading_the_first_two_columns_are_x_and_y() -> None:
    assert parsed("1,2,9\n3,4,9") == [[1, 2], [3, 4]]


def test_a_heading_that_lacks_one_of_the_two_names_falls_back_to_the_first_columns() -> None:
    assert parsed("a,x\n1,2") == [[1, 2]]


def test_a_first_row_with_a_number_in_it_is_no_heading() -> None:
    assert parsed("x,1\n2,3") == [[2, 3]]


@pytest.mark.parametrize("row", ["", "5", "a,b", ",", "1;2"])
def test_rows_that_are_short_or_hold_no_numbers_are_skipped(row: str) -> None:
    assert parsed(f"X,Y\n{row}\n1,2") == [[1, 2]]


def test_nan_and_infinity_are_points() -> None:
    assert np.isnan(parsed("X,Y\nnan,5")[0][0])
    assert parsed("X,Y\ninf,5") == [[np.inf, 5]]


@pytest.mark.parametrize("text", ["", "\n\n", "X,Y", "X,Y\n\n"])
def test_nothing_but_a_heading_is_no_point(text: str) -> None:
    assert parsed(text) == []
