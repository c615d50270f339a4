"""The renderer, called in this process: what it opens, what it shows, what it says."""

from __future__ import annotations

import io
import struct
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tifffile
from PIL import Image

from evals.harness.viewing.answer import view
from evals.harness.viewing.bounds import MAX_PNG_BYTES, MAX_SIDE
from evals.harness.viewing.opening import ViewError

if TYPE_CHECKING:
    from pathlib import Path


def see(path: Path, **options: Any) -> tuple[str, np.ndarray[Any, np.dtype[np.uint8]]]:
    text, png = view({"path": str(path), "roots": [str(path.parent)], **options})
    assert len(png) <= MAX_PNG_BYTES
    with Image.open(io.BytesIO(png)) as picture:
        pixels = np.asarray(picture)
    assert max(pixels.shape[:2]) <= MAX_SIDE
    return text, pixels


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(ViewError) as caught:
        see(path, **options)
    return str(caught.value)


@pytest.fixture
def ramp(tmp_path: Path) -> Path:
    """A 16-bit plane that rises from 100 at the left to 4195 at the right."""
    plane = np.broadcast_to(np.arange(4096, dtype=np.uint16)[::8] + 100, (256, 512))
    tifffile.imwrite(tmp_path / "ramp.tif", plane)
    return tmp_path / "ramp.tif"


@pytest.fixture
def hyperstack(tmp_path: Path) -> Path:
    """An ImageJ hyperstack, T=3, Z=4, C=2: each plane holds 1000 T + 100 Z + 10 C everywhere."""
    t, z, c = np.meshgrid(range(3), range(4), range(2), indexing="ij")
    values = (1000 * t + 100 * z + 10 * c).astype(np.uint16)
    stack = np.broadcast_to(values[..., None, None], (3, 4, 2, 20, 30))
    fields = {"axes": "TZCYX", "spacing": 1.5, "unit": "um", "finterval": 14.5, "tunit": "min"}
    tifffile.imwrite(
        tmp_path / "movie.tif", stack, imagej=True, resolution=(2.5, 2.5), metadata=fields
    )
    return tmp_path / "movie.tif"


def test_a_plane_is_stretched_from_black_to_white(ramp: Path) -> None:
    text, pixels = see(ramp)
    assert "256 x 512, axes Y,X, uint16" in text
    assert "Values in view: 100 to 4188" in text
    assert pixels.shape == (256, 512, 3)
    assert pixels[0, 0].tolist() == [0, 0, 0]
    assert pixels[0, -1].tolist() == [255, 255, 255]


def test_two_values_set_the_contrast(ramp: Path) -> None:
    _, pixels = see(ramp, contrast="100,356")
    assert pixels[0, 16, 0] == 128
    assert pixels[0, 40].tolist() == [255, 255, 255]


def test_percentiles_set_the_contrast(ramp: Path) -> None:
    text, _ = see(ramp, contrast="25%,75%")
    assert "from 1122 to 3166" in text


def test_colours_of_an_8_bit_image_stay_as_they_are(tmp_path: Path) -> None:
    stain = np.full((40, 50, 3), (180, 90, 160), np.uint8)
    Image.fromarray(stain).save(tmp_path / "slide.png")
    text, pixels = see(tmp_path / "slide.png")
    assert "axes Y,X,S" in text
    assert pixels[200, 200].tolist() == [180, 90, 160]


def test_one_colour_of_an_image_is_shown_alone(tmp_path: Path) -> None:
    stain = np.full((40, 50, 3), (180, 90, 160), np.uint8)
    Image.fromarray(stain).save(tmp_path / "slide.png")
    assert "Values in view: 90 to 90" in see(tmp_path / "slide.png", channel=1)[0]


def test_a_dark_grey_image_saved_in_colour_is_stretched(tmp_path: Path) -> None:
    dark = np.tile(np.arange(4, 24, dtype=np.uint8).repeat(16), (300, 1))
    opaque = np.full(dark.shape, 255, np.uint8)
    Image.fromarray(np.dstack([dark, dark, dark, opaque])).save(tmp_path / "dark.png")
    text, pixels = see(tmp_path / "dark.png")
    assert "grey from 4 to 23" in text
    assert "Values in view: 4 to 23" in text
    assert pixels[0, -1].tolist() == [255, 255, 255]


def test_a_dark_colour_image_is_stretched_as_one(tmp_path: Path) -> None:
    dark = np.zeros((300, 300, 3), np.uint8)
    dark[:150, :, 1] = 40
    dark[150:, :, 2] = 20
    Image.fromarray(dark).save(tmp_path / "dark.png")
    _, pixels = see(tmp_path / "dark.png")
    assert pixels[0, 0].tolist() == [0, 255, 0]
    assert pixels[-1, 0].tolist() == [0, 0, 128]


def test_small_images_are_enlarged_by_a_whole_factor(tmp_path: Path) -> None:
    Image.fromarray(np.eye(60, dtype=np.uint8) * 255).save(tmp_path / "small.png")
    text, pixels = see(tmp_path / "small.png")
    assert pixels.shape == (480, 480, 3)
    assert "zoom 8." in text


def test_a_stack_shows_its_middle_plane_unless_told(tmp_path: Path) -> None:
    stack = np.zeros((9, 32, 32), np.float32)
    stack += np.arange(9, dtype=np.float32)[:, None, None]
    tifffile.imwrite(tmp_path / "stack.tif", stack)
    assert "Values in view: 4 to 4" in see(tmp_path / "stack.tif")[0]
    assert "Values in view: 7 to 7" in see(tmp_path / "stack.tif", plane=7)[0]
    assert "Values in view: 8 to 8" in see(tmp_path / "stack.tif", plane="-1")[0]


@pytest.mark.parametrize(("how", "value"), [("max", 8), ("min", 0), ("mean", 4)])
def test_a_projection_goes_over_the_whole_stack(tmp_path: Path, how: str, value: int) -> None:
    stack = np.zeros((9, 32, 32), np.uint8)
    stack += np.arange(9, dtype=np.uint8)[:, None, None]
    tifffile.imwrite(tmp_path / "stack.tif", stack, compression="zlib")
    text, _ = see(tmp_path / "stack.tif", projection=how)
    assert f"Values in view: {value} to {value}" in text


def test_a_hyperstack_tells_its_calibration(hyperstack: Path) -> None:
    text, _ = see(hyperstack)
    assert "3 x 4 x 2 x 20 x 30, axes T,Z,C,Y,X, uint16" in text
    assert "pixel size 0.4 µm, Z step 1.5 µm, frame interval 14.5 min" in text


def test_a_hyperstack_shows_first_time_middle_depth_and_all_channels(hyperstack: Path) -> None:
    text, _ = see(hyperstack)
    assert "T=0, Z=2, C=0+1" in text
    assert "Values in view: 200 to 210" in text


def test_a_plane_of_a_hyperstack_is_named_by_axis(hyperstack: Path) -> None:
    text, _ = see(hyperstack, plane="T=2,Z=3", channel=1)
    assert "Values in view: 2310 to 2310" in text


def test_a_bare_plane_number_goes_along_depth(hyperstack: Path) -> None:
    assert "T=0, Z=1" in see(hyperstack, plane=1)[0]


def test_a_projection_of_a_hyperstack_keeps_time_and_channel(hyperstack: Path) -> None:
    text, _ = see(hyperstack, plane="T=1", channel=0, projection="max")
    assert "T=1, max over Z=0..3" in text
    assert "Values in view: 1300 to 1300" in text


def test_channels_of_a_composite_have_their_own_colours(tmp_path: Path) -> None:
    image = np.zeros((2, 64, 64), np.uint16)
    image[0, :, :20] = np.arange(900, 964)[:, None]
    image[1, :, 40:] = np.arange(500, 564)[:, None]
    tifffile.imwrite(tmp_path / "two.ome.tif", image, metadata={"axes": "CYX"})
    _, pixels = see(tmp_path / "two.ome.tif", contrast="0,400")
    assert pixels[100, 50].tolist() == [0, 255, 76]
    assert pixels[100, 450].tolist() == [255, 0, 204]


def test_pixel_size_of_ome_is_told(tmp_path: Path) -> None:
    meta = {"axes": "ZYX", "PhysicalSizeX": 0.1, "PhysicalSizeY": 0.1, "PhysicalSizeZ": 0.5}
    tifffile.imwrite(tmp_path / "v.ome.tif", np.zeros((3, 8, 8), np.uint8), metadata=meta)
    assert "pixel size X 0.1, Y 0.1, Z 0.5 µm" in see(tmp_path / "v.ome.tif")[0]


def test_pixel_size_in_centimetres_is_told_in_micrometres(tmp_path: Path) -> None:
    tifffile.imwrite(
        tmp_path / "plain.tif",
        np.zeros((8, 8), np.uint8),
        resolution=(40_000, 40_000),
        resolutionunit="CENTIMETER",
    )
    assert "pixel size 0.25 µm" in see(tmp_path / "plain.tif")[0]


def test_a_resolution_without_unit_is_not_told(ramp: Path) -> None:
    assert "pixel size" not in see(ramp)[0]


def test_label_images_come_in_distinct_colours(tmp_path: Path) -> None:
    labels = np.zeros((60, 90), np.uint16)
    for number in range(6):
        labels[10:50, 15 * number : 15 * number + 12] = number + 1
    tifffile.imwrite(tmp_path / "labels.tif", labels)
    text, pixels = see(tmp_path / "labels.tif")
    assert "label colours, 6 labels in view" in text
    colours = {tuple(pixels[150, 75 * number + 20]) for number in range(6)}
    assert len(colours) == 6
    assert (0, 0, 0) not in colours
    assert pixels[0, 0].tolist() == [0, 0, 0]


def test_a_noisy_image_is_not_taken_for_labels(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).poisson(8, (64, 64)).astype(np.uint8)
    Image.fromarray(noise).save(tmp_path / "noise.png")
    assert "grey from" in see(tmp_path / "noise.png")[0]


def test_a_region_limits_the_view(ramp: Path) -> None:
    text, pixels = see(ramp, region="10:74,256:384")
    assert "region 10:74,256:384" in text
    assert pixels.shape == (256, 512, 3)
    assert "Values in view: 2148 to 3164" in text


def test_a_large_plane_is_reduced_by_means(tmp_path: Path) -> None:
    checks = (np.indices((5000, 4200)).sum(axis=0) % 2 * 200).astype(np.uint8)
    np.save(tmp_path / "large.npy", checks)
    _, pixels = see(tmp_path / "large.npy", contrast="0,200")
    assert max(pixels.shape) == 1024
    assert set(np.unique(pixels[100:-100, 100:-100])) <= {127, 128}


def test_noise_in_colour_is_reduced_until_it_fits(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (1024, 1024, 3), np.uint8)
    Image.fromarray(noise).save(tmp_path / "noise.png")
    _, pixels = see(tmp_path / "noise.png")
    assert max(pixels.shape) < 1024


def test_values_that_are_no_numbers_are_black(tmp_path: Path) -> None:
    image = np.ones((300, 300), np.float32)
    image[:150] = np.nan
    image[200:] = 3
    np.save(tmp_path / "holes.npy", image)
    text, pixels = see(tmp_path / "holes.npy")
    assert pixels[0, 0].tolist() == [0, 0, 0]
    assert "Values in view: 1 to 3" in text


def test_planes_come_without_reading_the_rest_of_the_file(tmp_path: Path) -> None:
    """A sparse file of 40 GB holds one plane that is looked at."""
    header = io.BytesIO()
    np.lib.format.write_array_header_2_0(
        header, {"descr": "<u2", "fortran_order": False, "shape": (20000, 1000, 1000)}
    )
    with (tmp_path / "volume.npy").open("wb") as file:
        file.write(header.getvalue())
        file.truncate(len(header.getvalue()) + 2 * 20000 * 1000 * 1000)
    text, _ = see(tmp_path / "volume.npy", plane=3, contrast="0,1")
    assert "20000 x 1000 x 1000" in text
    assert "would read 40 GB" in refusal(tmp_path / "volume.npy", projection="max")


def test_a_plane_of_a_claimed_huge_size_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bomb.png").write_bytes(_png_claiming(200_000, 200_000))
    assert "would decode to 40.0 GB" in refusal(tmp_path / "bomb.png")


def test_a_tiff_of_a_claimed_huge_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.tif"
    tifffile.imwrite(path, np.zeros((16, 16), np.uint8), compression="zlib")
    with tifffile.TiffFile(path, mode="r+b") as tif:
        for name in ("ImageWidth", "ImageLength", "RowsPerStrip"):
            tif.pages[0].tags[name].overwrite(60_000)
    assert "would decode to 3.6 GB" in refusal(path)


def test_pickles_are_not_opened(tmp_path: Path) -> None:
    np.save(tmp_path / "objects.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="object"):
        see(tmp_path / "objects.npy")


def test_a_wrong_name_is_answered_with_near_ones(tmp_path: Path) -> None:
    for name in ("cell_001.tif", "cell_002.tif", "other.csv"):
        (tmp_path / name).write_bytes(b"")
    said = refusal(tmp_path / "cel_001.tif")
    assert "There is no file" in said
    assert f"Did you mean {tmp_path / 'cell_001.tif'}" in said
    assert "other.csv" not in said


def test_a_relative_name_is_found_below_the_roots(ramp: Path) -> None:
    text, _ = view({"path": "ramp.tif", "roots": ["/nowhere", str(ramp.parent)]})
    assert str(ramp) in text


def test_a_folder_is_answered_with_its_images(ramp: Path) -> None:
    assert f"is a folder. Images in it: {ramp}" in refusal(ramp.parent)


def test_other_kinds_of_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("a,b\n", encoding="utf-8")
    assert "cannot be shown, only .tif" in refusal(tmp_path / "table.csv")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"plane": 9}, "plane Z=9 is outside: Z goes from 0 to 3"),
        ({"plane": "W=1"}, "write for example T=0,Z=0"),
        ({"plane": "T=x"}, "is not understood"),
        ({"channel": 2}, "there are channels 0 to 1"),
        ({"projection": "median"}, "write one of none, max, mean, min"),
        ({"contrast": "vivid"}, "write auto, full, labels"),
        ({"contrast": "9,1"}, "the numbers must rise"),
        ({"contrast": "1%,200%"}, "percentages from 0 to 100"),
        ({"contrast": "1e,2"}, "is not a number"),
        ({"contrast": "labels"}, "needs one channel of whole numbers"),
        ({"region": "0:5"}, "write y0:y1,x0:x1"),
        ({"region": "30:40,0:5"}, "is empty; the image has 20 rows, 30 columns"),
    ],
)
def test_what_cannot_be_shown_is_told(hyperstack: Path, options: dict[str, Any], said: str) -> None:
    assert said in refusal(hyperstack, **options)


def test_a_single_plane_has_no_stack_to_choose_from(ramp: Path) -> None:
    assert "single plane" in refusal(ramp, plane=2)
    assert "nothing to project" in refusal(ramp, projection="max")


def _png_claiming(width: int, height: int) -> bytes:
    """Return a PNG whose header tells a size that its data do not have."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
