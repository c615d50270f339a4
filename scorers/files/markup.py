"""XML, read as a stream of elements; document types and entities are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol
from xml.parsers import expat

from scorers.errors import SubmissionFault

if TYPE_CHECKING:
    from collections.abc import Iterable

# Expat starts a tag anew with each piece until it has all of it.
_MOST_SILENCE = 1 << 20


class Elements(Protocol):
    """What is told of the elements of a document, under their names without prefix."""

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Note that an element begins."""

    def finish(self, name: str, text: str) -> None:
        """Note that an element ends; `text` is what stands in it after its last child."""


class _Parser:
    def __init__(self, elements: Elements, most_text: int) -> None:
        self._elements = elements
        self._most_text = most_text
        self._text: list[str] = []
        self._length = 0
        self.heard = True
        self.expat = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._finish
        parser.CharacterDataHandler = self._note
        parser.StartDoctypeDeclHandler = self._refuse

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self.heard = True
        self._forget()
        if any(":" in key for key in attributes):
            attributes = {_local(key): value for key, value in attributes.items()}
        self._elements.begin(_local(name), attributes)

    def _finish(self, name: str) -> None:
        self.heard = True
        text = "".join(self._text)
        self._forget()
        self._elements.finish(_local(name), text)

    def _note(self, text: str) -> None:
        self.heard = True
        self._length += len(text)
        if self._length > self._most_text:
            raise SubmissionFault(f"holds a text of more than {self._most_text} characters")
        self._text.append(text)

    def _forget(self) -> None:
        if self._text:
            self._text.clear()
        self._length = 0

    def _refuse(self, *_: object) -> None:
        raise SubmissionFault("holds XML with a document type")


def read_elements(pieces: Iterable[bytes], elements: Elements, most_text: int) -> None:
    """Tell the elements of an XML document as they come.

    Parameters
    ----------
    pieces
        The document.
    elements
        Who is told.
    most_text
        Largest length of one element's text.

    Raises
    ------
    SubmissionFault
        It declares a document type (and with it entities), or has a tag, comment or text that is
        too long. Whatever `elements` raises goes through.
    xml.parsers.expat.ExpatError
        It is malformed.
    """
    parser = _Parser(elements, most_text)
    silence = 0
    for piece in pieces:
        parser.heard = False
        parser.expat.Parse(piece, False)
        silence = 0 if parser.heard else silence + len(piece)
        if silence > _MOST_SILENCE:
            raise SubmissionFault(f"holds an XML tag of more than {_MOST_SILENCE} bytes")
    parser.expat.Parse(b"", True)


def _local(name: str) -> str:
    return name.rpartition(":")[2] if ":" in name else name
