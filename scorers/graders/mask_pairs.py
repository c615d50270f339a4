"""Predicted and reference masks of lines, one to one: the published part of their comparison.

Both families of masks of lines (filaments in images, vessels in volumes) share it; what differs
between them they pass in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.contract import Result
from scorers.errors import CapsuleFault, SubmissionFault
from scorers.graders.mask_files import ShapeDiffers, read_mask, read_reference_mask
from scorers.metrics.packed import PackedMask
from scorers.metrics.skeleton import agree, skeleton

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from scorers.contract import Job, Scalar
    from scorers.files.limits import Limits
    from scorers.files.masks import Kind
    from scorers.files.tree import SubmittedFile

SCORED, MISSING, UNREADABLE = "scored", "missing", "unreadable"
SHAPE_DIFFERS, REFERENCE_UNREADABLE = "shape differs", "reference unreadable"
_EXCLUDED = frozenset({SHAPE_DIFFERS, REFERENCE_UNREADABLE})

Values = dict[str, float | None]


@dataclass(frozen=True)
class Terms:
    """What one family calls things and how it reads its files.

    Attributes
    ----------
    kind, axes
        How a file is read, and how many axes a reference has.
    rows, key, unit
        Names in the published output: the list of rows, their key, what is counted.
    metrics
        Names of the published metrics; their means are reported.
    primary
        Those that the rubric may name as the score.
    measure
        The metrics of a predicted and a reference mask.
    """

    kind: Kind
    axes: int
    rows: str
    key: str
    unit: str
    metrics: tuple[str, ...]
    primary: frozenset[str]
    measure: Callable[[PackedMask, PackedMask], Values]


@dataclass(frozen=True)
class Target:
    """One reference file, its key (None if its name has none) and the file submitted for it."""

    key: str | None
    reference: SubmittedFile
    prediction: SubmittedFile | None = None

    @property
    def item(self) -> str:
        """The name of the item: its key, or the reference's path."""
        return self.key or str(self.reference.path)


@dataclass(frozen=True)
class Comparison:
    """What became of one reference file.

    Attributes
    ----------
    prediction, reference
        The masks; a mask of nothing for a prediction that cannot be compared, no masks where the
        reference cannot be read.
    values
        The published metrics; None for one that is not defined.
    note
        The reason in words where it is neither scored nor missing.
    """

    target: Target
    status: str
    prediction: PackedMask | None
    reference: PackedMask | None
    values: Values
    note: str | None = None


def assign(references: Iterable[tuple[str | None, SubmittedFile]]) -> dict[str, int]:
    """Return which reference has each key, by its position: the last where several have it."""
    return {key: index for index, (key, _) in enumerate(references) if key is not None}


def compare(target: Target, terms: Terms, limits: Limits) -> Comparison:
    """Read the files of a target and measure what the published evaluator measures."""
    try:
        reference = read_reference_mask(target.reference, terms.kind, limits, terms.axes)
    except CapsuleFault as fault:
        return Comparison(target, REFERENCE_UNREADABLE, None, None, {}, str(fault))
    nothing = PackedMask.nothing(reference.shape)
    zeros: Values = dict.fromkeys(terms.metrics, 0.0)
    if target.prediction is None:
        return Comparison(target, MISSING, nothing, reference, zeros)
    try:
        prediction = read_mask(target.prediction, terms.kind, limits, reference.shape)
    except ShapeDiffers as fault:
        return Comparison(target, SHAPE_DIFFERS, nothing, reference, {}, str(fault))
    except SubmissionFault as fault:
        return Comparison(target, UNREADABLE, nothing, reference, zeros, str(fault))
    return Comparison(target, SCORED, prediction, reference, terms.measure(prediction, reference))


def line_metrics(prediction: PackedMask, reference: PackedMask) -> Values:
    """Return the overlap and skeleton metrics of two masks of equal shape.

    `dice`, `iou`, `precision` and `recall` in [0, 1] or None where they would be 0 / 0; `t_prec`,
    `t_sens` and their harmonic mean `cl_dice` in [0, 1], 0 where a skeleton is empty.
    """
    both = prediction.overlap(reference)
    one, other = prediction.size, reference.size
    lines = agree(prediction, reference, skeleton)
    usable = len(lines.predicted) and len(lines.reference)
    return {
        "dice": 2 * both / (one + other) if one + other else None,
        "iou": both / (one + other - both) if one + other else None,
        "precision": both / one if one else None,
        "recall": both / other if other else None,
        "cl_dice": lines.cl_dice if usable else 0.0,
        "t_prec": lines.precision if usable else 0.0,
        "t_sens": lines.sensitivity if usable else 0.0,
    }


class Published:
    """Collects comparisons one by one, without their masks, into the published result."""

    def __init__(self, job: Job, terms: Terms, n_files: int) -> None:
        self._terms = terms
        self._n_files = n_files
        named = job.rubric.metric_config.get("primary_metric")
        self._primary = named if named in terms.primary else "dice"
        self._rows: list[dict[str, Any]] = []
        self._values: list[Values] = []
        self._status: list[str] = []
        self._notes: list[str] = []

    def add(self, comparison: Comparison) -> dict[str, Scalar]:
        """Take in one comparison and return its item's row."""
        self._rows.append(_row(comparison, self._terms))
        self._status.append(comparison.status)
        if comparison.status not in _EXCLUDED:
            self._values.append(comparison.values)
        if comparison.status == REFERENCE_UNREADABLE:
            self._notes.append(str(comparison.note))
        target = comparison.target
        return {
            "item": target.item,
            "status": comparison.status,
            **{name: comparison.values.get(name) for name in self._terms.metrics},
            "prediction": None if target.prediction is None else str(target.prediction.path),
            "note": comparison.note,
        }

    def result(self) -> Result:
        """Return the published metrics of all comparisons."""
        means = {name: _mean([v[name] for v in self._values]) for name in self._terms.metrics}
        score = means[self._primary] or 0.0
        missing = self._status.count(MISSING)
        metrics = {
            "result_score": score,
            "primary_metric": self._primary,
            **{f"mean_{name}": value for name, value in means.items()},
            "n_paired": len(self._status) - missing,
            "n_missing_predictions": missing,
            "n_pred": self._n_files,
            "n_gt": len(self._status),
            self._terms.rows: self._rows,
        }
        fault = "; ".join(self._notes[:3]) or None
        return Result(score, metrics, fault=fault)


def nothing_paired(n_predictions: int, n_references: int, wanted: str) -> Result:
    """Return the result of files none of which names a reference."""
    error = (
        f"no predicted mask could be paired with a reference: {n_predictions} predicted, "
        f"{n_references} reference files; {wanted}"
    )
    told = {"error": error, "n_pred": n_predictions, "n_gt": n_references}
    return Result(0.0, told, strict=0.0, error=error)


def mean(values: Sequence[float], digits: int = 6) -> float:
    """Return the rounded mean of at least one value."""
    return round(float(np.mean(values)), digits)


def _mean(values: Iterable[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return mean(defined, 4) if defined else None


def _row(comparison: Comparison, terms: Terms) -> dict[str, Any]:
    """Return the published row, which has other keys for each outcome."""
    target = comparison.target
    row: dict[str, Any] = {terms.key: target.item, "gt_path": str(target.reference.path)}
    if target.prediction is not None:
        row["pred_path"] = str(target.prediction.path)
    if comparison.status == SHAPE_DIFFERS:
        return row | {"shape_mismatch": True}
    if comparison.status != SCORED:
        told = "missing prediction" if comparison.status == MISSING else comparison.note
        shown = comparison.values if comparison.status == UNREADABLE else {}
        return row | {"error": told} | shown
    assert comparison.prediction is not None
    assert comparison.reference is not None
    one, other = comparison.prediction, comparison.reference
    counts = {
        f"pred_{terms.unit}": one.size,
        f"gt_{terms.unit}": other.size,
        f"intersection_{terms.unit}": one.overlap(other),
    }
    return row | comparison.values | counts
