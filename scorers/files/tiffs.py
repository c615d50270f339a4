"""Opening a TIFF so that it is read by itself and within bounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, BinaryIO

from scorers.errors import SubmissionFault
from scorers.files.headers import refuse_endless
from scorers.files.limits import MIB
from scorers.files.ome import refuse_endless_ome

if TYPE_CHECKING:
    from tifffile import TiffFile, TiffFrame, TiffPage

    from scorers.files.budget import Budget
    from scorers.files.limits import Limits

# Makers' own formats, whose readers follow what the file says further than is safe. What lies in
# such a file is read as plain pages; of LSM files only ours are read as what they are.
_MAKERS = (
    "avs",
    "bif",
    "eer",
    "fluoview",
    "indica",
    "mdgel",
    "mmstack",
    "ndpi",
    "ndtiff",
    "nih",
    "philips",
    "qpi",
    "scanimage",
    "scn",
    "sis",
    "stk",
    "svs",
)
# Compressions whose output is as large as the TIFF says, not as the compressed data say: none,
# CCITT, LZW, deflate, PackBits, LZMA, Zstandard.
_BOUNDED = frozenset({1, 2, 3, 4, 5, 8, 32773, 32946, 34925, 50000, 50013})
# The time that it takes to go through one, in bytes of pixels decoded in that time.
_COST_OF_DIRECTORY = MIB
_JPEG = frozenset({6, 7, 33007, 34892})
_JPEG_SIZES = frozenset({0xC0, 0xC1, 0xC2})
# Tables, notes of applications and comments, which may stand before.
_JPEG_TABLES = frozenset({0xC4, 0xDB, 0xDD, 0xFE, *range(0xE0, 0xF0)})


def open_tiff(file: BinaryIO, limits: Limits, budget: Budget, *, trusted: bool) -> TiffFile:
    """Open a TIFF that neither opens another file nor has endless pages.

    Parameters
    ----------
    file
        At its start.
    limits
        Bounds on the directories and on what OME-XML says; they do not bind files of ours.
    budget
        What looking through the directories is counted against.
    trusted
        Whether the file is one of ours; then formats of makers of microscopes are read as such.

    Raises
    ------
    SubmissionFault
        The file is beyond the limits. Whatever tifffile raises of a broken file goes through.
    """
    import tifffile

    if not trusted:
        n_directories, n_bytes = refuse_endless(file, limits)
        budget.decode(n_directories * _COST_OF_DIRECTORY)
        budget.parse(n_bytes, markup=True)
    flags = {"is_ndtiff": False} if trusted else {f"is_{maker}": False for maker in _MAKERS}
    if not trusted:
        flags["is_lsm"] = False
    known: dict[str, Any] = {
        flag: value for flag, value in flags.items() if flag[3:] in tifffile.TIFF.FILE_FLAGS
    }
    tiff = tifffile.TiffFile(file, name="submitted.tif", _multifile=False, **known)
    if not trusted and tiff.pages and tiff.is_ome:
        text = tiff.pages.first.description or ""
        refuse_endless_ome(text, len(tiff.pages), limits.pages, limits.elements)
    return tiff


def cost_of_page(page: TiffPage | TiffFrame, limits: Limits) -> int:
    """Return how many bytes are decoded to read one page, or raise `SubmissionFault`.

    A page is stored in pieces, each of which is decoded as a whole, however little of it belongs
    to the image.
    """
    like = page.keyframe
    if like is None or like.compression not in _BOUNDED | _JPEG:
        method = "unknown" if like is None else int(like.compression)
        raise SubmissionFault(f"is compressed by method {method}, which is not read")
    if not like.is_tiled:
        return like.nbytes
    samples = like.samplesperpixel if like.planarconfig == 1 else 1
    itemsize = like.dtype.itemsize if like.dtype is not None else 1
    tile = math.prod((like.tiledepth, like.tilelength, like.tilewidth, samples)) * itemsize
    size = tile * len(page.dataoffsets)
    if tile > limits.at_once or size > max(4 * like.nbytes, 64 * MIB):
        raise SubmissionFault(f"has tiles of {size} bytes for an image of {like.nbytes}")
    return size


def refuse_larger_jpegs(file: BinaryIO, page: TiffPage | TiffFrame) -> None:
    """Refuse a page with a JPEG-compressed piece larger than the TIFF says it is.

    The decoder makes room for what the piece says of itself.
    """
    like = page.keyframe
    if like is None or like.compression not in _JPEG:
        return
    rows = like.tilelength or like.rowsperstrip
    columns = like.tilewidth or like.imagewidth
    for offset, count in zip(page.dataoffsets, page.databytecounts, strict=False):
        if not count:
            continue
        height, width = _jpeg_size(file, offset)
        # The last strip may be stored in full; a multiple of 16 rows is what encoders fill up to.
        if height > rows + 16 or width > columns + 16:
            raise SubmissionFault(f"holds a JPEG of {height} × {width} pixels in a smaller image")


def _jpeg_size(file: BinaryIO, offset: int) -> tuple[int, int]:
    """Return rows and columns of a baseline or progressive JPEG that lies at an offset."""
    file.seek(offset)
    begins = file.read(2) == b"\xff\xd8"
    while begins:
        mark, kind, *length = file.read(4).ljust(4, b"\0")
        if mark != 0xFF or kind not in _JPEG_SIZES | _JPEG_TABLES:
            break
        if kind in _JPEG_SIZES:
            head = file.read(5)
            return int.from_bytes(head[1:3], "big"), int.from_bytes(head[3:5], "big")
        file.seek(max(0, int.from_bytes(bytes(length), "big") - 2), 1)
    raise SubmissionFault("holds a JPEG of a kind that is not read")
