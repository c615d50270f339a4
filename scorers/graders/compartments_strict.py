"""What the masks of several compartments are worth as cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from scorers.graders.comparison import SCORED, Comparison
from scorers.graders.compartments_files import deliverable
from scorers.graders.compartments_pictures import pictures
from scorers.metrics.cells import Cells, match_cells
from scorers.metrics.instances import panoptic_quality

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scorers.contract import Job, Result, Scalar
    from scorers.metrics.overlap import Overlap


@dataclass(frozen=True)
class Image:
    """One image: its compartments' comparisons by name."""

    item: str
    parts: dict[str, Comparison]

    @property
    def status(self) -> str:
        """`scored` if every compartment was, else the first other status."""
        states = [part.status for part in self.parts.values() if part.status != SCORED]
        return states[0] if states else SCORED

    @cached_property
    def cells(self) -> Cells:
        """The cells on both sides; only the reference's unless every compartment was scored."""
        tables = [part.table for part in self.parts.values()]
        return match_cells(tables if self.status == SCORED else list(map(_unmet, tables)))

    @property
    def strict_pq(self) -> float:
        """Panoptic quality of the cells; 1 if there are none on either side, 0 unless scored."""
        return panoptic_quality(self.cells.matching, empty=1.0) if self.status == SCORED else 0.0


def _unmet(table: Overlap) -> Overlap:
    """Return the table of the reference with nothing predicted."""
    none = np.zeros(0, np.int64)
    return replace(
        table,
        prediction_ids=none,
        prediction_areas=none,
        prediction=none,
        reference=none,
        shared=none,
        prediction_pixels=0,
        both_pixels=0,
    )


def judge(comparisons: Mapping[str, Sequence[Comparison]], job: Job, result: Result) -> None:
    """Add the strict value, its metrics, rows of images and cells, and pictures to a result.

    The headline `strict_cell_pq`, in [0, 1], is the mean over images of the panoptic quality of
    cells. A cell is an id; it is found if in every compartment its IoU with the same reference
    cell is at least 0.5, and its quality is the least of these IoUs (`match_cells`). The
    published Dice sees neither that cells are told apart nor that nucleus and cytoplasm of one
    carry the same id: with ids shuffled in one compartment it is still 1, the strict value about
    0. An image with a mask that is missing, unreadable or of another shape earns 0; an image
    rightly without cells 1. Only images with a reference in every compartment count; if a
    compartment has no reference at all, it is not available.

    `strict_link_rate` is the share of the reference cells found in every compartment, by any
    ids, whose ids agree; `strict_pq_<compartment>` is the panoptic quality of one compartment.
    """
    images = _images(comparisons)
    result.strict = (
        round(float(np.mean([image.strict_pq for image in images])), 6) if images else None
    )
    result.strict_metrics = _metrics(images, comparisons, result.strict)
    result.items = [_row(image) for image in images]
    rows = (row for image in images for row in _object_rows(image))
    result.objects = list(islice(rows, job.limits.objects))
    result.pictures = pictures(images, job) if job.draws else []


def _images(comparisons: Mapping[str, Sequence[Comparison]]) -> list[Image]:
    """Return the images that have a reference in every compartment, in path order."""
    keyed = {
        name: {_key(comparison, name): comparison for comparison in found}
        for name, found in comparisons.items()
    }
    common = set.intersection(*(set(found) for found in keyed.values()))
    first = next(iter(keyed.values()))
    return [
        Image("/".join(key), {name: found[key] for name, found in keyed.items()})
        for key in first
        if key in common
    ]


def _key(comparison: Comparison, name: str) -> tuple[str, ...]:
    path = comparison.reference.path
    return path.relative_to(deliverable(name)).with_suffix("").parts


def _metrics(
    images: list[Image], comparisons: Mapping[str, Sequence[Comparison]], headline: float | None
) -> dict[str, Scalar]:
    matchings = [image.cells.matching for image in images]
    hits = sum(m.hits for m in matchings)
    misses = sum(m.misses for m in matchings)
    false_hits = sum(m.false_hits for m in matchings)
    iou = sum(float(m.iou.sum()) for m in matchings)
    total = hits + (misses + false_hits) / 2
    outlined = sum(int(image.cells.outlined.sum()) for image in images)
    linked = sum(int(image.cells.linked.sum()) for image in images)
    values: dict[str, Scalar] = {
        "strict_cell_pq": headline,
        "strict_cell_pq_n": len(images),
        "strict_cell_pq_pooled": round(iou / total, 6) if total else 1.0,
        "strict_cell_sq_pooled": round(iou / hits, 6) if hits else 0.0,
        "strict_cell_rq_pooled": round(hits / total, 6) if total else 1.0,
        "strict_pooled_n": hits + misses,
        "strict_hits": hits,
        "strict_misses": misses,
        "strict_false_hits": false_hits,
        "strict_wrong_links": outlined - linked,
        "strict_link_rate": round(linked / outlined, 6) if outlined else None,
        "strict_link_rate_n": outlined,
    }
    for name, found in comparisons.items():
        if not found:
            continue
        values |= {
            f"strict_pq_{name}": round(float(np.mean([c.strict_pq for c in found])), 6),
            f"strict_pq_{name}_n": len(found),
            f"strict_splits_{name}": sum(c.anatomy.n_splits for c in found),
            f"strict_merges_{name}": sum(c.anatomy.n_merges for c in found),
            f"strict_boundary_f1_{name}": round(
                float(np.mean([c.boundary_f1 or 0.0 for c in found])), 6
            ),
        }
    return values


def _row(image: Image) -> dict[str, Scalar]:
    matching, cells = image.cells.matching, image.cells
    row: dict[str, Scalar] = {
        "item": image.item,
        "status": image.status,
        "strict_cell_pq": image.strict_pq,
        "reference_cells": matching.n_reference,
        "predicted_cells": matching.n_prediction if image.status == SCORED else None,
        "hits": matching.hits,
        "misses": matching.misses,
        "false_hits": matching.false_hits,
        "wrong_links": int(cells.wrong_links.sum()),
    }
    for name, part in image.parts.items():
        row |= {
            f"{name}_status": part.status,
            **{f"{name}_{key}": value for key, value in part.published.items()},
            f"{name}_boundary_f1": part.boundary_f1,
            f"{name}_strict_pq": part.strict_pq,
            f"{name}_prediction": None if part.prediction is None else str(part.prediction.path),
            f"{name}_note": part.note,
        }
    return row


def _object_rows(image: Image) -> Iterator[dict[str, Scalar]]:
    """Yield rows of cells, then of the objects of each compartment."""
    cells, matching = image.cells, image.cells.matching
    kind = np.where(cells.wrong_links, "wrong link", "miss")
    kind[matching.reference] = "hit"
    partner = np.zeros(len(cells.reference_ids), np.int64)
    partner[matching.reference] = cells.prediction_ids[matching.prediction]
    iou = np.zeros(len(partner))
    iou[matching.reference] = matching.iou
    columns = (cells.reference_ids.tolist(), kind.tolist(), partner.tolist(), iou.tolist())
    for label, what, other, value in zip(*columns, strict=True):
        yield _cell_row(image.item, "reference", label, what, other or None, value)
    for label in np.delete(cells.prediction_ids, matching.prediction).tolist():
        yield _cell_row(image.item, "prediction", label, "false hit", None, 0.0)
    for name, part in image.parts.items():
        for row in part.object_rows():
            yield {"item": image.item, "compartment": name} | row | {"item": image.item}


def _cell_row(
    item: str, side: str, label: int, kind: str, partner: int | None, iou: float
) -> dict[str, Scalar]:
    return {
        "item": item,
        "compartment": "cell",
        "side": side,
        "label": label,
        "kind": kind,
        "area": None,
        "partner": partner,
        "iou": iou,
        "boundary_error_px": None,
        "boundary_error_um": None,
    }
