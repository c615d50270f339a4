from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tifffile
from PIL import Image

from scorers.rubric.checks import file_checks
from tests.scorers.rubric.checks.conftest import asks

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scorers.rubric.checks.conftest import MakeScene

MOSAIC = asks("*stitch*.tif", "multi-channel TIFF", multi=False)
LABELS = asks("*_seg.tif", "instance labels")


def image(dtype: Any = np.uint16, channels: int = 2) -> np.ndarray:
    return np.arange(channels * 64 * 64).reshape(channels, 64, 64).astype(dtype)


def write(path: Path, pixels: np.ndarray, um: float | None = None, **how: Any) -> None:
    told = {"resolution": (1 / um, 1 / um), "metadata": {"axes": "CYX", "unit": "um"}} if um else {}
    tifffile.imwrite(path, pixels, imagej=um is not None, **told, **how)


def test_lossless_tiffs_pass(out: Path, scene: MakeScene) -> None:
    write(out / "a_seg.tif", image(), compression="zlib")
    assert file_checks.lossless_images(scene(LABELS)).verdict == "pass"


def test_jpeg_inside_of_a_tiff_fails(out: Path, scene: MakeScene) -> None:
    write(out / "a_seg.tif", image(np.uint8, 1), compression="jpeg", photometric="minisblack")
    finding = file_checks.lossless_images(scene(LABELS))
    assert finding.verdict == "fail"
    assert finding.refs == ("file:a_seg.tif",)


def test_a_jpeg_fails(out: Path, scene: MakeScene) -> None:
    Image.fromarray(image(np.uint8, 1)[0]).save(out / "a_seg.jpg")
    assert file_checks.lossless_images(scene(asks("*_seg.jpg", "labels"))).verdict == "fail"


def test_a_task_of_tables_asks_for_no_image_data(scene: MakeScene) -> None:
    assert file_checks.lossless_images(scene(asks("*.csv"))).verdict == "not_applicable"


def test_images_that_are_missing_or_broken_decide_nothing(out: Path, scene: MakeScene) -> None:
    assert file_checks.lossless_images(scene(LABELS)).verdict == "unknown"
    (out / "a_seg.tif").write_bytes(b"no image")
    assert file_checks.lossless_images(scene(LABELS)).verdict == "unknown"


def test_a_mosaic_with_type_and_channels_of_the_tiles_passes(
    out: Path, given: Path, scene: MakeScene
) -> None:
    write(given / "tile.tif", image(), um=0.5)
    write(out / "stitched.tif", image(), um=0.5)
    opened = scene(MOSAIC, primary_task="stitching")
    assert file_checks.mosaic_type(opened).verdict == "pass"
    assert file_checks.pixel_size_kept(opened).verdict == "pass"


def test_a_mosaic_of_8_bits_without_pixel_size_fails(
    out: Path, given: Path, scene: MakeScene
) -> None:
    write(given / "tile.tif", image(), um=0.5)
    write(out / "stitched.tif", image(np.uint8))
    opened = scene(MOSAIC, primary_task="stitching")
    assert file_checks.mosaic_type(opened).verdict == "fail"
    assert file_checks.pixel_size_kept(opened).verdict == "fail"


def test_a_wrong_pixel_size_fails(out: Path, given: Path, scene: MakeScene) -> None:
    write(given / "tile.tif", image(), um=0.5)
    write(out / "stitched.tif", image(), um=1.0)
    finding = file_checks.pixel_size_kept(scene(MOSAIC, primary_task="stitching"))
    assert finding.verdict == "fail"
    assert finding.says == "Input: 0.5 µm a pixel; mosaic: 1 µm."


def test_tiles_without_pixel_size_have_none_to_keep(
    out: Path, given: Path, scene: MakeScene
) -> None:
    write(given / "tile.tif", image())
    write(out / "stitched.tif", image())
    finding = file_checks.pixel_size_kept(scene(MOSAIC, primary_task="stitching"))
    assert finding.verdict == "not_applicable"


def test_only_stitching_makes_a_mosaic(out: Path, given: Path, scene: MakeScene) -> None:
    write(given / "tile.tif", image())
    write(out / "stitched.tif", image(np.uint8))
    assert file_checks.mosaic_type(scene(MOSAIC)).verdict == "unknown"


def test_equal_hashes_show_that_the_input_is_untouched(given: Path, scene: MakeScene) -> None:
    (given / "raw.bin").write_bytes(b"raw")
    same = {"raw.bin": hashlib.sha256(b"raw").hexdigest()}
    assert file_checks.input_untouched(scene(input_after=same)).verdict == "pass"


@pytest.mark.parametrize("after", [{}, {"raw.bin": hashlib.sha256(b"other").hexdigest()}])
def test_changed_or_missing_input_fails(
    given: Path, scene: MakeScene, after: dict[str, str]
) -> None:
    (given / "raw.bin").write_bytes(b"raw")
    assert file_checks.input_untouched(scene(input_after=after)).verdict == "fail"


def test_without_hashes_of_the_run_nothing_is_known_of_the_input(scene: MakeScene) -> None:
    assert file_checks.input_untouched(scene()).verdict == "unknown"


def test_names_of_inputs_are_found_in_names_of_outputs(
    out: Path, given: Path, scene: MakeScene
) -> None:
    for number in (1, 2):
        write(given / f"report_000{number}.noisy.tiff", image())
        write(out / f"report_{number}_seg.tif", image())
    assert file_checks.file_stems(scene(LABELS)).verdict == "pass"


def test_names_of_ones_own_fail(out: Path, given: Path, scene: MakeScene) -> None:
    for number in (1, 2):
        write(given / f"plate_a{number}.tif", image())
        write(out / f"plate_result_{'xy'[number - 1]}_seg.tif", image())
    assert file_checks.file_stems(scene(LABELS)).verdict == "fail"


def test_a_single_file_belongs_to_no_input(scene: MakeScene) -> None:
    assert file_checks.file_stems(scene(MOSAIC)).verdict == "not_applicable"


def test_one_file_for_all_inputs_bears_no_name(out: Path, given: Path, scene: MakeScene) -> None:
    for name in ("a", "b"):
        write(given / f"{name}.tif", image())
    write(out / "all_seg.tif", image())
    assert file_checks.file_stems(scene(LABELS)).verdict == "not_applicable"


def test_nothing_delivered_has_no_names(given: Path, scene: MakeScene) -> None:
    write(given / "a.tif", image())
    assert file_checks.file_stems(scene(LABELS)).verdict == "unknown"


def test_required_deliverables_are_found_or_missing(out: Path, scene: MakeScene) -> None:
    assert file_checks.deliverables_found(scene(LABELS)).verdict == "fail"
    write(out / "a_seg.tif", image())
    assert file_checks.deliverables_found(scene(LABELS)).verdict == "pass"


def test_an_empty_file_is_hardly_a_deliverable(out: Path, scene: MakeScene) -> None:
    (out / "a_seg.tif").touch()
    assert file_checks.deliverables_found(scene(LABELS)).verdict == "unknown"
