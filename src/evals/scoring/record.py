"""What the sample's store keeps of a verdict, so that it can be scored again without a sandbox."""

from __future__ import annotations

from typing import Any, Literal

from inspect_ai.util import StoreModel
from pydantic import Field

Status = Literal["delivered", "no_deliverable", "crash", "timed_out", "refused", "limit"]


class Graded(StoreModel):
    """The verdict on one sample's submission, and where the submission is kept.

    Attributes:
        grade: The grader's report without its pictures, or None while there is none.
        thumbnail: The small picture as a data URI, with its caption in `thumbnail_caption`.
        problem: Why the grader failed. It is our fault and makes the sample an error.
        status: How the run ended.
        limit: Name of the limit that ended the run, if one did, in words in `limit_reason`.
        canary: Where the canary of the private part turned up: the transcript, submitted files.
        telemetry: How the agent worked, as `evals.telemetry.record.Telemetry` has it.
        audit: What it tried, as `evals.telemetry.audit.Audit` has it.
        kept: Folder of the kept submission, relative to `submissions`; empty while nothing is kept.
        kept_files: Each kept file with its `path` in that folder, `size` and `sha256`.
        kept_note: Why the submission was kept only in part, or not at all.
    """

    grade: dict[str, Any] | None = None
    thumbnail: str | None = None
    thumbnail_caption: str = ""
    problem: str | None = None
    status: Status | None = None
    limit: str | None = None
    limit_reason: str = ""
    canary: list[str] = Field(default_factory=list)
    telemetry: dict[str, Any] | None = None
    audit: dict[str, Any] | None = None
    kept: str = ""
    kept_files: list[dict[str, Any]] = Field(default_factory=list)
    kept_note: str | None = None
