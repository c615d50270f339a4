"""What was decided of an item, by whom, and on which evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

By = Literal["judge", "check", "nobody"]


@dataclass(frozen=True)
class Decision:
    """The decision on one item; each asked item has exactly one.

    Attributes
    ----------
    item_id
        The item.
    status
        One of the item's statuses; None if no valid answer came, which is unscored, never a zero.
    confidence
        In [0, 1]; told, never counted.
    rationale
        Why, in a sentence or two.
    refs
        Evidence references, such as `file:report.md` or `figure:2`.
    unknown_reason
        Why it is unknown: `no_relevant_evidence`, `ambiguous_evidence`, `rubric_unclear`,
        `image_unreadable`; empty otherwise.
    weak
        A pass without a reference that exists.
    by
        `judge`, `check` (code decided it from evidence), or `nobody`.
    judge_status
        What the judge said where a check overruled it; None otherwise.
    votes
        Number of answers by status, where several were asked.
    problem
        Why there is no valid answer; empty otherwise.
    """

    item_id: str
    status: str | None
    confidence: float = 0.0
    rationale: str = ""
    refs: tuple[str, ...] = ()
    unknown_reason: str = ""
    weak: bool = False
    by: By = "judge"
    judge_status: str | None = None
    votes: Mapping[str, int] = field(default_factory=dict)
    problem: str = ""
