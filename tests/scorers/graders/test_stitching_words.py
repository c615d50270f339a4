"""The words of cytometry tables."""

from __future__ import annotations

import pytest

from scorers.graders.stitching_words import (
    cell_type_columns,
    channel_of,
    feature_of,
    key_of_column,
    population_of,
)


@pytest.mark.parametrize(
    ("text", "channel"),
    [
        ("Bodipy FL", "Bodipy"),
        ("lipid droplets", "Bodipy"),
        ("DNA", "DAPI"),
        ("Nuclear", "DAPI"),
        ("Leukocyte antigen", "CD45"),
        ("Pan-CK", "PanCK"),
        ("CK 568", "PanCK"),
        ("black", None),
        ("", None),
    ],
)
def test_channels_are_told_by_parts_of_words(text: str, channel: str | None) -> None:
    assert channel_of(text) == channel


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        ("Σ", "Sigma"),
        ("Total intensity (dBct)", "Sigma"),
        ("<M>", "M"),
        ("M", "M"),
        ("mean", None),
        ("<rf>", "rf"),
        ("frequency", "rf"),
        ("surface", "rf"),
        ("<r>", "r"),
        ("r (um)", "r"),
        ("r_um", None),
    ],
)
def test_features_are_told_in_their_published_order(text: str, feature: str | None) -> None:
    assert feature_of(text) == feature


@pytest.mark.parametrize(
    ("text", "population"),
    [
        ("MCF-7", "MCF7"),
        ("tumor cells", "MCF7"),
        ("white blood cells", "WBC"),
        ("leukocytes", "WBC"),
        ("CD1 cells", "MCF7"),
        ("other", None),
    ],
)
def test_populations_are_told_by_parts_of_words(text: str, population: str | None) -> None:
    assert population_of(text) == population


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Bodipy_Sigma_dBct", ("Bodipy", "Sigma")),
        ("PanCK_r_um", ("PanCK", "r")),
        ("DAPI_rf_um1", ("DAPI", "rf")),
        ("CD45_M", ("CD45", "M")),
        ("cd45 mean intensity", ("CD45", "Sigma")),
        ("Bodipy <r>", ("Bodipy", "r")),
        ("DAPI_mean", None),
        ("nucleus_area", None),
        ("x", None),
    ],
)
def test_columns_of_cells_name_a_channel_and_a_feature(name: str, key) -> None:
    assert key_of_column(name) == key


def test_the_most_telling_column_of_cell_types_comes_first() -> None:
    assert cell_type_columns(["Label", "x", "Cell_Type"]) == [2, 0]
