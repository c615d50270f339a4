from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tifffile

from scorers.rubric.checks import occasions
from tests.scorers.rubric.checks.conftest import asks

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scorers.rubric.checks.conftest import MakeScene

PLANE = np.arange(64).reshape(8, 8)


def write(path: Path, image: np.ndarray, **how: Any) -> None:
    tifffile.imwrite(path, image, photometric="minisblack", **how)


@pytest.mark.parametrize("target", ["Corynebacterium glutamicum", "E. coli in a microcolony"])
def test_bacteria_do_not_fuse(scene: MakeScene, target: str) -> None:
    assert occasions.fusion(scene(biological_target=target)).verdict == "not_applicable"


def test_puncta_may_fuse(scene: MakeScene) -> None:
    assert occasions.fusion(scene(biological_target="condensates")).verdict == "unknown"


@pytest.mark.parametrize(("told", "verdict"), [("2D", "not_applicable"), ("3D", "unknown"),
                                               ("", "unknown")])  # fmt: skip
def test_only_flat_images_have_no_depth(scene: MakeScene, told: str, verdict: str) -> None:
    assert occasions.depth(scene(spatial_dimensions=told)).verdict == verdict


def test_single_images_show_no_spot_twice(given: Path, scene: MakeScene) -> None:
    write(given / "a.tif", PLANE)
    assert occasions.planes(scene()).verdict == "not_applicable"


def test_a_stack_called_flat_may_show_a_spot_twice(given: Path, scene: MakeScene) -> None:
    write(given / "a.tif", np.stack([PLANE] * 5))
    assert occasions.planes(scene()).verdict == "unknown"


def test_without_input_there_may_be_anything(scene: MakeScene) -> None:
    opened = scene()
    checks = (occasions.planes, occasions.saturation, occasions.bit_depth, occasions.one_image)
    assert {check(opened).verdict for check in checks} == {"unknown"}


def test_images_below_full_scale_have_nothing_saturated(given: Path, scene: MakeScene) -> None:
    write(given / "a.tif", PLANE.astype(np.uint16))
    assert occasions.saturation(scene()).verdict == "not_applicable"


@pytest.mark.parametrize("ceiling", [255, 4095, 65535])
def test_clipped_pixels_are_an_occasion(given: Path, scene: MakeScene, ceiling: int) -> None:
    write(given / "a.tif", np.where(PLANE > 50, ceiling, PLANE).astype(np.uint16))
    finding = occasions.saturation(scene())
    assert finding.verdict == "unknown"
    assert finding.says == "13 of 64 pixels of the input are at full scale."


def test_images_of_fractions_have_no_full_scale(given: Path, scene: MakeScene) -> None:
    write(given / "a.tif", PLANE.astype(np.float32))
    assert occasions.saturation(scene()).verdict == "unknown"


def test_one_channel_is_nothing_to_choose_from(scene: MakeScene) -> None:
    assert occasions.channels(scene(n_channels=1)).verdict == "not_applicable"
    assert occasions.channels(scene(n_channels=2)).verdict == "unknown"
    assert occasions.channels(scene()).verdict == "unknown"


def test_8_bits_are_read_in_full_and_others_need_not_be(given: Path, scene: MakeScene) -> None:
    write(given / "a.tif", PLANE.astype(np.uint8))
    assert occasions.bit_depth(scene()).verdict == "not_applicable"
    write(given / "b.tif", PLANE.astype(np.uint16))
    assert occasions.bit_depth(scene()).verdict == "unknown"


def test_a_single_image_cannot_fail_alone_but_a_mosaic_can(given: Path, scene: MakeScene) -> None:
    write(given / "a.tif", PLANE.astype(np.uint8))
    assert occasions.one_image(scene()).verdict == "not_applicable"
    assert occasions.one_image(scene(primary_task="stitching")).verdict == "unknown"


def test_without_pixel_size_no_scale_bar_can_be_drawn(given: Path, scene: MakeScene) -> None:
    write(given / "a.tif", PLANE.astype(np.uint8))
    assert occasions.scale(scene()).verdict == "not_applicable"


@pytest.mark.parametrize("told", [{"pixel_size_um": 0.5}, {"notes": "0.5 µm/px"},
                                  {"instruction": "The pixel size is in the tags."}])  # fmt: skip
def test_a_pixel_size_that_is_told_anywhere_is_an_occasion(
    given: Path, scene: MakeScene, told: dict[str, Any]
) -> None:
    write(given / "a.tif", PLANE.astype(np.uint8))
    assert occasions.scale(scene(**told)).verdict == "unknown"


def test_labels_lead_back_only_where_labels_and_tables_are_asked_for(scene: MakeScene) -> None:
    labels, table = asks("*.tif", "instance labels"), asks("*.csv", id="table")
    assert occasions.labels_and_table(scene(labels, table)).verdict == "unknown"
    assert occasions.labels_and_table(scene(labels)).verdict == "not_applicable"
    assert occasions.labels_and_table(scene(table)).verdict == "not_applicable"


def test_a_broken_image_is_an_occasion(given: Path, scene: MakeScene) -> None:
    (given / "a.tif").write_bytes(b"II*\x00")
    opened = scene()
    checks = (occasions.planes, occasions.saturation, occasions.bit_depth)
    assert {check(opened).verdict for check in checks} == {"unknown"}
