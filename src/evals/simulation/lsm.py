"""Write LSM files: the TIFF dialect of Zeiss confocal microscopes, plane by plane.

What is there: little-endian TIFF pages of 16-bit samples, one strip a channel, each page followed
by a small thumbnail as ZEN interleaves them; on the first page the table CZ_LSMINFO (tag 34412)
with the dimensions, the voxel size, channel colours and wavelengths, the centres of tiles and a
scan information block with name and objective. What is not: look-up tables, time stamps, laser and
detector settings, and files beyond 4 GB. Readers such as tifffile see axes (M)ZCYX, M being the
tiles. The layout follows the LSM file format as tifffile's reader documents it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_MAGIC, _SCAN_XYZ, _DATA_12_BIT = 67127628, 0, 2
_LZW = 5
_MOST_BYTES = 2**32
_SHORT, _LONG, _BYTE = 3, 4, 1
_THUMBNAIL_PX = 16
# Names and codes of the fields of CZ_LSMINFO in their order; what has no name stays zero.
_TABLE = (
    "magic:I size:i x:i y:i z:i channels:i time:i data:i thumb_x:i thumb_y:i "
    "voxel_x:d voxel_y:d voxel_z:d _:24s scan:H _:H _:I _:12s colours:I interval:d types:I info:I "
    "_:24s aspect_x:d aspect_y:d aspect_z:d aspect_t:d _:20s wavelengths:I _:4s _:d _:16s _:24s "
    "_:I positions:i tiles:i _:64s tile_places:I _:36s _:I"
)


@dataclass(frozen=True)
class Recording:
    """What an LSM file says of its images.

    Attributes
    ----------
    shape
        Tiles, slices, channels, rows, columns. One tile: the file has no axis of tiles.
    voxel_um
        Distance of slices, rows and columns.
    name
        Of the recording.
    channels
        Name, colour (red, green, blue) and first and last wavelength in nm of each channel.
    centres_um
        Of the tiles (y, x), shape (tiles, 2); empty where there is one.
    """

    shape: tuple[int, int, int, int, int]
    voxel_um: tuple[float, float, float]
    name: str
    channels: Sequence[tuple[str, tuple[int, int, int], tuple[float, float]]]
    centres_um: Sequence[Sequence[float]] = ()


@dataclass
class StoredPlanes:
    """Where the planes of a written file lie, to read single ones again.

    Attributes
    ----------
    path
        Of the file.
    plane_shape
        Rows and columns.
    places
        First byte and number of bytes of each plane, in the order of writing.
    """

    path: Path
    plane_shape: tuple[int, int]
    compressed: bool
    places: list[tuple[int, int]] = field(default_factory=list)

    def plane(self, index: int) -> NDArray[np.uint16]:
        """Read one plane, counted through tiles, slices and channels."""
        import imagecodecs

        start, size = self.places[index]
        with self.path.open("rb") as file:
            file.seek(start)
            data = file.read(size)
        if self.compressed:
            data = bytes(imagecodecs.lzw_decode(data))
        return np.frombuffer(data, "<u2").reshape(self.plane_shape)


def write_lsm(
    path: Path,
    planes: Iterable[NDArray[np.uint16]],
    recording: Recording,
    *,
    compressed: bool,
) -> StoredPlanes:
    """Write planes (Y, X) as they come: by tile, then slice, then channel.

    Parameters
    ----------
    path
        File to write; its folder is made if need be.
    planes
        As many as `recording.shape` says.
    recording
        Shape, voxel size and the like.
    compressed
        LZW, else raw.

    Raises
    ------
    ValueError
        The file would be larger than 4 GB, or there are too few planes.
    """
    tiles, slices, channels, rows, columns = recording.shape
    if np.prod(recording.shape) * 2 > _MOST_BYTES - 2**24:
        raise ValueError(f"an LSM file holds at most 4 GB, got the shape {recording.shape}")
    stored = StoredPlanes(path, (rows, columns), compressed)
    path.parent.mkdir(parents=True, exist_ok=True)
    source = iter(planes)
    with path.open("wb") as file:
        file.write(struct.pack("<2sHI", b"II", 42, 0))
        table = _write_table(file, recording)
        link = 4  # where the offset of the next directory has to be written
        for page in range(tiles * slices):
            strips = [_write_plane(file, next(source), stored) for _ in range(channels)]
            thumbnail = _write_thumbnail(file)
            extra = {34412: (_BYTE, table)} if page == 0 else {}
            main = _tags(strips, (rows, columns), 16, compressed=compressed) | extra
            link = _write_directory(file, link, main)
            small = _tags(thumbnail, (_THUMBNAIL_PX, _THUMBNAIL_PX), 8, compressed=False)
            link = _write_directory(file, link, small)
    return stored


def _write_plane(
    file: BinaryIO, plane: NDArray[np.uint16], stored: StoredPlanes
) -> tuple[int, int]:
    import imagecodecs

    if plane.shape != stored.plane_shape or plane.dtype != np.uint16:
        raise ValueError(
            f"expected uint16 of {stored.plane_shape}, got {plane.dtype} {plane.shape}"
        )
    data = np.ascontiguousarray(plane, "<u2").tobytes()
    if stored.compressed:
        data = bytes(imagecodecs.lzw_encode(data))
    place = (file.tell(), len(data))
    file.write(data)
    stored.places.append(place)
    return place


def _write_thumbnail(file: BinaryIO) -> list[tuple[int, int]]:
    """Write a black thumbnail, three planes of bytes."""
    size = _THUMBNAIL_PX**2
    start = file.tell()
    file.write(bytes(3 * size))
    return [(start + k * size, size) for k in range(3)]


Tag = tuple[int, "Sequence[int] | bytes | tuple[int, int]"]


def _tags(
    strips: list[tuple[int, int]], shape: tuple[int, int], bits: int, *, compressed: bool
) -> dict[int, Tag]:
    colour = bits == 8
    return {
        254: (_LONG, (int(colour),)),  # 1: a reduced image
        256: (_LONG, (shape[1],)),
        257: (_LONG, (shape[0],)),
        258: (_SHORT, (bits,) * len(strips)),
        259: (_SHORT, (_LZW if compressed else 1,)),
        262: (_SHORT, (2 if colour else 1,)),
        273: (_LONG, [start for start, _ in strips]),
        277: (_SHORT, (len(strips),)),
        278: (_LONG, (shape[0],)),
        279: (_LONG, [size for _, size in strips]),
        284: (_SHORT, (2,)),
    }


def _write_directory(file: BinaryIO, link: int, tags: dict[int, Tag]) -> int:
    """Write a directory, set the link that leads to it, and return where its own link lies."""
    entries = []
    for code, (kind, values) in sorted(tags.items()):
        if kind == _BYTE:
            start, count = values
            entries.append(struct.pack("<HHII", code, kind, int(count), int(start)))
            continue
        data = struct.pack(f"<{len(values)}{'H' if kind == _SHORT else 'I'}", *values)
        if len(data) > 4:
            _even(file)
            start = file.tell()
            file.write(data)
            data = struct.pack("<I", start)
        entries.append(struct.pack("<HHI", code, kind, len(values)) + data.ljust(4, b"\0"))
    _even(file)
    start = file.tell()
    file.write(struct.pack("<H", len(entries)) + b"".join(entries) + bytes(4))
    end = file.tell()
    file.seek(link)
    file.write(struct.pack("<I", start))
    file.seek(end)
    return end - 4


def _even(file: BinaryIO) -> None:
    if file.tell() % 2:
        file.write(b"\0")


def _write_table(file: BinaryIO, recording: Recording) -> tuple[int, int]:
    """Write CZ_LSMINFO and the blocks it points at; return where it lies and its size."""
    tiles, slices, channels, rows, columns = recording.shape
    start = file.tell()
    fields = [entry.rsplit(":", 1) for entry in _TABLE.split()]
    layout = "<" + "".join(code for _, code in fields)
    size = struct.calcsize(layout)
    blocks = {
        "colours": _colours(recording),
        "types": struct.pack(f"<I{channels}I", channels, *[_DATA_12_BIT] * channels),
        "info": _scan_information(recording),
        "wavelengths": _wavelengths(recording),
    }
    if len(recording.centres_um):
        blocks["tile_places"] = _tile_places(recording)
    places, end = {}, start + size
    for name, block in blocks.items():
        places[name] = end
        end += len(block)
    depth, height, width = (um / 1e6 for um in recording.voxel_um)
    values: dict[str, float] = {
        "magic": _MAGIC,
        "size": size,
        "x": columns,
        "y": rows,
        "z": slices,
        "time": 1,
        "channels": channels,
        "data": _DATA_12_BIT,
        "scan": _SCAN_XYZ,
        "interval": 0.0,
        "thumb_x": _THUMBNAIL_PX,
        "thumb_y": _THUMBNAIL_PX,
        "voxel_x": width,
        "voxel_y": height,
        "voxel_z": depth,
        **{f"aspect_{axis}": 1.0 for axis in "xyzt"},
        "positions": 0,
        "tiles": tiles if tiles > 1 else 0,
        "tile_places": 0,
        **places,
    }
    zero = {"s": b"", "d": 0.0}
    packed = [values[name] if name != "_" else zero.get(code[-1], 0) for name, code in fields]
    file.write(struct.pack(layout, *packed))
    for block in blocks.values():
        file.write(block)
    _even(file)
    return start, size


def _colours(recording: Recording) -> bytes:
    names = [name.encode("ascii") + b"\0" for name, _, _ in recording.channels]
    colours = b"".join(bytes((*colour, 0)) for _, colour, _ in recording.channels)
    text = b"".join(struct.pack("<I", len(name)) + name for name in names)
    count, head = len(names), struct.calcsize("<6I")
    size = head + len(colours) + len(text)
    return struct.pack("<6I", size, count, count, head, head + len(colours), 0) + colours + text


def _wavelengths(recording: Recording) -> bytes:
    ends = [nm / 1e9 for _, _, band in recording.channels for nm in band]
    return struct.pack(f"<i{len(ends)}d", len(ends) // 2, *ends)


def _tile_places(recording: Recording) -> bytes:
    places = [um / 1e6 for y, x in recording.centres_um for um in (x, y, 0.0)]
    return struct.pack(f"<I{len(places)}d", len(recording.centres_um), *places)


def _scan_information(recording: Recording) -> bytes:
    def text(code: int, value: str) -> bytes:
        data = value.encode("ascii") + b"\0"
        return struct.pack("<III", code, 2, len(data)) + data

    start, end = (struct.pack("<III", code, 0, 0) for code in (0x10000000, 0xFFFFFFFF))
    objective = text(0x10000004, "Plan-Apochromat 20x/0.8 M27")
    return start + text(0x10000001, recording.name) + objective + end
