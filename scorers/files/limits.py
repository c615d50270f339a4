"""How much of a submission is read before it is refused."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

KIB, MIB, GIB = 2**10, 2**20, 2**30


@dataclass(frozen=True)
class Limits:
    """Bounds on what is read; each can be set apart, as `--limit rows=5000` does.

    Attributes
    ----------
    files, depth, path_bytes
        Number of files of a submission, nesting of its folders, length of a relative path.
    file_bytes, total_bytes
        Size of one file, and of all files together, as they lie on disk.
    decoded_bytes, total_decoded_bytes
        Size of one image once decoded, however it is compressed, and of all that is decoded to
        grade a submission (what is read twice counts twice).
    array_bytes
        Size of what one image may hold in memory at once. An image that can be read plane by
        plane holds one plane; any other must fit as a whole. Never more than an eighth of
        `memory_bytes`, see `at_once`.
    pages, directories, metadata_bytes
        Pages (planes) of one image file, how many of them may be listed one by one (rather than
        lie one behind the other), and size of all that a TIFF says of them.
    text_bytes, total_text_bytes, rows, columns, cell_chars
        Size of a text file, of all text that is parsed to grade a submission (unpacked workbooks
        included), and of the table in one file.
    elements
        Elements of an XML document within an image.
    members, inflation
        Members of a zip archive (a workbook is one), and by how much one of more than a mebibyte
        may outgrow its compressed size.
    cells
        Cells of one table, or of all sheets of a workbook (empty ones between filled ones
        included).
    sheets, workbook_bytes
        Sheets of a workbook, and size of what is unpacked to read them. Rows are counted over all
        sheets.
    labels
        Distinct labels of one image.
    objects
        Rows of the anatomy of errors over all items.
    thumbnail_bytes, overlay_bytes, overlays
        Size of the one small picture, of each larger one, and how many of the latter.
    items, listed_bytes, told_chars
        Rows of items in a report, size of each of its long parts (metrics, items, files), and
        length of each text in it.
    canary_bytes, told_files
        Bytes of the submission in which the canary is looked for, and how many files that hold it
        are told.
    seconds, memory_bytes
        Wall time and address space of a process that grades one submission; what exceeds them
        ends it, which is an error of ours and never a score. They bind the command line, not
        those who call the graders as a library.
    """

    files: int = 20_000
    depth: int = 32
    path_bytes: int = 1024
    file_bytes: int = 8 * GIB
    total_bytes: int = 64 * GIB
    decoded_bytes: int = 16 * GIB
    total_decoded_bytes: int = 32 * GIB
    array_bytes: int = GIB
    pages: int = 200_000
    directories: int = 5000
    metadata_bytes: int = 32 * MIB
    text_bytes: int = 64 * MIB
    total_text_bytes: int = 256 * MIB
    rows: int = 1_000_000
    columns: int = 4096
    cell_chars: int = 65_536
    elements: int = 500_000
    members: int = 5000
    inflation: int = 400
    sheets: int = 1000
    cells: int = 8_000_000
    workbook_bytes: int = 64 * MIB
    labels: int = 2_000_000
    objects: int = 1_000_000
    thumbnail_bytes: int = 40_000
    overlay_bytes: int = 300_000
    overlays: int = 4
    items: int = 20_000
    canary_bytes: int = 512 * MIB
    told_files: int = 50
    listed_bytes: int = 2 * MIB
    told_chars: int = 4000
    seconds: int = 1800
    memory_bytes: int = 8 * GIB

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(
                    f"limit {field.name!r} must be a whole number above 0, got {value!r}"
                )

    @property
    def at_once(self) -> int:
        """Size of one array that may be read: what is worked out of it takes several times that."""
        return min(self.array_bytes, self.memory_bytes // 8)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of all limits."""
        return tuple(field.name for field in fields(cls))

    def with_values(self, values: Mapping[str, int]) -> Limits:
        """Return a copy in which some limits are set; an unknown name raises `ValueError`."""
        unknown = sorted(set(values) - set(self.names()))
        if unknown:
            raise ValueError(
                f"unknown limit {', '.join(map(repr, unknown))}; known: {', '.join(self.names())}"
            )
        return replace(self, **dict(values))

    def for_references(self) -> Limits:
        """Return bounds for files of ours: the defaults, or these where they are wider."""
        usual = Limits()
        wider = {name: max(getattr(self, name), getattr(usual, name)) for name in self.names()}
        return replace(self, **wider)
