"""Hostile PNG, JPEG and BMP files, for graders that take such."""

from __future__ import annotations

import struct
import zlib
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_PNG = b"\x89PNG\r\n\x1a\n"


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + check


def _head(columns: int, rows: int) -> bytes:
    return _PNG + _chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 0, 0, 0, 0))


def _end(rows: int = 4, columns: int = 4) -> bytes:
    return _chunk(b"IDAT", zlib.compress((b"\0" + bytes(columns)) * rows)) + _chunk(b"IEND", b"")


@cache
def _bomb() -> bytes:
    packer = zlib.compressobj(1)
    return b"".join(packer.compress(bytes(2**24)) for _ in range(8)) + packer.flush()


def png_of_ten_gigapixels(path: Path) -> None:
    path.write_bytes(_head(100_000, 100_000) + _end())


def png_of_just_less_than_the_usual_bound(path: Path) -> None:
    path.write_bytes(_head(13_000, 13_000) + _end())


def png_with_a_text_that_inflates(path: Path) -> None:
    text = _chunk(b"zTXt", b"Comment\0\0" + _bomb())
    path.write_bytes(_head(4, 4) + text + _end())


def png_with_a_thousand_texts(path: Path) -> None:
    text = _chunk(b"zTXt", b"Comment\0\0" + zlib.compress(bytes(1_000_000)))
    path.write_bytes(_head(4, 4) + text * 1000 + _end())


def png_with_a_profile_that_inflates(path: Path) -> None:
    path.write_bytes(_head(4, 4) + _chunk(b"iCCP", b"x\0\0" + _bomb()) + _end())


def png_with_pixels_that_inflate(path: Path) -> None:
    path.write_bytes(_head(4, 4) + _chunk(b"IDAT", _bomb()) + _chunk(b"IEND", b""))


def png_with_a_chunk_of_two_gigabytes(path: Path) -> None:
    path.write_bytes(_head(4, 4) + struct.pack(">I", 2**31 - 1) + b"IDAT" + b"x" * 100)


def png_without_an_end(path: Path) -> None:
    path.write_bytes(_head(4, 4) + _chunk(b"IDAT", b""))


def png_of_no_size(path: Path) -> None:
    path.write_bytes(_head(0, 0) + _end())


def bmp_of_four_gigapixels(path: Path) -> None:
    head = struct.pack("<IiiHHIIiiII", 40, 65536, 65536, 1, 8, 1, 0, 0, 0, 0, 0)
    path.write_bytes(b"BM" + struct.pack("<IHHI", 100, 0, 0, 54) + head)


def jpeg_of_four_gigapixels(path: Path) -> None:
    path.write_bytes(bytes.fromhex("ffd8ffc0000b08ffffffff01011100ffda0008010100003f00ffd9"))


def gif_under_another_name(path: Path) -> None:
    path.write_bytes(b"GIF89a" + struct.pack("<HHBBB", 65535, 65535, 0, 0, 0) + b";")


def postscript_that_would_run(path: Path) -> None:
    path.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(x) (w) file\n")
