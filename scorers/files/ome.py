"""What OME-XML says of an image, looked at before a library lays out pages by it."""

from __future__ import annotations

import math
from xml.parsers import expat

from scorers.errors import SubmissionFault

_PIECE = 1 << 16
_USUAL_ORDER = "XYZCT"


def refuse_endless_ome(text: str, n_pages: int, most_pages: int, most_elements: int) -> None:
    """Refuse OME-XML that has a document type or declares more pages than may be read.

    Parameters
    ----------
    text
        The document. What is malformed is left to the library, which reads nothing of it.
    n_pages
        Pages of the file.
    most_pages, most_elements
        Bounds on the pages that all images together declare, and on the elements of the document.

    Raises
    ------
    SubmissionFault
        It is beyond the bounds.
    """
    declared = _Declared(n_pages, most_pages, most_elements)
    # Set up as the library does, so that both read the same out of it: what the document says of
    # its encoding does not count, and names with a prefix are others.
    parser = expat.ParserCreate("utf-8", "}")
    parser.StartDoctypeDeclHandler = declared.doctype
    parser.StartElementHandler = declared.begin
    content = text.encode("utf-8", "replace")
    try:
        for start in range(0, len(content), _PIECE):
            parser.Parse(content[start : start + _PIECE], False)
        parser.Parse(b"", True)
    except expat.ExpatError:
        return


class _Declared:
    """Adds up what the elements declare."""

    def __init__(self, n_pages: int, most_pages: int, most_elements: int) -> None:
        self._n_pages = n_pages
        self._most_pages = most_pages
        self._most_elements = most_elements
        self._n_elements = 0
        self._planned = 0.0
        self._listed = 0.0

    def doctype(self, *_: object) -> None:
        raise SubmissionFault("has OME-XML with a document type")

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        self._n_elements += 1
        if self._n_elements > self._most_elements:
            raise SubmissionFault(f"has more than {self._most_elements} elements of OME-XML")
        if name.endswith("Pixels"):
            axes = attributes.get("DimensionOrder", _USUAL_ORDER)[2:]
            lengths = [_whole(attributes.get(f"Size{axis}", "1")) for axis in axes]
            self._planned += math.prod(abs(length) for length in lengths)
        elif name.endswith("TiffData"):
            usual = "1" if "IFD" in attributes else "0"
            told = attributes.get("PlaneCount", attributes.get("NumPlanes", usual))
            self._listed += abs(_whole(told)) or self._n_pages
        elif name[:-1].endswith("Along"):
            # Positions along a split axis are laid out as an array.
            first, last, step = (
                _number(attributes.get(key, usual))
                for key, usual in (("Start", "0"), ("End", "0"), ("Step", "1"))
            )
            self._planned += abs((last - first) / step) if step else math.inf
        # Anything but a number in reach is too many, what is no number included.
        most = max(self._planned, self._listed)
        if not most <= self._most_pages:
            raise SubmissionFault(f"declares {most:.0f} pages, more than {self._most_pages}")


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        return 1


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
