"""Stacks of several channels and slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile

from scorers.errors import SubmissionFault
from scorers.files.axes import geometry_of
from scorers.files.limits import Limits
from scorers.files.mosaics import open_mosaic, write_mosaic

if TYPE_CHECKING:
    from pathlib import Path

IMAGE = np.arange(3 * 4 * 10 * 12, dtype=np.uint16).reshape(3, 4, 10, 12)


@pytest.mark.parametrize(
    ("axes", "shape", "counts"),
    [
        ("ZCYX", (3, 4, 10, 12), (4, 3)),
        ("CZYX", (4, 3, 10, 12), (4, 3)),
        ("ZYXC", (3, 10, 12, 4), (4, 3)),
        ("ZYXS", (3, 10, 12, 4), (4, 3)),
        ("QQYX", (3, 4, 10, 12), (4, 3)),
        ("QYX", (4, 10, 12), (4, 1)),
        ("TCYX", (3, 4, 10, 12), (4, 3)),
        ("ZQYX", (3, 4, 10, 12), (4, 3)),
        ("TZCYX", (2, 3, 4, 10, 12), (4, 3)),
        ("YX", (10, 12), (1, 1)),
        ("QQQQ", (3, 4, 10, 12), (4, 3)),
    ],
)
def test_axes_are_told_by_letter_and_else_by_order(axes, shape, counts) -> None:
    at = geometry_of(axes, shape)
    assert (at.n_channels, at.n_slices) == counts
    assert (at.height, at.width) == (10, 12)


@pytest.mark.parametrize(
    "kind", ["zlib", "imagej", "planar", "last", "ome", "truncated", "one", "big"]
)
def test_every_plane_is_found_in_every_kind_of_file(kind: str, tmp_path: Path, tree_of) -> None:
    path = tmp_path / "a_stitched.tif"
    axes = {"axes": "ZCYX"}
    if kind == "zlib":
        write_mosaic(path, IMAGE.shape, IMAGE.dtype, IMAGE.reshape(-1, 10, 12))
    elif kind == "imagej":
        tifffile.imwrite(path, IMAGE, imagej=True)
    elif kind == "planar":
        tifffile.imwrite(path, IMAGE, metadata=axes, photometric="rgb", planarconfig="separate")
    elif kind == "last":
        last = np.moveaxis(IMAGE, 1, -1)
        tifffile.imwrite(path, last, metadata={"axes": "ZYXC"}, photometric="rgb", compression=8)
    elif kind == "ome":
        path = path.with_suffix(".ome.tif")
        tifffile.imwrite(path, np.moveaxis(IMAGE, 1, 0), metadata={"axes": "CZYX"})
    elif kind == "truncated":
        tifffile.imwrite(path, IMAGE, metadata=axes | {"truncate": True}, photometric="minisblack")
    elif kind == "big":
        whole = {"photometric": "rgb", "planarconfig": "separate", "byteorder": ">"}
        tifffile.imwrite(path, IMAGE, metadata=axes, **whole)
    else:
        tifffile.imwrite(path, IMAGE, metadata=axes, photometric="minisblack", rowsperstrip=2)
    (file,) = tree_of(tmp_path).files
    with open_mosaic(file, Limits()) as mosaic:
        assert (mosaic.geometry.n_channels, mosaic.geometry.n_slices) == (4, 3)
        for z in range(3):
            for channel in range(4):
                assert (mosaic.image(channel, z) == IMAGE[z, channel]).all()


def test_a_page_holds_no_more_than_the_file_asks_for(tmp_path: Path, tree_of) -> None:
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, IMAGE, metadata={"axes": "ZCYX"}, photometric="minisblack")
    (file,) = tree_of(tmp_path).files
    with open_mosaic(file, Limits(array_bytes=300)) as mosaic:
        assert mosaic.page_shape == (10, 12)
        assert mosaic.n_pages == 12
    with pytest.raises(SubmissionFault, match="memory"):
        open_mosaic(file, Limits(array_bytes=100))


def test_what_is_no_tiff_is_unreadable(tmp_path: Path, tree_of) -> None:
    (tmp_path / "a.png").write_bytes(b"x")
    (tmp_path / "b.tif").write_bytes(b"II*\0\xff\xff\xff\xff")
    for file in tree_of(tmp_path).files:
        with pytest.raises(SubmissionFault, match=str(file.path)):
            open_mosaic(file, Limits())


def test_pages_that_cannot_be_decoded_are_unreadable(tmp_path: Path, tree_of) -> None:
    path = tmp_path / "a.tif"
    write_mosaic(path, IMAGE.shape, IMAGE.dtype, IMAGE.reshape(-1, 10, 12))
    with tifffile.TiffFile(path) as tiff:
        offset, count = (tiff.pages[5].tags[name].value[0] for name in (273, 279))
    content = bytearray(path.read_bytes())
    content[offset : offset + count] = bytes(count)
    path.write_bytes(content)
    (file,) = tree_of(tmp_path).files
    with pytest.raises(SubmissionFault, match="unreadable"), open_mosaic(file, Limits()) as mosaic:
        list(mosaic.pages())
