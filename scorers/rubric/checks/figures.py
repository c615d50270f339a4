"""Checks of figures as files: their format and resolution."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from scorers.errors import SubmissionFault
from scorers.files.images import TIFF_SUFFIXES
from scorers.rubric.checks.results import Finding, file_refs

if TYPE_CHECKING:
    from scorers.files.tree import SubmittedFile
    from scorers.rubric.checks.scene import Scene

HIGH_DPI = 300
_VECTOR = frozenset({".svg", ".pdf", ".eps"})
_RASTER = frozenset({".png", ".jpg", ".jpeg"})
_HEAD_BYTES = 65_536
_MOST_FIGURES = 200
_PNG = b"\x89PNG\r\n\x1a\n"
_PER_METRE = 0.0254
_JFIF_UNITS = {1: 1.0, 2: 2.54}
# Programs write 299.9994 for 300.
_SLACK = 0.5


def figure_resolution(scene: Scene) -> Finding:
    """Check that each figure has a vector graphic, or a picture of 300 dots per inch."""
    figures = [
        file
        for file in scene.submission.files
        if file.suffix in _VECTOR | _RASTER and str(file.path) not in _delivered(scene)
    ][:_MOST_FIGURES]
    if not figures and any(
        file.suffix in TIFF_SUFFIXES and str(file.path) not in _delivered(scene)
        for file in scene.submission.files
    ):
        return Finding("unknown", "Some TIFF files may be figures.")
    if not figures:
        return Finding("fail", "No figure was handed in.")
    sharp = {_name(file) for file in figures if _sharp(file)}
    coarse = [file for file in figures if _name(file) not in sharp]
    total = len({_name(file) for file in figures})
    says = (
        f"{len(sharp)} of {total} figures are vector graphics or state at least {HIGH_DPI} dots "
        "per inch."
    )
    if coarse:
        return Finding("fail", says, file_refs(coarse))
    return Finding("pass", says, file_refs(figures))


def dots_per_inch(head: bytes) -> float | None:
    """Return the resolution across that the head of a PNG or JPEG states, None if none."""
    if head.startswith(_PNG):
        return _of_png(head)
    # JFIF comes first in the files that have it.
    if head[:3] == b"\xff\xd8\xff" and head[6:11] == b"JFIF\x00" and len(head) >= 18:
        unit, across = head[13], struct.unpack(">H", head[14:16])[0]
        return across * _JFIF_UNITS[unit] if unit in _JFIF_UNITS and across else None
    return None


def _of_png(head: bytes) -> float | None:
    place = len(_PNG)
    while place + 8 <= len(head):
        length, kind = struct.unpack(">I4s", head[place : place + 8])
        if kind == b"IDAT":
            return None
        if kind == b"pHYs" and length == 9 and place + 17 <= len(head):
            across, _, unit = struct.unpack(">IIB", head[place + 8 : place + 17])
            return across * _PER_METRE if unit == 1 and across else None
        place += 12 + length
    return None


def _sharp(file: SubmittedFile) -> bool:
    if file.suffix in _VECTOR:
        return file.size > 0
    try:
        with file.open() as opened:
            dpi = dots_per_inch(opened.read(_HEAD_BYTES))
    except SubmissionFault:
        return False
    return dpi is not None and dpi >= HIGH_DPI - _SLACK


def _name(file: SubmittedFile) -> str:
    return str(file.path.with_suffix(""))


def _delivered(scene: Scene) -> frozenset[str]:
    """Give the paths of the data that are asked for; pictures that are optional are figures."""
    return frozenset(
        str(file.path)
        for deliverable in scene.spec.deliverables
        if deliverable.required
        for file in scene.delivered(deliverable)
    )
