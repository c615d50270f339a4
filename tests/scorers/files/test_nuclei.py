import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scorers.files.nuclei import COUNT, condition_key, image_key, parse_nuclei

HEADING = ["condition", "Image name", "z", "y", "x", COUNT]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("08172023_ZR_WT", "wt"),
        ("08172023_ZR_3DBDmut", "3dbdmut"),
        ("WT 3dbd", "3dbdmut"),
        ("08172023_ZRC129A_H144A_fix", "c129a_h144a"),
        ("h144a-wt", "c129a_h144a"),
        ("Mock #2", "mock2"),
        (" - ", ""),
    ],
)
def test_conditions_are_known_however_they_are_spelled(name: str, key: str) -> None:
    assert condition_key(name) == key


@pytest.mark.parametrize(
    "name",
    [
        "a/Pos 1.tif_trimmed.tif",
        "b\\POS 1.TIFF",
        "pos_1",
        "Pos 1_trimmed.tiff",
        "/x/y/pos-1.tif.tif",
    ],
)
def test_images_are_known_without_folders_and_extensions(name: str) -> None:
    assert image_key(name) == "pos1"


def test_a_nucleus_needs_a_place_and_a_count() -> None:
    rows = [
        ["WT", "i", "1", "2", "3", "4"], ["WT", "i", "", "2", "3", "4"], ["WT", "i", "1", "2", "3"],
        ["WT", "i", "nan", "2", "3", "4"], [], ["WT", "i", "1", "2", "3", "x"],
    ]  # fmt: skip
    found = parse_nuclei([HEADING, *rows])
    assert found.is_nucleus.tolist() == [True, False, False, True, False]
    assert found.place[0].tolist() == [1, 2, 3]


def test_means_need_a_condition_and_a_number_only() -> None:
    rows = [["WT", "", "", "", "", "4"], ["wt2", "", "", "", "", "1"], ["", "", "", "", "", "9"]]
    found = parse_nuclei([HEADING, *rows, ["mock", "i", "1", "1", "1", "x"]])
    assert found.means(COUNT) == {"wt": 2.5}
    assert found.means("GFP mean intensity per ROI") == {}


def test_a_number_that_is_not_finite_makes_the_mean_so() -> None:
    rows = [["WT", "i", "1", "1", "1", value] for value in ("1", "nan")]
    assert math.isnan(parse_nuclei([HEADING, *rows]).means(COUNT)["wt"])


@pytest.mark.parametrize("rows", [[], [[]], [HEADING], [["a"], ["b", "c"]]])
def test_tables_without_nuclei_have_none(rows: list[list[str]]) -> None:
    found = parse_nuclei(rows)
    assert not found.is_nucleus.any()
    assert found.means(COUNT) == {}


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.lists(st.text(max_size=6) | st.sampled_from(["1", "WT", "inf"]), max_size=7))
)
def test_whatever_cells_hold_columns_have_one_length(rows: list[list[str]]) -> None:
    found = parse_nuclei([HEADING, *rows])
    assert found.place.shape == (len(found.condition), 3)
    assert np.isin(found.is_nucleus, (True, False)).all()
