"""Lists of localised molecules."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.errors import SubmissionFault
from scorers.files.limits import Limits
from scorers.files.localisations import (
    Localisations,
    parse_line,
    read_localisations,
    write_localisations,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "line",
    [
        "3\t1.5\t2.5\t90",
        "3,1.5,2.5,90",
        "3 1.5  2.5 90",
        " 3, 1.5 ,2.5, 90, 7, more ",
        "3,1.5,2.5,9e1",
    ],
)
def test_fields_are_separated_by_commas_tabs_or_blanks(line: str) -> None:
    assert parse_line(line) == (3.0, 1.5, 2.5, 90.0)


@pytest.mark.parametrize(
    "line",
    ["", "  ", "# 1 2 3", "frame x y", "1 2", "1,,3", "1\t\t3\t4", "nan 1 2", "\ufeff1 2 3"],
)
def test_other_lines_are_no_molecules(line: str) -> None:
    assert parse_line(line) is None


@pytest.mark.parametrize("line", ["1 2 3", "1,2,3,", "1,2,3,bright"])
def test_an_intensity_that_is_absent_or_no_number_is_zero(line: str) -> None:
    assert parse_line(line) == (1.0, 2.0, 3.0, 0.0)


def test_infinite_numbers_and_places_that_are_none_are_kept() -> None:
    row = parse_line("inf nan -inf 1")
    assert row is not None
    assert (row[0], row[2]) == (math.inf, -math.inf)
    assert math.isnan(row[1])


def test_a_field_beyond_the_limit_makes_no_molecule() -> None:
    assert parse_line("1 2 " + "3" * 50, longest=20) is None


@given(st.text(max_size=60))
def test_any_line_is_a_molecule_or_none(line: str) -> None:
    row = parse_line(line)
    assert row is None or (len(row) == 4 and not math.isnan(row[0]))


def test_frames_are_truncated(tmp_path: Path, tree_of) -> None:
    (tmp_path / "a.txt").write_text("2.9 1 1\n-0.5 1 1\n")
    assert read_localisations(tree_of(tmp_path).files[0]).frame.tolist() == [2.0, 0.0]


def test_more_rows_than_allowed_are_refused(tmp_path: Path, tree_of) -> None:
    (tmp_path / "a.txt").write_text("1 1 1\n" * 5)
    with pytest.raises(SubmissionFault, match="more than 4 rows"):
        read_localisations(tree_of(tmp_path).files[0], Limits(rows=4))


def test_what_is_written_is_read_the_same(tmp_path: Path, tree_of) -> None:
    rng = np.random.default_rng(0)
    table = Localisations(np.arange(9.0), rng.uniform(0, 99, (9, 2)), rng.uniform(0, 9, 9))
    write_localisations(tmp_path / "deeper" / "a.txt", table)
    found = read_localisations(tree_of(tmp_path).files[0])
    assert found.frame.tolist() == table.frame.tolist()
    assert found.place.tolist() == table.place.tolist()
    assert found.intensity.tolist() == table.intensity.tolist()
