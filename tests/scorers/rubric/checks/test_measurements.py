from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
import tifffile
from scipy import ndimage

from scorers.rubric.checks import measurements
from tests.scorers.rubric.checks.conftest import asks

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scorers.rubric.checks.conftest import MakeScene

ASKED = (asks("*_seg.tif", "instance labels"), asks("*.csv", id="table", multi=False))
PIXEL = 0.5
OFFSET = 100


def labels() -> np.ndarray:
    image = np.zeros((60, 60), np.uint16)
    for number in range(1, 6):
        image[10 * number : 10 * number + 3 + number, 5 : 12 + number] = number
    return image


def raw(seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    return (OFFSET + 50 * labels() + random.integers(0, 20, (60, 60))).astype(np.uint16)


def table(image: np.ndarray) -> pd.DataFrame:
    numbers = np.arange(1, 6)
    pixels = np.bincount(labels().ravel())[1:]
    means = ndimage.mean(image, labels(), numbers)
    return pd.DataFrame({"label": numbers, "area_px": pixels, "area_um2": pixels * PIXEL**2,
                         "mean_intensity": means})  # fmt: skip


@pytest.fixture
def rows(out: Path, given: Path) -> pd.DataFrame:
    tifffile.imwrite(given / "a.tif", raw())
    tifffile.imwrite(out / "a_seg.tif", labels())
    return table(raw())


def write(out: Path, rows: pd.DataFrame) -> None:
    rows.to_csv(out / "cells.csv", index=False)


def test_rows_that_name_the_labels_pass(out: Path, scene: MakeScene, rows: pd.DataFrame) -> None:
    write(out, rows)
    finding = measurements.table_matches_labels(scene(*ASKED))
    assert finding.verdict == "pass"
    assert finding.refs == ("table:cells.csv", "file:a_seg.tif")


def test_rows_of_other_labels_fail(out: Path, scene: MakeScene, rows: pd.DataFrame) -> None:
    write(out, rows.assign(label=rows["label"] + 900))
    assert measurements.table_matches_labels(scene(*ASKED)).verdict == "fail"


def test_other_numbers_in_a_column_of_cells_are_weak(
    out: Path, scene: MakeScene, rows: pd.DataFrame
) -> None:
    write(out, rows.assign(label=rows["label"] + 900).rename(columns={"label": "cell"}))
    assert measurements.table_matches_labels(scene(*ASKED)).verdict == "unknown"


@pytest.mark.parametrize("label", [np.nan, np.inf, "one", -1e300])
def test_labels_that_are_no_numbers_match_nothing(
    out: Path, scene: MakeScene, rows: pd.DataFrame, label: object
) -> None:
    write(out, rows.assign(label=label))
    assert measurements.table_matches_labels(scene(*ASKED)).verdict == "unknown"


def test_without_a_table_nothing_can_be_compared(scene: MakeScene, rows: pd.DataFrame) -> None:
    opened = scene(*ASKED)
    checks = (measurements.table_matches_labels, measurements.raw_intensity,
              measurements.background_offset)  # fmt: skip
    assert {check(opened).verdict for check in checks} == {"unknown"}


def test_areas_are_pixels_times_the_pixel_squared(
    out: Path, scene: MakeScene, rows: pd.DataFrame
) -> None:
    write(out, rows)
    finding = measurements.area_units(scene(*ASKED, pixel_size_um=PIXEL))
    assert finding.verdict == "pass"
    assert "counts as 0.25 µm" in finding.says


def test_areas_times_the_pixel_fail(out: Path, scene: MakeScene, rows: pd.DataFrame) -> None:
    write(out, rows.assign(area_um2=rows["area_px"] * PIXEL))
    assert measurements.area_units(scene(*ASKED, pixel_size_um=PIXEL)).verdict == "fail"


def test_areas_in_no_proportion_fail(out: Path, scene: MakeScene, rows: pd.DataFrame) -> None:
    write(out, rows.assign(area_um2=[9.0, 1, 700, 3, 44]))
    assert measurements.area_units(scene(*ASKED, pixel_size_um=PIXEL)).verdict == "fail"


def test_areas_in_micrometres_alone_are_compared_with_the_labels(
    out: Path, scene: MakeScene, rows: pd.DataFrame
) -> None:
    write(out, rows.drop(columns="area_px"))
    assert measurements.area_units(scene(*ASKED, pixel_size_um=PIXEL)).verdict == "pass"
    assert measurements.area_units(scene(*ASKED, pixel_size_um=0.7)).verdict == "fail"


def test_without_pixel_size_there_are_no_micrometres(
    out: Path, scene: MakeScene, rows: pd.DataFrame
) -> None:
    write(out, rows)
    assert measurements.area_units(scene(*ASKED)).verdict == "not_applicable"


def test_areas_that_are_no_numbers_decide_nothing(
    out: Path, scene: MakeScene, rows: pd.DataFrame
) -> None:
    write(out, rows.assign(area_um2=np.nan))
    assert measurements.area_units(scene(*ASKED, pixel_size_um=PIXEL)).verdict == "unknown"


def test_raw_means_pass_and_have_no_background_taken(
    out: Path, scene: MakeScene, rows: pd.DataFrame
) -> None:
    write(out, rows)
    opened = scene(*ASKED)
    assert measurements.raw_intensity(opened).verdict == "pass"
    assert measurements.background_offset(opened).verdict == "fail"


def test_means_less_a_constant_are_raw_with_background_taken(
    out: Path, scene: MakeScene, rows: pd.DataFrame
) -> None:
    write(out, rows.assign(mean_intensity=rows["mean_intensity"] - OFFSET))
    opened = scene(*ASKED)
    assert measurements.raw_intensity(opened).verdict == "pass"
    finding = measurements.background_offset(opened)
    assert finding.verdict == "pass"
    assert "have 100 taken" in finding.says


def test_one_scaled_image_may_be_in_another_unit(
    out: Path, scene: MakeScene, rows: pd.DataFrame
) -> None:
    write(out, rows.assign(mean_intensity=rows["mean_intensity"] / 65535))
    assert measurements.raw_intensity(scene(*ASKED)).verdict == "unknown"


def test_images_stretched_each_by_itself_fail(out: Path, given: Path, scene: MakeScene) -> None:
    for name, factor in (("a", 0.004), ("b", 0.007)):
        tifffile.imwrite(given / f"{name}.tif", raw())
        tifffile.imwrite(out / f"{name}_seg.tif", labels())
        rows = table(raw())
        rows["mean_intensity"] *= factor
        rows.to_csv(out / f"{name}_seg.csv", index=False)
    assert measurements.raw_intensity(scene(*ASKED)).verdict == "fail"


def test_channels_of_one_image_may_have_units_of_their_own(
    out: Path, scene: MakeScene, rows: pd.DataFrame
) -> None:
    mean = rows["mean_intensity"]
    write(out, rows.assign(mean_intensity=mean * 0.3, mean_other=mean * 0.6))
    assert measurements.raw_intensity(scene(*ASKED)).verdict == "unknown"


def test_values_that_have_nothing_to_do_with_the_image_are_weak(
    out: Path, scene: MakeScene, rows: pd.DataFrame
) -> None:
    write(out, rows.assign(mean_intensity=[5.0, 1, 4, 2, 3]))
    assert measurements.raw_intensity(scene(*ASKED)).verdict == "unknown"


def test_the_channel_that_was_measured_is_found(
    out: Path, given: Path, scene: MakeScene, rows: pd.DataFrame
) -> None:
    other = np.full((60, 60), 7, np.uint16)
    tifffile.imwrite(given / "a.tif", np.stack([other, raw()]), photometric="minisblack")
    write(out, rows)
    assert measurements.raw_intensity(scene(*ASKED)).verdict == "pass"


def test_one_object_is_too_few_to_compare(out: Path, scene: MakeScene, rows: pd.DataFrame) -> None:
    write(out, rows.head(1))
    assert measurements.raw_intensity(scene(*ASKED)).verdict == "unknown"


def test_rows_of_several_images_are_told_by_their_column(
    out: Path, given: Path, scene: MakeScene
) -> None:
    parts = []
    for name in ("cell_a", "cell_b"):
        tifffile.imwrite(given / f"{name}.tif", raw())
        tifffile.imwrite(out / f"{name}_seg.tif", labels())
        parts.append(table(raw()).assign(image=f"{name}.tif"))
    write(out, pd.concat(parts))
    finding = measurements.table_matches_labels(scene(*ASKED))
    assert finding.verdict == "pass"
    assert finding.says.startswith("10 of 10 rows")
