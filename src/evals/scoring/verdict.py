"""The grader's report, checked: it was made while untrusted files were being read."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    field_validator,
)

from evals.errors import GraderFailedError

REPORT_BYTES = 8 * 2**20
THUMBNAIL_BYTES = 40_000
OVERLAY_BYTES = 300_000
_MAX_PICTURES = 40
_MAX_ITEMS = 20_000
_MAX_TEXT = 4000

_MAGIC = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
}
# Control characters, lone surrogates and the signs that turn the direction of writing.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Return the text with what cannot be seen or stored written out as `\uXXXX`, and bounded."""
    bounded = text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + " …"
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", bounded)


def _clean(value: object) -> object:
    """Make every text in a JSON value printable and every number that is none a null."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [_clean(entry) for entry in value]
    if isinstance(value, dict):
        return {printable(str(key)): _clean(entry) for key, entry in value.items()}
    return value


Scalar = Annotated[float | int | str | bool | None, Field(union_mode="smart")]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Row = Annotated[dict[str, Scalar], BeforeValidator(_clean)]


class ReportedPicture(BaseModel):
    """One rendered picture: bounded, and of the kind that it claims to be."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: str
    caption: str
    role: Literal["thumbnail", "overlay"]
    media_type: Literal["image/png", "image/jpeg", "image/webp"]
    data: str = Field(max_length=OVERLAY_BYTES * 4 // 3 + 4)

    @field_validator("name", "caption")
    @classmethod
    def _one_line(cls, text: str) -> str:
        return printable(" ".join(text.split()))[:500]

    @field_validator("data")
    @classmethod
    def _is_what_it_claims(cls, data: str, info: Any) -> str:
        try:
            raw = base64.b64decode(data, validate=True)
        except binascii.Error as error:
            raise ValueError(f"picture data is no base64: {error}") from error
        media_type = info.data.get("media_type")
        if media_type is not None and not _MAGIC[media_type].match(raw):
            raise ValueError(f"picture data does not begin as {media_type} does")
        bound = THUMBNAIL_BYTES if info.data.get("role") == "thumbnail" else OVERLAY_BYTES
        if len(raw) > bound:
            raise ValueError(f"picture has {len(raw)} bytes, at most {bound} are allowed")
        return data

    @property
    def uri(self) -> str:
        """The picture as a data URI, safe inside Markdown: base64 has no special signs there."""
        return f"data:{self.media_type};base64,{self.data}"


class Report(BaseModel):
    """What `python -m scorers grade … --json` prints."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    task_id: str
    result_score: Annotated[float, Field(allow_inf_nan=False)] | None
    outcome: Share
    passed: bool
    strict: Share | None
    metrics: Row
    strict_metrics: Row
    items: list[Row] = Field(max_length=_MAX_ITEMS)
    deliverables: Annotated[dict[str, JsonValue], BeforeValidator(_clean)]
    pictures: list[ReportedPicture] = Field(max_length=_MAX_PICTURES)
    error: Annotated[str, BeforeValidator(_clean)] | None
    canary: Annotated[list[str], BeforeValidator(_clean)] = Field(default=[], max_length=_MAX_ITEMS)

    @field_validator("pictures")
    @classmethod
    def _one_thumbnail(cls, pictures: list[ReportedPicture]) -> list[ReportedPicture]:
        if sum(picture.role == "thumbnail" for picture in pictures) > 1:
            raise ValueError("more than one picture is the thumbnail")
        return pictures

    @property
    def thumbnail(self) -> ReportedPicture | None:
        """The small picture for the explanation, if there is one."""
        return next((entry for entry in self.pictures if entry.role == "thumbnail"), None)

    @property
    def overlays(self) -> list[ReportedPicture]:
        """The larger pictures for the transcript."""
        return [entry for entry in self.pictures if entry.role == "overlay"]

    def without_pictures(self) -> dict[str, Any]:
        """Return the report as JSON-able mapping, its pictures left out."""
        return self.model_dump(mode="json", exclude={"pictures"})


def read_report(text: str, task_id: str) -> Report:
    """Check and return a grader's report on the given task.

    Raises:
        GraderFailedError: It is no JSON, too large, misshapen, or about another task.
    """
    if len(text.encode("utf-8", "surrogatepass")) > REPORT_BYTES:
        raise GraderFailedError(
            f"The grader's report on {task_id} is larger than {REPORT_BYTES} bytes."
        )
    try:
        report = Report.model_validate(json.loads(text))
    except (json.JSONDecodeError, RecursionError) as error:
        raise GraderFailedError(f"The grader's report on {task_id} is no JSON: {error}") from error
    except ValidationError as error:
        raise GraderFailedError(_misshapen(task_id, error)) from error
    if report.task_id != task_id:
        raise GraderFailedError(
            f"The grader's report is on {printable(report.task_id)!r}, expected {task_id!r}."
        )
    return report


def _misshapen(task_id: str, error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "the whole"
    return (
        f"The grader's report on {task_id} does not hold to the contract: "
        f"{printable(place)}: {printable(first['msg'])} ({error.error_count()} faults in all)."
    )
