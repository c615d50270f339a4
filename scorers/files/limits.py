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
    decoded_bytes
        Size of one image once decoded, however it is compressed.
    array_bytes
        Size of what one image may hold in memory at once. An image that can be read plane by
        plane holds one plane; any other must fit as a whole.
    pages
        Pages (planes) of one image file.
    text_bytes, rows, columns, cell_chars
        Size of a text file and of the table in it.
    labels
        Distinct labels of one image.
    objects
        Rows of the anatomy of errors over all items.
    thumbnail_bytes, overlay_bytes, overlays
        Size of the one small picture, of each larger one, and how many of the latter.
    seconds
        Wall time for one grade, for those who run the grader (a process cannot end itself well).
    """

    files: int = 20_000
    depth: int = 32
    path_bytes: int = 1024
    file_bytes: int = 8 * GIB
    total_bytes: int = 64 * GIB
    decoded_bytes: int = 64 * GIB
    array_bytes: int = GIB
    pages: int = 200_000
    text_bytes: int = 64 * MIB
    rows: int = 1_000_000
    columns: int = 4096
    cell_chars: int = 65_536
    labels: int = 2_000_000
    objects: int = 1_000_000
    thumbnail_bytes: int = 40_000
    overlay_bytes: int = 300_000
    overlays: int = 4
    seconds: int = 1800

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(
                    f"limit {field.name!r} must be a whole number above 0, got {value!r}"
                )

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
        wider = {name: max(getattr(self, name), getattr(Limits(), name)) for name in self.names()}
        return replace(self, **wider)
