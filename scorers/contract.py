"""The words of the grading contract: what a grader is given and what it says."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from scorers.files.limits import Limits
    from scorers.files.tree import Tree
    from scorers.specification import Rubric, TaskSpec

Scalar = float | int | str | bool | None


@dataclass(frozen=True)
class Picture:
    """One small rendered image that goes with a grade.

    `role` is `thumbnail` (at most one, at most 40 kB, shown in the score's explanation) or
    `overlay` (larger, at most 300 kB, shown in the transcript).
    """

    name: str
    caption: str
    data: bytes
    media_type: Literal["image/png", "image/jpeg", "image/webp"] = "image/png"
    role: Literal["thumbnail", "overlay"] = "overlay"

    def to_json(self) -> dict[str, str]:
        """Return the picture as JSON-able mapping, its bytes in base64."""
        return {
            "name": self.name,
            "caption": self.caption,
            "role": self.role,
            "media_type": self.media_type,
            "data": base64.b64encode(self.data).decode("ascii"),
        }


@dataclass(frozen=True)
class Job:
    """One submission to be graded against one capsule.

    `reference_dir` is the capsule's `evaluation/` folder, or None where the capsule has none.
    `input_dir` is the capsule's `input/` folder, or None; graders use it for pictures and
    calibration, never for the published numbers unless the specification says so.
    `draws` is whether pictures are wanted.
    """

    task_dir: Path
    spec: TaskSpec
    rubric: Rubric
    submission: Tree
    reference_dir: Path | None
    input_dir: Path | None
    limits: Limits
    draws: bool = True


@dataclass
class Result:
    """What a task family's grader says of one submission.

    Attributes
    ----------
    result_score
        The published evaluator's own value, or None where it has none.
    metrics
        The published metrics under their specified names; nested ones dotted.
    strict
        The headline strict value in [0, 1], or None where it is not available.
    strict_metrics
        What we report beside it, each name starting with `strict_`.
    items
        One row per item (image, stack, sequence), all with the same keys, `item` and `status`
        first.
    objects
        One row per object for the anatomy of errors.
    error
        The reason why the submission earned nothing, or None.
    fault
        What is wrong with the capsule (a reference that cannot be read): the published numbers
        stand as their evaluator has them, but there is no outcome.
    """

    result_score: float | None
    metrics: dict[str, Any] = field(default_factory=dict)
    strict: float | None = None
    strict_metrics: dict[str, Scalar] = field(default_factory=dict)
    items: list[dict[str, Scalar]] = field(default_factory=list)
    objects: list[dict[str, Scalar]] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    error: str | None = None
    fault: str | None = None


@dataclass
class Grade:
    """The whole verdict on one submission; `to_json` is what the command prints.

    `canary` lists the submitted files in which the canary of the private part stands.
    """

    task_id: str
    result_score: float | None
    outcome: float | None
    passed: bool
    strict: float | None
    metrics: Mapping[str, Scalar]
    strict_metrics: Mapping[str, Scalar]
    items: list[dict[str, Scalar]]
    deliverables: Mapping[str, Any]
    pictures: list[Picture]
    error: str | None
    canary: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return the grade as a JSON-able mapping in the order of the contract."""
        return {
            "task_id": self.task_id,
            "result_score": self.result_score,
            "outcome": self.outcome,
            "passed": self.passed,
            "strict": self.strict,
            "metrics": dict(self.metrics),
            "strict_metrics": dict(self.strict_metrics),
            "items": self.items,
            "deliverables": dict(self.deliverables),
            "pictures": [picture.to_json() for picture in self.pictures],
            "error": self.error,
            "canary": self.canary,
        }


@dataclass(frozen=True)
class Family:
    """One kind of task: how to grade it, and how its perfect and blank submissions look.

    Attributes
    ----------
    grade
        Grades one submission.
    perfect
        Writes the reference, laid out as deliverables, into an empty folder: the ceiling.
    blank
        Writes deliverables of the right shape that hold nothing into an empty folder: a floor.
        It may read `input/` and the reference's shapes, never its content.
    """

    name: str
    grade: Callable[[Job], Result]
    perfect: Callable[[Job, Path], None]
    blank: Callable[[Job, Path], None]
