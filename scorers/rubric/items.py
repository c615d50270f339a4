"""What a judge is asked: one question of a checklist or of a level rubric."""

from __future__ import annotations

from dataclasses import dataclass

PASS, FAIL, UNKNOWN = "pass", "fail", "unknown"
YES_OR_NO = (PASS, FAIL, UNKNOWN)
NOT_APPLICABLE = "not_applicable"
"""What code may decide of an item that the task gives no occasion for; no judge may answer it."""


@dataclass(frozen=True)
class Item:
    """One question with the answers that are allowed.

    Attributes
    ----------
    id
        Unique in its rubric; a judge answers by it.
    text
        The question or criterion.
    severity
        `critical`, `major`, `minor`, or whatever the file says; empty in level rubrics.
    weight
        What it counts; the points of the best level in level rubrics.
    section, subsection
        Where it stands, such as `task_specific` and `segmentation`.
    hint
        What to look at.
    statuses
        The answers that are allowed: `YES_OR_NO`, or the letters of the levels and `UNKNOWN`.
    """

    id: str
    text: str
    severity: str = "minor"
    weight: float = 1.0
    section: str = ""
    subsection: str = ""
    hint: str = ""
    statuses: tuple[str, ...] = YES_OR_NO
