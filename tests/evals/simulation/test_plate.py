from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evals.simulation.plate import Response, Well, lay_out_plate, write_plate

if TYPE_CHECKING:
    from pathlib import Path

DOSES = (0, *(10.0**k for k in range(-3, 8)))


def test_lines_share_the_rows_and_doses_the_columns() -> None:
    wells = lay_out_plate(["MCF7", "A549"], DOSES)
    assert len(wells) == 96
    assert [well.name for well in wells[:13]] == [f"A{k:02d}" for k in range(1, 13)] + ["B01"]
    assert [well.line for well in wells[::12]] == ["MCF7"] * 4 + ["A549"] * 4
    assert wells[50].dose == DOSES[2]


def test_the_rim_is_36_wells() -> None:
    assert sum(well.at_rim for well in lay_out_plate(["MCF7"], DOSES)) == 36


def test_a_picture_is_named_by_channel_number_row_and_column() -> None:
    assert Well(1, 2, "MCF7", 0.1).picture(2) == "Channel 2-15-B-03-00.bmp"


def test_a_response_dips_passes_half_and_levels_off() -> None:
    response = Response(0.5, 1.5, half_ng_ml=0.4)
    assert response.ratio(0) == 0.5
    assert response.ratio(0.001) < 0.49
    assert response.ratio(0.4) == pytest.approx(1.25, abs=0.01)
    assert response.ratio(1000) == pytest.approx(2.0, abs=0.01)


def test_the_files_of_a_plate_agree(tmp_path: Path) -> None:
    wells = lay_out_plate(["MCF7", "A549"], DOSES)
    write_plate(tmp_path, wells, (1, 2))
    lines = (tmp_path / "BBBC014_v1_platemap_dosekey.csv").read_text("utf-8").splitlines()
    assert lines[:3] == ["row,column,dose,cell_type", "A,01,0,MCF7", "A,02,0.001,MCF7"]
    names = (tmp_path / "contents_BBBC014_v1_images_filenames.txt").read_text("utf-8").split("\n")
    assert names[0] == "Channel 1-01-A-01-00.bmp"
    assert len(names) == 193
    layout = (tmp_path / "BBBC014_v1_platemap_all.txt").read_text("utf-8").splitlines()
    assert layout[0].startswith("TNF-alpha (ng/mL)\t01\t02")
    assert layout[8].split("\t")[:3] == ["H", "0", "0.001"]
