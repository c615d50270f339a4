"""One predicted against one reference label image: the numbers and the rows of its objects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.ahead import ahead
from scorers.files.labels import LabelPair, reference_planes
from scorers.graders.outlines import Outlines
from scorers.metrics.anatomy import Anatomy, anatomy
from scorers.metrics.boundary import boundary_f1
from scorers.metrics.instances import (
    Matching,
    adapted_rand,
    average_precision,
    dice,
    foreground_iou,
    match,
    panoptic_quality,
)
from scorers.metrics.outline import OutlineCounter
from scorers.metrics.overlap import Overlap, OverlapCounter, TooManyLabels, overlap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorers.contract import Scalar
    from scorers.files.limits import Limits
    from scorers.files.tree import SubmittedFile
    from scorers.graders.outlines import Grid

SCORED, MISSING, UNREADABLE = "scored", "missing", "unreadable"
SHAPE_DIFFERS, REFERENCE_UNREADABLE = "shape differs", "reference unreadable"
METRICS = ("dice", "iou", "ap_at_0.5", "ap_at_0.75", "pq")
_NOTHING = overlap(np.zeros((0, 0), np.uint8), np.zeros((0, 0), np.uint8))


@dataclass(frozen=True)
class Comparison:
    """What became of one reference image.

    Attributes
    ----------
    status
        `scored`, or why everything is 0.
    reference, prediction
        The files; no prediction where it is missing.
    table
        The joint histogram; unless scored, that of the reference with nothing predicted.
    boundary_f1
        Only of scored images, not of volumes.
    note
        The reason in words where it is neither scored nor missing.
    outlines
        Of the reference objects, where rows of objects are wanted.
    """

    status: str
    reference: SubmittedFile
    prediction: SubmittedFile | None
    table: Overlap
    boundary_f1: float | None = None
    note: str | None = None
    outlines: Outlines | None = None

    @cached_property
    def item(self) -> str:
        """The name of the item: the reference's path without its last suffix."""
        return str(self.reference.path.with_suffix(""))

    @cached_property
    def matching(self) -> Matching:
        """Objects matched at IoU 0.5."""
        return match(self.table)

    @cached_property
    def anatomy(self) -> Anatomy:
        """What became of each object."""
        return anatomy(self.table, self.matching)

    @cached_property
    def published(self) -> dict[str, float]:
        """The published metrics of this image, all 0 unless it was scored."""
        if self.status != SCORED:
            return dict.fromkeys(METRICS, 0.0)
        values = (
            dice(self.table),
            foreground_iou(self.table),
            average_precision(self.matching),
            average_precision(match(self.table, 0.75)),
            panoptic_quality(self.matching, empty=0.0),
        )
        return dict(zip(METRICS, values, strict=True))

    @property
    def strict_pq(self) -> float:
        """Panoptic quality; 1 where nothing was found and nothing is, 0 unless scored."""
        return panoptic_quality(self.matching, empty=1.0) if self.status == SCORED else 0.0

    @property
    def strict_rand(self) -> float:
        """Adapted Rand F score, 0 unless scored."""
        return adapted_rand(self.table) if self.status == SCORED else 0.0

    def row(self) -> dict[str, Scalar]:
        """Return the item's row."""
        scored = self.status == SCORED
        return {
            "item": self.item,
            "status": self.status,
            **self.published,
            "boundary_f1": self.boundary_f1,
            "strict_pq": self.strict_pq,
            "reference_objects": self.matching.n_reference,
            "predicted_objects": self.matching.n_prediction if scored else None,
            "hits": self.matching.hits,
            "misses": self.matching.misses,
            "false_hits": self.matching.false_hits,
            "splits": self.anatomy.n_splits,
            "merges": self.anatomy.n_merges,
            "prediction": None if self.prediction is None else str(self.prediction.path),
            "note": self.note,
        }

    def object_rows(self) -> Iterator[dict[str, Scalar]]:
        """Yield a row for each reference object and for each prediction that is no hit."""
        table = self.table
        sides: tuple[tuple[str, Any, Any, Any, Any], ...] = (
            (
                "reference",
                self.anatomy.reference,
                table.reference_ids,
                table.reference_areas,
                table.prediction_ids,
            ),
            (
                "prediction",
                self.anatomy.prediction,
                table.prediction_ids,
                table.prediction_areas,
                table.reference_ids,
            ),
        )
        for name, side, ids, areas, others in sides:
            off: list[float | None] = [None] * len(ids)
            if name == "reference" and self.outlines is not None:
                off = self.outlines.errors(table, self.matching)
            rows = zip(
                ids.tolist(),
                side.kind.tolist(),
                areas.tolist(),
                side.partner.tolist(),
                side.iou.tolist(),
                off,
                strict=True,
            )
            for label, kind, area, partner, iou, error in rows:
                if name == "prediction" and kind == "hit":
                    continue
                yield {
                    "item": self.item,
                    "side": name,
                    "label": label,
                    "kind": kind,
                    "area": area,
                    "partner": None if partner < 0 else int(others[partner]),
                    "iou": iou,
                    "boundary_error_px": error,
                    "boundary_error_um": self.outlines.um(error) if self.outlines else None,
                }


def compare(
    prediction: SubmittedFile | None,
    reference: SubmittedFile,
    limits: Limits,
    *,
    flat: bool,
    grid: Grid | None = None,
) -> Comparison:
    """Compare a prediction, if there is one, with its reference.

    Parameters
    ----------
    prediction, reference
        Image files.
    limits
        Bounds on what is read of the prediction.
    flat
        Whether they are images and not volumes.
    grid
        How large a voxel is, where the outlines of objects are wanted.
    """
    try:
        if prediction is None:
            return Comparison(MISSING, reference, None, _alone(reference, limits, flat=flat))
        try:
            return _compared(prediction, reference, limits, flat=flat, grid=grid)
        except (SubmissionFault, TooManyLabels) as fault:
            table = _alone(reference, limits, flat=flat)
            return Comparison(UNREADABLE, reference, prediction, table, note=str(fault))
    except CapsuleFault as fault:
        return Comparison(REFERENCE_UNREADABLE, reference, prediction, _NOTHING, note=str(fault))


def _compared(
    prediction: SubmittedFile,
    reference: SubmittedFile,
    limits: Limits,
    *,
    flat: bool,
    grid: Grid | None,
) -> Comparison:
    counter = OverlapCounter(limits.labels)
    edges: float | None = None
    outline = None if grid is None else OutlineCounter(grid.spacing_px, flat=flat)
    with LabelPair(prediction, reference, limits, flat=flat) as pair:
        shapes = pair.prediction.shape, pair.reference.shape
        if shapes[0] != shapes[1]:
            table = _alone(reference, limits, flat=flat)
            note = f"shape {shapes[0]}, expected {shapes[1]}"
            return Comparison(SHAPE_DIFFERS, reference, prediction, table, note=note)
        if flat:
            arrays = pair.arrays()
            counter.add(*arrays)
            edges = boundary_f1(*arrays)
            if outline is not None and arrays[1].ndim == 2:
                outline.add(arrays[1])
        else:
            for planes in ahead(pair.planes()):
                counter.add(*planes)
                if outline is not None:
                    outline.add(planes[1])
    table, lines = counter.result(), None
    if grid is not None and outline is not None:
        lines = Outlines(outline.result(table.reference_ids), grid.voxel(flat=flat), grid.pixel_um)
    return Comparison(SCORED, reference, prediction, table, edges, outlines=lines)


def _alone(reference: SubmittedFile, limits: Limits, *, flat: bool) -> Overlap:
    counter = OverlapCounter(limits.for_references().labels)
    for plane in reference_planes(reference, limits, flat=flat):
        counter.add(np.zeros(plane.shape, np.uint8), plane)
    return counter.result()
