import contextlib
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from scorers.errors import SubmissionFault
from scorers.files.images import Stack, open_stack, write_labels
from scorers.files.limits import Limits
from scorers.files.tree import Tree

Open = Callable[..., Stack]
VOLUME = np.arange(5 * 6 * 7, dtype=np.uint16).reshape(5, 6, 7)


@pytest.fixture
def opened(tmp_path: Path, tree_of: Callable[..., Tree]) -> Open:
    def of(name: str, limits: Limits | None = None) -> Stack:
        (file,) = (file for file in tree_of(tmp_path).files if file.name == name)
        return open_stack(file, limits or Limits())

    return of


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"compression": "zlib"},
        {"byteorder": ">"},
        {"imagej": True},
        {"bigtiff": True, "metadata": None},
        {"truncate": True},
        {"compression": "lzw", "predictor": True},
    ],
    ids=str,
)
def test_a_stack_is_read_plane_by_plane_however_it_is_stored(
    options: dict[str, object], tmp_path: Path, opened: Open
) -> None:
    tifffile.imwrite(tmp_path / "a.tif", VOLUME, **options)

    with opened("a.tif") as stack:
        assert stack.lazy
        assert (stack.shape, stack.dtype, stack.n_planes) == (VOLUME.shape, np.uint16, 5)
        np.testing.assert_array_equal(list(stack.planes()), VOLUME)
        np.testing.assert_array_equal(stack.plane(3), VOLUME[3])
        np.testing.assert_array_equal(stack.asarray(), VOLUME)


def test_a_single_plane_is_a_stack_of_one(tmp_path: Path, opened: Open) -> None:
    tifffile.imwrite(tmp_path / "a.tif", VOLUME[0])

    with opened("a.tif") as stack:
        assert (stack.shape, stack.n_planes, stack.plane_shape) == ((6, 7), 1, (6, 7))


def test_a_leading_axis_of_one_stays_where_the_file_declares_it(
    tmp_path: Path, opened: Open
) -> None:
    tifffile.imwrite(tmp_path / "a.tif", VOLUME[None], photometric="minisblack")

    with opened("a.tif") as stack:
        assert (stack.shape, stack.n_planes) == ((1, 5, 6, 7), 5)


def test_a_colour_image_keeps_its_last_axis(tmp_path: Path, opened: Open) -> None:
    tifffile.imwrite(tmp_path / "a.tif", np.zeros((6, 7, 3), np.uint8), photometric="rgb")

    with opened("a.tif") as stack:
        assert stack.shape == (6, 7, 3)
        assert not stack.lazy


def test_sixteen_bits_of_a_png_are_kept(tmp_path: Path, opened: Open) -> None:
    Image.fromarray(VOLUME[4]).save(tmp_path / "a.png")

    with opened("a.png") as stack:
        np.testing.assert_array_equal(stack.plane(0), VOLUME[4])


def test_a_palette_png_is_read_in_colour(tmp_path: Path, opened: Open) -> None:
    Image.new("RGB", (4, 3), (255, 0, 0)).convert("P").save(tmp_path / "a.png")

    with opened("a.png") as stack:
        assert stack.shape == (3, 4, 3)
        assert stack.asarray()[0, 0].tolist() == [255, 0, 0]


def test_written_labels_are_read_back_and_equal_to_the_byte(tmp_path: Path, opened: Open) -> None:
    for name in ("a.tif", "b.tif"):
        write_labels(tmp_path / name, VOLUME.shape, VOLUME.dtype, VOLUME)

    assert (tmp_path / "a.tif").read_bytes() == (tmp_path / "b.tif").read_bytes()
    with opened("a.tif") as stack:
        np.testing.assert_array_equal(stack.asarray(), VOLUME)


def test_an_ome_file_that_names_another_file_is_read_by_itself(
    tmp_path: Path, tree_of: Callable[..., Tree]
) -> None:
    reference = tmp_path / "reference.ome.tif"
    tifffile.imwrite(reference, VOLUME + 1, metadata={"axes": "ZYX"}, compression="zlib")
    folder = tmp_path / "submission"
    folder.mkdir()
    planes = "".join(
        f'<TiffData FirstZ="{z}" IFD="{z}" PlaneCount="1"><UUID FileName="../reference.ome.tif">'
        "urn:uuid:00000000-0000-0000-0000-000000000002</UUID></TiffData>"
        for z in range(5)
    )
    ome = (
        '<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06" '
        'UUID="urn:uuid:00000000-0000-0000-0000-000000000001"><Image ID="Image:0">'
        '<Pixels ID="Pixels:0" DimensionOrder="XYZCT" Type="uint16" SizeX="7" SizeY="6" '
        f'SizeZ="5" SizeC="1" SizeT="1">{planes}</Pixels></Image></OME>'
    )
    tifffile.imwrite(
        folder / "a.ome.tif",
        np.zeros((6, 7), np.uint16),
        description=ome,
        metadata=None,
        compression="zlib",
    )
    # The file does what it is meant to do where it is followed.
    np.testing.assert_array_equal(tifffile.imread(folder / "a.ome.tif"), VOLUME + 1)

    with open_stack(tree_of(folder).files[0]) as stack:
        assert stack.asarray().max() == 0


def test_ome_metadata_of_endless_planes_are_refused(tmp_path: Path, opened: Open) -> None:
    ome = (
        '<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0">'
        '<Pixels DimensionOrder="XYZCT" Type="uint16" SizeX="7" SizeY="6" '
        'SizeZ="1000000" SizeC="1000" SizeT="1"><TiffData/></Pixels></Image></OME>'
    )
    tifffile.imwrite(tmp_path / "a.ome.tif", VOLUME[0], description=ome, metadata=None)

    with pytest.raises(SubmissionFault, match="declares 1000000000 pages"):
        opened("a.ome.tif")


def test_ome_metadata_with_entities_are_refused(tmp_path: Path, opened: Open) -> None:
    ome = '<!DOCTYPE x [<!ENTITY a "aaaa">]><OME xmlns="http://x/OME/2016-06"></OME>'
    tifffile.imwrite(tmp_path / "a.ome.tif", VOLUME[0], description=ome, metadata=None)

    with pytest.raises(SubmissionFault, match="document type"):
        opened("a.ome.tif")


def _tiff_claiming(rows: int, columns: int) -> bytes:
    """Return a TIFF of a few bytes whose header claims a size."""
    tags = [(256, columns), (257, rows), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1)]
    tags += [(278, rows), (279, 16)]
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    header = struct.pack("<2sHI", b"II", 42, 24)
    return header + b"\0" * 16 + struct.pack("<H", len(tags)) + entries + struct.pack("<I", 0)


def test_a_small_file_that_claims_a_trillion_pixels_is_refused(
    tmp_path: Path, opened: Open
) -> None:
    (tmp_path / "a.tif").write_bytes(_tiff_claiming(10**6, 10**6))

    with pytest.raises(SubmissionFault, match=r"a\.tif (decodes to|needs|is cut short)"):
        opened("a.tif")


def test_an_image_that_decodes_to_more_than_allowed_is_refused_before_decoding(
    tmp_path: Path, opened: Open
) -> None:
    tifffile.imwrite(tmp_path / "a.tif", np.zeros((50, 100, 100), np.uint8), compression="zlib")

    with pytest.raises(SubmissionFault, match="decodes to 500000 bytes, more than 100000"):
        opened("a.tif", Limits(decoded_bytes=100_000))


def test_a_volume_larger_than_memory_allows_is_still_read_plane_by_plane(
    tmp_path: Path, opened: Open
) -> None:
    tifffile.imwrite(tmp_path / "a.tif", VOLUME, compression="zlib")

    with opened("a.tif", Limits(array_bytes=100)) as stack:
        np.testing.assert_array_equal(list(stack.planes()), VOLUME)
        with pytest.raises(SubmissionFault, match="needs 420 bytes of memory at once"):
            stack.asarray()


def test_a_png_of_too_many_pixels_is_refused_by_its_header(tmp_path: Path, opened: Open) -> None:
    Image.new("1", (3000, 3000)).save(tmp_path / "a.png")

    with pytest.raises(SubmissionFault, match="needs 72000000 bytes of memory"):
        opened("a.png", Limits(array_bytes=1_000_000))


def test_too_many_pages_are_refused(tmp_path: Path, opened: Open) -> None:
    tifffile.imwrite(tmp_path / "a.tif", VOLUME)

    with pytest.raises(SubmissionFault, match="more than 4 pages"):
        opened("a.tif", Limits(pages=4))


@pytest.mark.parametrize(
    "content",
    [b"", b"II*\0", b"II*\0\x08\0\0\0\xff\xff", b"not an image", b"\x89PNG\r\n\x1a\n" + b"\0" * 30],
    ids=["empty", "short header", "short directory", "text", "broken png"],
)
@pytest.mark.parametrize("name", ["a.tif", "a.png"])
def test_what_is_no_image_is_unreadable(
    name: str, content: bytes, tmp_path: Path, opened: Open
) -> None:
    (tmp_path / name).write_bytes(content)

    with pytest.raises(SubmissionFault, match=r"a\.(tif|png)"):
        opened(name)


def test_a_damaged_page_is_told_when_it_is_reached(tmp_path: Path, opened: Open) -> None:
    noise = np.random.default_rng(0).integers(0, 999, (3, 40, 50)).astype(np.uint16)
    tifffile.imwrite(tmp_path / "a.tif", noise, compression="zlib", photometric="minisblack")
    with tifffile.TiffFile(tmp_path / "a.tif") as tiff:
        offset = tiff.pages[2].dataoffsets[0]
    content = bytearray((tmp_path / "a.tif").read_bytes())
    content[offset : offset + 50] = b"\xff" * 50
    (tmp_path / "a.tif").write_bytes(content)

    with opened("a.tif") as stack:
        np.testing.assert_array_equal(stack.plane(0), noise[0])
        with pytest.raises(SubmissionFault, match="unreadable"):
            stack.plane(2)


def test_a_stack_that_was_cut_short_is_told(tmp_path: Path, opened: Open) -> None:
    tifffile.imwrite(tmp_path / "a.tif", VOLUME, truncate=True)
    content = (tmp_path / "a.tif").read_bytes()
    (tmp_path / "a.tif").write_bytes(content[:-50])

    with pytest.raises(SubmissionFault, match=r"a\.tif"):
        opened("a.tif").asarray()


def test_complex_numbers_are_no_image(tmp_path: Path, opened: Open) -> None:
    tifffile.imwrite(tmp_path / "a.tif", np.zeros((4, 4), np.complex64))

    with pytest.raises(SubmissionFault, match="complex64"):
        opened("a.tif")


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_file_is_read_or_refused_and_never_more(
    seed: int, tmp_path: Path, tree_of: Callable[..., Tree]
) -> None:
    rng = np.random.default_rng(seed)
    options: list[dict[str, object]] = [
        {"compression": "zlib"},
        {"imagej": True},
        {"ome": True},
        {"tile": (16, 16), "compression": "lzw"},
    ]
    path = tmp_path / "a.tif"
    for _ in range(60):
        tifffile.imwrite(path, VOLUME, photometric="minisblack", **options[seed])
        content = np.frombuffer(path.read_bytes(), np.uint8).copy()
        places = rng.integers(0, min(len(content), 700), rng.integers(1, 12))
        content[places] = rng.choice([0, 1, 127, 255], len(places))
        path.write_bytes(content.tobytes())

        with tree_of(tmp_path) as tree, contextlib.suppress(SubmissionFault):
            limits = Limits(array_bytes=1 << 24, decoded_bytes=1 << 26)
            with open_stack(tree.files[0], limits) as stack:
                assert sum(plane.nbytes for plane in stack.planes()) == stack.asarray().nbytes
