"""Hostile TIFF files. Each function writes one over the file at a path."""

from __future__ import annotations

import json
import struct
import zlib
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import tifffile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_OME = '<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06">'
_SHORT, _LONG, _ASCII, _LONG8 = 3, 4, 2, 16
_PIXEL = np.ones((8, 8), np.uint8)

Tag = tuple[int, int, int, int]


def _directory(tags: Sequence[Tag], following: int) -> bytes:
    entries = b"".join(struct.pack("<HHII", *tag) for tag in sorted(tags))
    return struct.pack("<H", len(tags)) + entries + struct.pack("<I", following)


def _tags(rows: int, columns: int, **more: int) -> list[Tag]:
    """Return tags of an uncompressed 8-bit image whose only strip lies at byte 8."""
    values = {256: columns, 257: rows, 258: 8, 259: 1, 262: 1, 273: 8, 277: 1, 278: rows, 279: 16}
    values |= {int(key.lstrip("t")): value for key, value in more.items()}
    return [(tag, _LONG, 1, value) for tag, value in values.items()]


def _tiff(tags: Sequence[Tag], following: int = 0, content: bytes = b"\0" * 16) -> bytes:
    """Return a TIFF of one directory, which stands behind the content."""
    start = 8 + len(content)
    return struct.pack("<2sHI", b"II", 42, start) + content + _directory(tags, following)


def _ome(path: Path, inner: str, image: object = _PIXEL) -> None:
    tifffile.imwrite(path, image, description=f"{_OME}{inner}</OME>", metadata=None)


def _pixels(inner: str = "<TiffData/>", z: int = 1, more: str = "") -> str:
    return (
        f'<Image ID="Image:0"><Pixels DimensionOrder="XYZCT" Type="uint8" SizeX="8" SizeY="8" '
        f'SizeZ="{z}" SizeC="1" SizeT="1" {more}>{inner}</Pixels></Image>'
    )


def _image(path: Path, image: NDArray[Any]) -> None:
    # Whatever the name of the file says, it is no OME-TIFF, which knows fewer types of numbers.
    tifffile.imwrite(path, image, photometric="minisblack", ome=False)


def tiff_of_nothing(path: Path) -> None:
    path.write_bytes(b"")


def tiff_of_a_header_alone(path: Path) -> None:
    path.write_bytes(b"II*\0\x08\0\0\0")


def tiff_that_claims_a_trillion_pixels(path: Path) -> None:
    path.write_bytes(_tiff(_tags(10**6, 10**6)).ljust(10_000, b"\0"))


def tiff_that_claims_a_trillion_packed_pixels(path: Path) -> None:
    path.write_bytes(_tiff(_tags(10**6, 10**6, t259=8)).ljust(10_000, b"\0"))


def tiff_that_claims_a_gigapixel_strip_by_strip(path: Path) -> None:
    path.write_bytes(_tiff(_tags(30_000, 30_000, t259=8, t278=1)))


def tiff_of_65535_samples_a_pixel(path: Path) -> None:
    path.write_bytes(_tiff(_tags(4096, 4096, t277=65535)))


def tiff_whose_page_follows_itself(path: Path) -> None:
    path.write_bytes(_tiff(_tags(4, 4), following=24))


def tiff_whose_pages_loop_late(path: Path) -> None:
    size = len(_directory(_tags(4, 4), 0))
    places = [24 + number * size for number in range(200)]
    pages = zip(places, [*places[1:], places[150]], strict=True)
    content = b"".join(_directory(_tags(4, 4), following) for _, following in pages)
    path.write_bytes(struct.pack("<2sHI", b"II", 42, 24) + b"\0" * 16 + content)


def tiff_of_two_thousand_pages_without_tags(path: Path) -> None:
    pages = b"".join(struct.pack("<HI", 0, 8 + 6 * (number + 1)) for number in range(2_000))
    path.write_bytes(struct.pack("<2sHI", b"II", 42, 8) + pages)


def tiff_of_nearly_too_many_pages(path: Path) -> None:
    size = len(_directory(_tags(4, 4), 0))
    pages = (
        _directory(_tags(4, 4 + number % 2), 24 + (number + 1) * size) for number in range(980)
    )
    path.write_bytes(struct.pack("<2sHI", b"II", 42, 24) + b"\0" * 16 + b"".join(pages))


def tiff_with_a_tag_of_a_billion_values(path: Path) -> None:
    path.write_bytes(_tiff([*_tags(4, 4), (65000, _LONG, 10**9, 8)]))
    with path.open("r+b") as file:
        file.truncate(5 * 2**30)


def tiff_with_a_billion_strips(path: Path) -> None:
    tags = [tag for tag in _tags(4, 4) if tag[0] not in {273, 279}]
    path.write_bytes(_tiff([*tags, (273, _LONG, 10**9, 8), (279, _LONG, 10**9, 8)]))
    with path.open("r+b") as file:
        file.truncate(5 * 2**30)


def tiff_with_a_million_pages_below_one(path: Path) -> None:
    path.write_bytes(_tiff([*_tags(4, 4), (330, _LONG, 10**6, 8)], content=b"\x08\0\0\0" * 10**6))


def tiff_that_is_cut_in_the_middle(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def tiff_with_strips_beyond_its_end(path: Path) -> None:
    path.write_bytes(_tiff(_tags(64, 64, t273=4000, t279=4096)))


def tiff_with_a_strip_of_four_gigabytes(path: Path) -> None:
    path.write_bytes(_tiff(_tags(4, 4, t259=8, t279=2**32 - 1)))
    with path.open("r+b") as file:
        file.truncate(2**32 + 2**20)


@cache
def _zeros_of_128_megabytes() -> bytes:
    packer = zlib.compressobj(1)
    return b"".join(packer.compress(bytes(2**24)) for _ in range(8)) + packer.flush()


def tiff_with_a_strip_that_inflates(path: Path) -> None:
    packed = _zeros_of_128_megabytes()
    path.write_bytes(_tiff(_tags(16, 16, t259=8, t279=len(packed)), content=packed))


def tiff_with_a_tile_of_four_gigapixels(path: Path) -> None:
    tags = [tag for tag in _tags(8, 8, t259=8) if tag[0] not in {273, 278, 279}]
    tiles = [
        (322, _LONG, 1, 65536),
        (323, _LONG, 1, 65536),
        (324, _LONG, 1, 8),
        (325, _LONG, 1, 16),
    ]
    path.write_bytes(_tiff([*tags, *tiles], content=zlib.compress(bytes(16)).ljust(16, b"\0")))


def tiff_with_a_million_tiles_for_one_pixel(path: Path) -> None:
    packed = zlib.compress(bytes(1024 * 1024)).ljust(2048, b"\0")
    n = 10**6
    content = packed + struct.pack("<I", 8) * n + struct.pack("<I", len(packed)) * n
    tags = [tag for tag in _tags(1, 1, t259=8) if tag[0] not in {273, 278, 279}]
    places = [(324, _LONG, n, 8 + len(packed)), (325, _LONG, n, 8 + len(packed) + 4 * n)]
    sides = [(322, _LONG, 1, 1024), (323, _LONG, 1, 1024)]
    path.write_bytes(_tiff([*tags, *sides, *places], content=content))


def tiff_with_a_jpeg_larger_than_itself(path: Path) -> None:
    head = bytes.fromhex("ffd8ffc0000b08ffffffff01011100ffda0008010100003f00")
    path.write_bytes(_tiff(_tags(16, 16, t259=7, t279=len(head)), content=head))


def tiff_with_a_jpeg_without_a_head(path: Path) -> None:
    path.write_bytes(_tiff(_tags(16, 16, t259=7), content=b"\xff" * 16))


def tiff_with_a_jpeg_2000_larger_than_itself(path: Path) -> None:
    size = struct.pack(">HIIIIIIIIHBBB", 0, 60000, 60000, 0, 0, 60000, 60000, 0, 0, 1, 7, 1, 1)
    head = b"\xff\x4f\xff\x51" + struct.pack(">H", len(size) + 2) + size + b"\xff\xd9"
    path.write_bytes(_tiff(_tags(16, 16, t259=34712, t279=len(head)), content=head))


def tiff_compressed_in_an_unknown_way(path: Path) -> None:
    path.write_bytes(_tiff(_tags(16, 16, t259=12345)))


def tiff_of_no_width(path: Path) -> None:
    path.write_bytes(_tiff(_tags(4, 0)))


def tiff_of_no_bits(path: Path) -> None:
    path.write_bytes(_tiff(_tags(4, 4, t258=0)))


def tiff_of_eight_gigabytes_of_holes(path: Path) -> None:
    rows = 80_000
    path.write_bytes(_tiff(_tags(rows, rows, t273=4096, t278=rows, t279=2**32 - 1)))
    with path.open("r+b") as file:
        file.truncate(rows * rows + 4096)


def tiff_of_many_planes_of_holes(path: Path) -> None:
    """Write a hyperstack as ImageJ does, all of whose two gigabytes are one hole."""
    side, n = 64, 500_000
    text = f"ImageJ=1.53\nimages={n}\nslices={n}\n".encode()
    tags = [*_tags(side, side, t273=4096, t279=side * side), (270, _ASCII, len(text), 8)]
    path.write_bytes(_tiff(tags, content=text))
    with path.open("r+b") as file:
        file.truncate(4096 + n * side * side)


def imagej_of_a_trillion_images(path: Path) -> None:
    text = "ImageJ=1.53\nimages=1000000000000\nslices=1000000\nframes=1000000\nhyperstack=true\n"
    tifffile.imwrite(path, _PIXEL, description=text, metadata=None)


def imagej_of_packed_images_that_are_not_there(path: Path) -> None:
    text = "ImageJ=1.53\nimages=100000\nslices=100000\n"
    tifffile.imwrite(path, _PIXEL, description=text, metadata=None, compression="zlib")


def imagej_of_a_negative_count(path: Path) -> None:
    text = "ImageJ=1.53\nimages=-3\nslices=-1\nchannels=0\n"
    tifffile.imwrite(path, _PIXEL, description=text, metadata=None)


def imagej_metadata_that_point_nowhere(path: Path) -> None:
    tags = [*_tags(4, 4), (50838, _LONG, 3, 2**31), (50839, 1, 2**31 - 1, 2**31)]
    path.write_bytes(_tiff(tags))


def shaped_tiff_of_a_trillion_planes(path: Path) -> None:
    text = json.dumps({"shape": [10**12, 8, 8]})
    tifffile.imwrite(path, _PIXEL, description=text, metadata=None)


def shaped_tiff_of_negative_lengths(path: Path) -> None:
    text = json.dumps({"shape": [-1, -8, 8]})
    tifffile.imwrite(path, _PIXEL, description=text, metadata=None)


def shaped_tiff_of_nested_json(path: Path) -> None:
    text = '{"shape": ' + "[" * 200_000 + "]" * 200_000 + "}"
    tifffile.imwrite(path, _PIXEL, description=text, metadata=None)


def tiff_with_a_description_of_nine_megabytes(path: Path) -> None:
    tifffile.imwrite(path, _PIXEL, description="A" * 9_000_000, metadata=None)


def ome_of_a_billion_planes(path: Path) -> None:
    _ome(path, _pixels(z=10**9))


def ome_of_a_billion_planes_in_disguise(path: Path) -> None:
    _ome(path, _pixels(z=1).replace('SizeZ="1"', 'SizeZ="1&#48;00000000"'))


def ome_of_a_trillion_planes_in_one_file(path: Path) -> None:
    _ome(path, _pixels('<TiffData IFD="0" PlaneCount="1000000000000"/>'))


def ome_that_lists_its_planes_again_and_again(path: Path) -> None:
    _ome(path, _pixels("<TiffData/>" * 100_000), np.ones((300, 8, 8), np.uint8))


def ome_of_planes_beside_the_image_plane(path: Path) -> None:
    inner = '<TiffData FirstX="7" FirstY="99999" IFD="0"/>'
    _ome(path, _pixels(inner).replace("XYZCT", "ZCTXY").replace('SizeY="8"', 'SizeY="1000000"'))


def ome_with_a_split_axis_of_a_trillion(path: Path) -> None:
    split = '<ModuloAlongZ Type="angle" Start="0" End="1000000000000" Step="1"/>'
    notes = (
        '<StructuredAnnotations><XMLAnnotation ID="A" Namespace="x/modulo">'
        f"<Value><Modulo>{split}</Modulo></Value></XMLAnnotation></StructuredAnnotations>"
    )
    _ome(path, notes + _pixels())


def ome_with_entities_in_entities(path: Path) -> None:
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    text = f'<!DOCTYPE OME [<!ENTITY l0 "lol">{levels}]>{_OME}&l9;</OME>'
    tifffile.imwrite(path, _PIXEL, description=text, metadata=None)


def ome_with_an_entity_that_is_a_file(path: Path) -> None:
    text = f'<!DOCTYPE OME [<!ENTITY f SYSTEM "file:///etc/passwd">]>{_OME}&f;</OME>'
    tifffile.imwrite(path, _PIXEL, description=text, metadata=None)


def ome_of_more_elements_than_allowed(path: Path) -> None:
    _ome(path, "<a/>" * 110_000 + _pixels())


def ome_nested_ten_thousand_deep(path: Path) -> None:
    _ome(path, "<a>" * 10_000 + "</a>" * 10_000 + _pixels())


def ome_that_is_no_xml(path: Path) -> None:
    tifffile.imwrite(path, _PIXEL, description=f"{_OME}<Image><<<</OME>", metadata=None)


def metamorph_stack_of_four_billion_planes(path: Path) -> None:
    tags = [(33628, _LONG, 1, 8), (33629, 5, 2**32 - 1, 8)]
    path.write_bytes(_tiff([*_tags(4, 4), *tags]))


def lsm_of_two_billion_time_stamps(path: Path) -> None:
    info = struct.pack("<II", 0x00400494C, 500) + b"\x10\0\0\0" * 140
    path.write_bytes(_tiff([*_tags(4, 4), (34412, 1, len(info), 8)], content=info))
    with path.open("r+b") as file:
        file.truncate(2**33 - 1)


def micromanager_stack_with_an_index_elsewhere(path: Path) -> None:
    head = struct.pack("<2sHI", b"II", 42, 40)
    head += struct.pack(
        "<IIIIIIII", 54773648, 2**31, 483765892, 2**31, 99384722, 2**31, 2355492, 64
    )
    path.write_bytes(head + _directory(_tags(4, 4), 0) + b"{}" * 40)


def tiff_of_random_bytes_after_its_header(path: Path) -> None:
    path.write_bytes(b"II*\0\x08\0\0\0" + np.random.default_rng(0).bytes(20_000))


def tiff_whose_every_pixel_is_an_object(path: Path) -> None:
    shape = tifffile.imread(path).shape
    labels = np.arange(1, np.prod(shape) + 1, dtype=np.uint32).reshape(shape)
    _image(path, labels)


def tiff_of_nothing_but_nan(path: Path) -> None:
    shape = tifffile.imread(path).shape
    _image(path, np.full(shape, np.nan, np.float32))


def tiff_of_infinities(path: Path) -> None:
    image = np.full(tifffile.imread(path).shape, np.inf, np.float64)
    image[..., ::2] = -np.inf
    _image(path, image)


def tiff_of_the_largest_floats(path: Path) -> None:
    image = np.full(tifffile.imread(path).shape, np.finfo(np.float64).max)
    image[..., ::2] *= -1
    _image(path, image)


def tiff_of_labels_beyond_63_bits(path: Path) -> None:
    shape = tifffile.imread(path).shape
    _image(path, np.full(shape, 2**64 - 1, np.uint64))


def tiff_of_negative_labels(path: Path) -> None:
    image = -tifffile.imread(path).astype(np.int64)
    _image(path, image)


def tiff_of_noise(path: Path) -> None:
    shape = tifffile.imread(path).shape
    noise = np.random.default_rng(0).integers(0, 2, shape, np.uint8)
    _image(path, noise)


def tiff_of_complex_numbers(path: Path) -> None:
    tifffile.imwrite(path, np.ones((8, 8), np.complex64))


def tiff_of_one_pixel(path: Path) -> None:
    _image(path, np.ones((1, 1), np.uint8))


def tiff_of_one_row(path: Path) -> None:
    _image(path, np.ones((1, 100_000), np.uint8))


def tiff_of_ten_axes(path: Path) -> None:
    _image(path, np.ones((1, 2, 1, 2, 1, 2, 1, 2, 5, 5), np.uint8))


def tiff_of_another_size(path: Path) -> None:
    _image(path, np.ones((3, 2000, 2000), np.uint16))
