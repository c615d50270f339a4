from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile

from scorers.rubric.checks import mask_checks
from tests.scorers.rubric.checks.conftest import asks

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scorers.rubric.checks.conftest import MakeScene

LABELS = asks("*_seg.tif", "instance labels")
MASKS = asks("*mask*.tif", "binary 2D TIFF")


def touching() -> np.ndarray:
    image = np.zeros((60, 60), np.uint16)
    for number, (row, column) in enumerate([(5, 5), (5, 15), (30, 5), (30, 30)], 1):
        image[row : row + 10, column : column + 10] = number
    return image


def write(folder: Path, name: str, image: np.ndarray) -> None:
    tifffile.imwrite(folder / name, image, photometric="minisblack")


def test_labels_of_single_objects_have_the_form_asked_for(out: Path, scene: MakeScene) -> None:
    write(out, "a_seg.tif", touching())
    finding = mask_checks.label_form(scene(LABELS))
    assert finding.verdict == "pass"
    assert "4 objects in 3 connected components" in finding.says
    assert finding.refs == ("file:a_seg.tif",)


def test_a_binary_mask_is_no_label_image(out: Path, scene: MakeScene) -> None:
    write(out, "a_seg.tif", (touching() > 0).astype(np.uint8))
    opened = scene(LABELS)
    assert mask_checks.label_form(opened).verdict == "fail"
    assert mask_checks.distinct_labels(opened).verdict == "fail"


def test_one_object_tells_labels_from_a_mask_by_nothing(out: Path, scene: MakeScene) -> None:
    write(out, "a_seg.tif", (touching() == 4).astype(np.uint8))
    assert mask_checks.label_form(scene(LABELS)).verdict == "unknown"


@pytest.mark.parametrize("check", ["label_form", "distinct_labels", "touching_apart", "no_holes"])
def test_an_empty_image_and_no_image_decide_nothing(
    out: Path, scene: MakeScene, check: str
) -> None:
    assert getattr(mask_checks, check)(scene(LABELS)).verdict == "unknown"
    write(out, "a_seg.tif", np.zeros((9, 9), np.uint8))
    assert getattr(mask_checks, check)(scene(LABELS)).verdict == "unknown"


def test_labels_that_are_no_numbers_fail(out: Path, scene: MakeScene) -> None:
    image = touching().astype(np.float32)
    image[0, 0] = np.nan
    write(out, "a_seg.tif", image)
    assert mask_checks.label_form(scene(LABELS)).verdict == "fail"


def test_a_mask_of_one_value_has_the_form_and_needs_no_labels(out: Path, scene: MakeScene) -> None:
    write(out, "a_mask.tif", (touching() > 0).astype(np.uint8))
    opened = scene(MASKS)
    assert mask_checks.label_form(opened).verdict == "pass"
    assert mask_checks.distinct_labels(opened).verdict == "not_applicable"
    assert mask_checks.touching_apart(opened).verdict == "not_applicable"


def test_a_mask_of_several_values_has_not_the_form(out: Path, scene: MakeScene) -> None:
    write(out, "a_mask.tif", touching())
    assert mask_checks.label_form(scene(MASKS)).verdict == "fail"


def test_objects_face_to_face_are_told_apart(out: Path, scene: MakeScene) -> None:
    write(out, "a_seg.tif", touching())
    assert mask_checks.touching_apart(scene(LABELS)).verdict == "pass"


def test_objects_that_all_lie_apart_show_nothing(out: Path, scene: MakeScene) -> None:
    write(out, "a_seg.tif", np.where(touching() == 2, 0, touching()))
    finding = mask_checks.touching_apart(scene(LABELS))
    assert finding.verdict == "unknown"
    assert finding.says.startswith("Weak evidence")


def test_filled_objects_pass_and_rings_fail(out: Path, scene: MakeScene) -> None:
    image = touching()
    write(out, "a_seg.tif", image)
    assert mask_checks.no_holes(scene(LABELS)).verdict == "pass"
    image[33:36, 33:36] = 0
    write(out, "a_seg.tif", image)
    assert mask_checks.no_holes(scene(LABELS)).verdict == "fail"


def test_networks_have_holes_by_nature(out: Path, scene: MakeScene) -> None:
    write(out, "a_mask.tif", touching())
    found = mask_checks.no_holes(scene(MASKS, sub_tasks=["filament-extraction"]))
    assert found.verdict == "not_applicable"


def test_a_loop_in_a_mask_may_be_no_hole(out: Path, scene: MakeScene) -> None:
    image = np.zeros((30, 30), np.uint8)
    image[5:25, 5:25] = 1
    image[7:23, 7:23] = 0
    write(out, "a_mask.tif", image)
    assert mask_checks.no_holes(scene(MASKS)).verdict == "unknown"


def test_of_a_long_movie_some_frames_are_looked_at(
    out: Path, scene: MakeScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mask_checks, "_MOST_PIXELS", 2 * touching().size)
    write(out, "a_seg.tif", np.stack([touching()] * 6))
    finding = mask_checks.label_form(scene(LABELS, temporal_dimension="time-lapse"))
    assert "8 objects" in finding.says


def test_a_volume_too_large_decides_nothing(
    out: Path, scene: MakeScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mask_checks, "_MOST_PIXELS", 2 * touching().size)
    write(out, "a_seg.tif", np.stack([touching()] * 6))
    assert mask_checks.label_form(scene(LABELS, spatial_dimensions="3D")).verdict == "unknown"


def test_specks_fail(out: Path, scene: MakeScene) -> None:
    image = touching()
    write(out, "a_seg.tif", image)
    assert mask_checks.no_specks(scene(LABELS)).verdict == "pass"
    image[50, 50:58:3] = [20, 21, 22]
    write(out, "a_seg.tif", image)
    finding = mask_checks.no_specks(scene(LABELS))
    assert finding.verdict == "fail"
    assert "the smallest has 1 pixels" in finding.says


def test_a_thin_skeleton_of_the_delivered_mask_passes(out: Path, scene: MakeScene) -> None:
    mask = np.zeros((40, 40), np.uint8)
    mask[18:23, 5:35] = 1
    line = np.zeros_like(mask)
    line[20, 6:34] = 1
    write(out, "a_mask.tif", mask)
    write(out, "a_skeleton.tif", line)
    assert mask_checks.one_pixel_lines(scene(MASKS)).verdict == "pass"


def test_thick_lines_or_those_of_another_mask_are_weak(out: Path, scene: MakeScene) -> None:
    mask = np.zeros((40, 40), np.uint8)
    mask[18:23, 5:35] = 1
    write(out, "a_mask.tif", mask)
    write(out, "a_skeleton.tif", mask)
    write(out, "b_skeleton.tif", np.eye(40, dtype=np.uint8))
    assert mask_checks.one_pixel_lines(scene(MASKS)).verdict == "unknown"


def test_without_an_image_of_lines_nothing_is_known(scene: MakeScene) -> None:
    assert mask_checks.one_pixel_lines(scene(MASKS)).verdict == "unknown"


def test_a_volume_is_one_image_and_a_movie_is_many(out: Path, scene: MakeScene) -> None:
    write(out, "a_seg.tif", np.stack([touching()] * 3))
    volume = mask_checks.label_form(scene(LABELS, spatial_dimensions="3D"))
    movie = mask_checks.label_form(scene(LABELS, temporal_dimension="time-lapse"))
    assert "4 objects" in volume.says
    assert "12 objects" in movie.says


def test_a_broken_image_decides_nothing(out: Path, scene: MakeScene) -> None:
    (out / "a_seg.tif").write_bytes(b"II*\x00" + bytes(30))
    assert mask_checks.label_form(scene(LABELS)).verdict == "unknown"
