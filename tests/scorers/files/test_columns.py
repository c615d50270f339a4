"""Tables by column."""

from __future__ import annotations

import numpy as np

from scorers.files.columns import as_columns, read_columns


def test_of_two_columns_with_one_name_the_last_counts() -> None:
    table = as_columns([["a", "A"], ["1", "2"]])
    assert table.place("a") == 1
    assert table.place("a", any_case=False) == 0


def test_the_first_name_asked_for_goes_first() -> None:
    assert as_columns([["p", "p_value"]]).place("p_value", "p") == 1


def test_a_short_row_has_no_cell_and_no_number_there() -> None:
    table = as_columns([["a", "b"], ["1"], [], ["2", " 3 "]])
    assert table.cells(1) == [None, " 3 "]
    assert table.texts(1) == ["", "3"]
    np.testing.assert_array_equal(table.numbers(1), [np.nan, 3.0])


def test_an_absent_column_is_empty() -> None:
    table = as_columns([["a"], ["1"]])
    assert table.texts(table.place("b")) == [""]
    assert np.isnan(table.numbers(None)).all()


def test_a_row_longer_than_the_header_is_noticed() -> None:
    assert as_columns([["a"], ["1", "2"]]).overlong
    assert not as_columns([["a", "b"], ["1"]]).overlong


def test_text_that_is_no_number_is_none_and_infinity_stays() -> None:
    table = as_columns([["a"], ["1e3"], ["inf"], ["-"], ["1,5"], [""], ["=A1"]])
    np.testing.assert_array_equal(table.numbers(0), [1000, np.inf, np.nan, np.nan, np.nan, np.nan])


def test_a_file_of_no_bytes_is_a_table_without_columns(submission, tree_of) -> None:
    (submission / "a.csv").write_bytes(b"")
    table = read_columns(tree_of(submission).files[0])
    assert (table.names, len(table), table.overlong) == ([], 0, False)
