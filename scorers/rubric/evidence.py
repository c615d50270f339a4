"""What a judge gets to see of one submission, as the builder tells it and the run checks it.

All text in it that an agent wrote has gone through `scorers.rubric.fencing`. Nothing in it is of
the reference, the rubric or the outcome.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

EVIDENCE_BYTES = 9 * 2**20
FIGURE_BYTES = 1_500_000
MOST_FIGURES = 8
MOST_LISTED = 400
MOST_DOCUMENTS = 60
MOST_TABLES = 16
MOST_FLAGS = 200

Bucket = Literal["code", "report", "log", "supporting"]

_PNG = b"\x89PNG\r\n\x1a\n"
_LONGEST_NAME = 1200
_LONGEST_SNIPPET = 400
_LONGEST_REASON = 600
_LONGEST_TEXT = 30_000
# Control characters but tab and line feed, lone surrogates, and what cannot be seen.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    r"""Return a text with what cannot be seen or stored written out as `\uXXXX`."""
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _seen(value: object) -> object:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, list):
        return [_seen(entry) for entry in value]
    if isinstance(value, dict):
        return {visible(str(key)): _seen(entry) for key, entry in value.items()}
    return value


_Seen = BeforeValidator(_seen)
Name = Annotated[str, _Seen, Field(max_length=_LONGEST_NAME)]
Ref = Annotated[str, Field(pattern=r"^(?:file|table|figure):[^\x00-\x1f\x7f]{1,200}$")]
Count = Annotated[int, Field(ge=0)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class File(_Part):
    """One submitted file of the listing."""

    path: Name
    bytes: Count


class Document(_Part):
    """A text of the submission, shortened where it is long.

    Attributes
    ----------
    chars
        Length of the whole text; bytes where it was too long to be read to its end.
    """

    ref: Ref
    path: Name
    bucket: Bucket
    text: Annotated[str, _Seen, Field(max_length=_LONGEST_TEXT)]
    chars: Count
    shortened: bool


class Table(_Part):
    """Names of the columns and first rows of a table; `rows` is None where it was not counted."""

    ref: Ref
    path: Name
    columns: Annotated[list[str], _Seen, Field(max_length=100)]
    rows: Count | None
    head: Annotated[str, _Seen, Field(max_length=_LONGEST_TEXT)]


class Facts(_Part):
    """What is known of a figure's file: its own size (points for PDF), not that of the picture.

    `pages` counts pages of a PDF, frames of an animation, planes of a stack.
    """

    format: Literal["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "SVG", "PDF"]
    vector: bool
    width: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    height: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    dpi: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    pages: Count = 1


class Figure(_Part):
    """One picture of the submission, drawn anew as a PNG without anything but its pixels."""

    ref: Ref
    path: Name
    kind: Literal["plot", "image"]
    caption: Name
    media_type: Literal["image/png"]
    width: Annotated[int, Field(ge=1, le=4096)]
    height: Annotated[int, Field(ge=1, le=4096)]
    facts: Facts
    data: str = Field(max_length=FIGURE_BYTES * 4 // 3 + 4)

    @field_validator("data")
    @classmethod
    def _is_a_png(cls, data: str) -> str:
        try:
            raw = base64.b64decode(data, validate=True)
        except binascii.Error as error:
            raise ValueError(f"figure data is no base64: {error}") from error
        if not raw.startswith(_PNG):
            raise ValueError("figure data does not begin as image/png does")
        return data


class Undrawn(_Part):
    """A figure that is not shown, and why."""

    path: Name
    reason: Annotated[str, _Seen, Field(max_length=_LONGEST_REASON)]


class Check(_Part):
    """A fact that code found out, by the name of the check."""

    check: Name
    verdict: Literal["pass", "fail", "not_applicable", "unknown"]
    says: Annotated[str, _Seen, Field(max_length=_LONGEST_REASON)]
    refs: list[Ref] = Field(default=[], max_length=MOST_LISTED)


class Flag(_Part):
    """Something in the submission that was made harmless or shortened.

    Attributes
    ----------
    where
        Reference of the evidence, or `name:…` for the name of a file.
    kind
        As `scorers.rubric.fencing` and `scorers.rubric.copying` name them, or `shortened`.
    snippet
        The place, itself made harmless.
    """

    where: Name
    kind: Annotated[str, Field(pattern=r"^[a-z_]{1,40}$")]
    snippet: Annotated[str, _Seen, Field(max_length=_LONGEST_SNIPPET)]


class Evidence(_Part):
    """What `python -m scorers evidence … --json` prints.

    Attributes
    ----------
    deliverables
        As in a grade: `found`, `rejected`, `missing`, `refused`.
    files_total
        Number of all files, of which `files` may list the first ones only.
    undrawn
        Figures that could not be drawn.
    """

    task_id: str
    deliverables: Annotated[dict[str, Any], _Seen]
    files: list[File] = Field(max_length=MOST_LISTED)
    files_total: Count
    documents: list[Document] = Field(max_length=MOST_DOCUMENTS)
    tables: list[Table] = Field(max_length=MOST_TABLES)
    figures: list[Figure] = Field(max_length=MOST_FIGURES)
    undrawn: list[Undrawn] = Field(default=[], max_length=MOST_LISTED)
    checks: list[Check] = Field(default=[], max_length=100)
    flags: list[Flag] = Field(default=[], max_length=MOST_FLAGS)

    def printed(self) -> str:
        """Return it as JSON of many lines; logs of sandboxes keep the first lines only."""
        return self.model_dump_json(indent=1)

    @property
    def refs(self) -> frozenset[str]:
        """All references that an answer may cite, those that facts are told with among them."""
        parts: tuple[Document | Table | Figure, ...]
        parts = (*self.documents, *self.tables, *self.figures)
        of_checks = (ref for check in self.checks for ref in check.refs)
        return frozenset((*(part.ref for part in parts), *of_checks))
