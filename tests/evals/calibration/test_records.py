from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from evals.calibration.records import COLUMNS, Record, Records, latest, read_records, unscored
from evals.errors import DataMissingError

if TYPE_CHECKING:
    from pathlib import Path

ROW = Record(
    "cells", "counting", "", 0.5, 3, "perturbed", "drop", 0.1, 0.9, 0.8, 1.5, "quick", "ab"
)
NAIVE = replace(ROW, agent="naive", kind="blank", dose=None, strict=None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "records.csv"


def test_what_is_written_is_known_the_next_time(path: Path) -> None:
    with Records(path) as records:
        assert ROW.key not in records
        records.add(ROW)
        records.add(NAIVE)
        assert ROW.key in records
    with Records(path) as records:
        assert records.rows == [ROW, NAIVE]
        assert ROW.key in records
        assert replace(ROW, data="changed").key not in records
    assert path.read_text(encoding="utf-8").splitlines()[0] == ",".join(COLUMNS)


def test_a_row_is_there_as_soon_as_it_is_added(path: Path) -> None:
    with Records(path) as records:
        records.add(ROW)
        assert read_records(path) == [ROW]


def test_a_last_line_cut_short_is_dropped(path: Path) -> None:
    with Records(path) as records:
        records.add(ROW)
    with path.open("a", encoding="utf-8") as opened:
        opened.write("cells,counting,,0.5,3,oracle,,,1.")
    with Records(path) as records:
        records.add(NAIVE)
    assert read_records(path) == [ROW, NAIVE]


def test_faults_of_ours_are_tried_again_and_counted_until_then(path: Path) -> None:
    failed = replace(ROW, outcome=None, strict=None, note="killed\nby a signal")
    with Records(path) as records:
        records.add(failed)
    with Records(path) as records:
        assert ROW.key not in records
        assert [row.note for row in unscored(records.rows)] == ["killed by a signal"]
        records.add(ROW)
        assert not unscored(records.rows)


def test_the_latest_of_several_rows_counts(path: Path) -> None:
    newer = replace(ROW, strict=0.7, data="cd")
    assert latest([ROW, NAIVE, newer]) == [newer, NAIVE]


def test_another_table_is_refused(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(DataMissingError, match="--output"):
        Records(path)
