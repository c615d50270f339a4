"""What a TIFF may say of itself, and how it is opened."""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tifffile

from scorers.errors import SubmissionFault
from scorers.files.budget import Budget
from scorers.files.headers import refuse_endless
from scorers.files.images import open_stack
from scorers.files.limits import Limits
from scorers.files.ome import refuse_endless_ome
from scorers.files.tiffs import open_tiff
from scorers.files.tree import reference_tree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scorers.files.tree import Tree

IMAGE = np.random.default_rng(0).integers(0, 255, (5, 64, 48)).astype(np.uint8)


def _stored(**options: Any) -> bytes:
    stored = io.BytesIO()
    tifffile.imwrite(stored, IMAGE, photometric="minisblack", **options)
    return stored.getvalue()


def _chain(*following: int) -> bytes:
    """Return directories without tags, the first at byte 8, each naming the next."""
    pages = b"".join(struct.pack("<HI", 0, place) for place in following)
    return struct.pack("<2sHI", b"II", 42, 8) + pages


@pytest.mark.parametrize(
    "options",
    [{}, {"bigtiff": True}, {"byteorder": ">"}, {"bigtiff": True, "byteorder": ">"}],
    ids=["little", "big", "swapped", "big and swapped"],
)
def test_pages_and_metadata_are_counted_in_every_layout(options: dict[str, Any]) -> None:
    file = io.BytesIO(_stored(metadata=None, **options))

    n_directories, n_bytes = refuse_endless(file, Limits(directories=5, metadata_bytes=2000))
    assert n_directories == 5
    assert 700 < n_bytes < 2000
    assert file.tell() == 0
    with pytest.raises(SubmissionFault, match="lists more than 4 pages"):
        refuse_endless(file, Limits(directories=4))
    with pytest.raises(SubmissionFault, match="more than 300 bytes of metadata"):
        refuse_endless(file, Limits(metadata_bytes=300))


def test_pages_below_a_page_are_counted() -> None:
    stored = io.BytesIO()
    with tifffile.TiffWriter(stored) as writer:
        writer.write(IMAGE[0], subifds=2, metadata=None)
        for _ in range(2):
            writer.write(IMAGE[0, ::2], metadata=None)
    stored.seek(0)

    refuse_endless(stored, Limits(directories=3))
    with pytest.raises(SubmissionFault, match="lists more than 2 pages"):
        refuse_endless(stored, Limits(directories=2))


@pytest.mark.parametrize("places", [(8,), (14, 20, 14)], ids=["itself", "an earlier one"])
def test_a_chain_that_comes_back_to_itself_is_refused(places: tuple[int, ...]) -> None:
    with pytest.raises(SubmissionFault, match="comes back to itself"):
        refuse_endless(io.BytesIO(_chain(*places)), Limits())


@pytest.mark.parametrize(
    "content",
    [b"", b"II", b"II*\0", b"II*\0\xff\xff\xff\xff", b"no TIFF at all", _chain(999), _chain(0)],
    ids=["nothing", "order", "no offset", "beyond", "text", "chain beyond", "no tags"],
)
def test_what_is_malformed_is_left_to_the_library(content: bytes) -> None:
    refuse_endless(io.BytesIO(content), Limits())


@pytest.mark.parametrize(
    "options",
    [
        {"compression": "jpeg"},
        {"compression": "jpeg", "rowsperstrip": 16},
        {"compression": "jpeg", "tile": (32, 32)},
        {"compression": "zstd"},
        {"compression": "packbits"},
        {"compression": "lzma"},
        {"compression": "zlib", "tile": (1024, 1024)},
    ],
    ids=str,
)
def test_an_honest_image_is_read_however_it_is_compressed(
    options: dict[str, Any], tmp_path: Path, tree_of: Callable[..., Tree]
) -> None:
    (tmp_path / "a.tif").write_bytes(_stored(**options))

    with open_stack(tree_of(tmp_path).files[0]) as stack:
        np.testing.assert_array_equal(stack.asarray(), tifffile.imread(tmp_path / "a.tif"))


def test_a_compression_whose_output_is_not_bounded_is_refused(
    tmp_path: Path, tree_of: Callable[..., Tree]
) -> None:
    (tmp_path / "a.tif").write_bytes(_stored(compression="jpeg2000"))

    with (
        open_stack(tree_of(tmp_path).files[0]) as stack,
        pytest.raises(SubmissionFault, match=r"a\.tif is compressed by method 34712"),
    ):
        stack.plane(0)


def test_all_images_of_a_submission_share_what_may_be_decoded(
    tmp_path: Path, tree_of: Callable[..., Tree]
) -> None:
    for name in ("a.tif", "b.tif"):
        (tmp_path / name).write_bytes(_stored(compression="zlib"))
    limits = Limits(total_decoded_bytes=IMAGE.nbytes + 6 * 2**20)
    first, second = tree_of(tmp_path, limits).files

    with open_stack(first, limits) as stack:
        assert stack.asarray().nbytes == IMAGE.nbytes
    with pytest.raises(SubmissionFault, match=r"b\.tif is not read: all images together"):
        open_stack(second, limits)


def test_references_are_believed_and_not_counted(tmp_path: Path) -> None:
    (tmp_path / "a.tif").write_bytes(_stored(metadata=None))
    limits = Limits(total_decoded_bytes=10, directories=1)

    with reference_tree(tmp_path, limits) as tree, open_stack(tree.files[0], limits) as stack:
        assert tree.files[0].trusted
        assert stack.asarray().nbytes == IMAGE.nbytes


@pytest.mark.parametrize("trusted", [True, False])
def test_formats_of_makers_are_believed_only_in_files_of_ours(trusted: bool) -> None:
    text = "Aperio Image Library v10\n64x48 [0,0 64x48] (16x16)"
    file = io.BytesIO(_stored(description=text, metadata=None))

    with open_tiff(file, Limits(), Budget(Limits()), trusted=trusted) as tiff:
        assert tiff.is_svs is trusted


def _ome(inner: str, more: str = 'SizeZ="5" SizeC="1" SizeT="1"') -> str:
    head = '<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image>'
    return f'{head}<Pixels DimensionOrder="XYZCT" {more}>{inner}</Pixels></Image></OME>'


@pytest.mark.parametrize(
    "text",
    [
        _ome("<TiffData/>"),
        _ome('<TiffData IFD="0" PlaneCount="5"/>'),
        _ome('<TiffData IFD="4"/>' * 5),
        '<?xml version="1.0" encoding="UTF-16"?>' + _ome("<TiffData/>"),
        "no XML",
        "",
    ],
)
def test_ome_xml_within_the_bounds_passes(text: str) -> None:
    refuse_endless_ome(text, n_pages=5, most_pages=5, most_elements=20)


@pytest.mark.parametrize(
    "text",
    [
        _ome("", 'SizeZ="3" SizeC="2" SizeT="1"'),
        _ome("", 'SizeZ="&#54;" SizeC="1" SizeT="1"'),
        _ome("", 'SizeZ="6" x:SizeZ="1" xmlns:x="y" SizeC="1" SizeT="1"'),
        _ome('<TiffData IFD="0" PlaneCount="6"/>'),
        _ome('<TiffData NumPlanes="6"/>'),
        _ome("<TiffData/>" * 2),
        _ome('<ModuloAlongZ Start="0" End="60" Step="10"/>'),
        _ome('<ModuloAlongZ Start="0" End="1" Step="0"/>'),
        '<?xml version="1.0" encoding="UTF-16"?>' + _ome('<TiffData NumPlanes="6"/>'),
        _ome("<a/>" * 20),
        "<!DOCTYPE OME>" + _ome(""),
    ],
)
def test_ome_xml_beyond_the_bounds_is_refused(text: str) -> None:
    with pytest.raises(SubmissionFault, match=r"declares|more than 20 elements|document type"):
        refuse_endless_ome(text, n_pages=5, most_pages=5, most_elements=20)
