"""What a table of phenotypes is worth when a cell that was not found counts as not classified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.files.phenotypes import CLASSES
from scorers.graders.counting_pictures import rest
from scorers.graders.microglia_pictures import pictures
from scorers.graders.spacing import pixel_um_of
from scorers.metrics.classes import (
    class_fractions,
    confusion,
    detected_f1,
    fraction_error,
    macro,
)
from scorers.metrics.frames import match_optimally_by_frame
from scorers.metrics.points import Pairs, chance_f1, f1_score, strict_radius

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.contract import Job, Result, Scalar
    from scorers.files.phenotypes import CellTable

_CHANCE_FRAMES = 5
_NAMES = (*CLASSES, None)


@dataclass(frozen=True)
class Verdict:
    """Both tables, matched optimally in each frame.

    Attributes
    ----------
    radius
        In pixels.
    pairs
        Indices into both tables.
    frames
        Those of the reference, ascending.
    """

    reference: CellTable
    predicted: CellTable
    radius: float
    pairs: Pairs
    frames: NDArray[np.float64]

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which pairs carry one class."""
        one = self.reference.kind[self.pairs.reference]
        same: NDArray[np.bool_] = (one == self.predicted.kind[self.pairs.predicted]) & (one >= 0)
        return same

    @property
    def misses(self) -> NDArray[np.int64]:
        """Reference cells without a partner."""
        return rest(len(self.reference), self.pairs.reference)

    @property
    def false_hits(self) -> NDArray[np.int64]:
        """Submitted cells without a partner."""
        return rest(len(self.predicted), self.pairs.predicted)

    def confusion(self) -> NDArray[np.int64]:
        """Classes of all cells of all frames, as `scorers.metrics.classes.confusion` has them."""
        return confusion(self.reference.kind, self.predicted.kind, self.pairs, len(CLASSES))

    def of_frame(self, frame: float) -> NDArray[np.int64]:
        """Classes of the cells of one frame."""
        one = np.flatnonzero(self.reference.frame == frame)
        other = np.flatnonzero(self.predicted.frame == frame)
        here = self.reference.frame[self.pairs.reference] == frame
        pairs = Pairs(
            np.searchsorted(one, self.pairs.reference[here]),
            np.searchsorted(other, self.pairs.predicted[here]),
            self.pairs.distance[here],
        )
        kinds = self.reference.kind[one], self.predicted.kind[other]
        return confusion(*kinds, pairs, len(CLASSES))


def judge(
    reference: CellTable, predicted: CellTable, largest: float, job: Job, result: Result
) -> None:
    """Add the strict value, its metrics, rows of frames and cells, and pictures to a result.

    The headline `strict_class_f1`, in [0, 1], is the mean over the classes round, amoeboid and
    ramified of the F1 of the cells of all frames, where a true positive was found and has the
    right class: a missed cell is a false negative of its class, a cell seen where there is
    none a false positive of the class it was given. The published score classifies only what was
    found and gives half of its trend part for shares that do not correlate at all. A class that
    neither side has does not count.

    Cells are matched frame by frame, as many as possible within min(`largest`, half the median
    distance to the nearest annotated neighbour), since in dense frames a wide radius meets cells
    by chance; `strict_chance_f1` is the detection F1 that random places would reach.
    `strict_class_f1_frame_mean` is the mean over the reference's frames, a frame without
    submitted cells being 0; `strict_class_f1_micro` pools the classes.
    """
    radius = _radius(reference, largest)
    pairs = match_optimally_by_frame(reference, predicted, radius)
    verdict = Verdict(reference, predicted, radius, pairs, np.unique(reference.frame))
    tables = [verdict.of_frame(frame) for frame in verdict.frames.tolist()]
    result.strict_metrics = _metrics(verdict, tables, job)
    value = result.strict_metrics["strict_class_f1"]
    assert isinstance(value, float)
    result.strict = value
    result.items = [
        _row(frame, table) for frame, table in zip(verdict.frames.tolist(), tables, strict=True)
    ]
    result.objects = _objects(verdict, pixel_um_of(job), job.limits.objects)
    result.pictures = pictures(verdict, job) if job.draws else []


def _radius(reference: CellTable, largest: float) -> float:
    """Return the radius of a match, from the distances of neighbours within frames."""
    # Frames are laid out so far apart that no neighbour is in another one.
    extent = float(np.ptp(reference.place, axis=0).max())
    step = 2 * (extent + largest + 1)
    apart = np.stack([(reference.frame - reference.frame.min()) * step, np.zeros(len(reference))])
    return strict_radius(reference.place + apart.T, largest)


def _metrics(verdict: Verdict, tables: list[NDArray[np.int64]], job: Job) -> dict[str, Scalar]:
    table = verdict.confusion()
    hits, n_g, n_p = len(verdict.pairs), len(verdict.reference), len(verdict.predicted)
    by_class = detected_f1(table)
    right = int(verdict.right.sum())
    labelled = int((verdict.reference.kind >= 0).sum())
    scale = pixel_um_of(job)
    distance = float(verdict.pairs.distance.mean()) if hits else None
    shares = [
        class_fractions(side.frame, side.kind, len(CLASSES))
        for side in (verdict.reference, verdict.predicted)
    ]
    chance = _chance(verdict)
    return {
        "strict_class_f1": round(macro(by_class), 6),
        "strict_class_f1_n": labelled,
        **{
            f"strict_f1_{name}": None if np.isnan(f1) else round(f1, 6)
            for name, f1 in zip(CLASSES, by_class.tolist(), strict=True)
        },
        "strict_class_f1_frame_mean": round(float(np.mean([_frame_f1(t) for t in tables])), 6),
        "strict_class_f1_frame_mean_n": len(tables),
        "strict_class_f1_micro": round(f1_score(right, labelled, n_p), 6),
        "strict_detection_f1": round(f1_score(hits, n_g, n_p), 6),
        "strict_chance_f1": chance,
        "strict_chance_f1_n": min(len(tables), _CHANCE_FRAMES),
        "strict_fraction_error": round(fraction_error(shares[0], shares[1]), 6),
        "strict_fraction_error_n": len(shares[0][0]),
        "strict_hits": hits,
        "strict_wrong_class": hits - right,
        "strict_misses": n_g - hits,
        "strict_false_hits": n_p - hits,
        "strict_distance_px": distance,
        "strict_distance_um": None if scale is None or distance is None else distance * scale,
        "strict_radius_px": round(verdict.radius, 4),
    }


def _frame_f1(table: NDArray[np.int64]) -> float:
    return macro(detected_f1(table))


def _chance(verdict: Verdict) -> float:
    """Return the mean chance F1 of a few frames spread over the movie."""
    reference = verdict.reference
    step = max(1, len(verdict.frames) // _CHANCE_FRAMES)
    low, high = reference.place.min(axis=0).tolist(), reference.place.max(axis=0).tolist()
    values = [
        chance_f1(reference.place[reference.frame == frame], verdict.radius, (*low, *high), draws=2)
        for frame in verdict.frames[::step][:_CHANCE_FRAMES].tolist()
    ]
    return round(float(np.mean(values)), 4)


def _row(frame: float, table: NDArray[np.int64]) -> dict[str, Scalar]:
    n_p = int(table[:, :-1].sum())
    return {
        "item": f"frame {frame:.0f}",
        "status": "scored" if n_p else "missing",
        "strict_class_f1": round(_frame_f1(table), 4),
        **{
            f"strict_f1_{name}": None if np.isnan(f1) else round(f1, 4)
            for name, f1 in zip(CLASSES, detected_f1(table).tolist(), strict=True)
        },
        "reference_cells": int(table[:-1].sum()),
        "predicted_cells": n_p,
        "hits": int(table[:-1, :-1].sum()),
        "right_class": int(np.diagonal(table)[:-2].sum()),
        "misses": int(table[:-1, -1].sum()),
        "false_hits": int(table[-1, :-1].sum()),
    }


def _objects(verdict: Verdict, scale: float | None, most: int) -> list[dict[str, Scalar]]:
    """Return one row a cell: the reference's place, for a false hit the submitted one."""
    reference, predicted, pairs = verdict.reference, verdict.predicted, verdict.pairs
    columns = (
        np.where(verdict.right, "hit", "wrong class")[:most].tolist(),
        _listed(reference, pairs.reference[:most]),
        _listed(predicted, pairs.predicted[:most]),
        pairs.distance[:most].tolist(),
    )
    rows = [_object(*row, scale) for row in zip(*columns, strict=True)]
    missed = _listed(reference, verdict.misses[: max(most - len(rows), 0)])
    rows += [_object("miss", cell, None, None, scale) for cell in missed]
    false = _listed(predicted, verdict.false_hits[: max(most - len(rows), 0)])
    rows += [_object("false hit", None, cell, None, scale) for cell in false]
    return rows


Listed = tuple[float, float, float, str | None]


def _listed(side: CellTable, which: NDArray[np.int64]) -> list[Listed]:
    """Return frame, x, y and class of some cells."""
    columns = (side.frame[which], *side.place[which].T)
    names = [_NAMES[kind] for kind in side.kind[which].tolist()]
    return list(zip(*(column.tolist() for column in columns), names, strict=True))


def _object(
    kind: str,
    known: Listed | None,
    told: Listed | None,
    distance: float | None,
    scale: float | None,
) -> dict[str, Scalar]:
    here = known or told
    assert here is not None
    return {
        "item": f"frame {here[0]:.0f}",
        "kind": kind,
        "x": here[1],
        "y": here[2],
        "class": known[3] if known else None,
        "match_x": told[1] if known and told else None,
        "match_y": told[2] if known and told else None,
        "predicted_class": told[3] if told else None,
        "distance_px": distance,
        "distance_um": None if scale is None or distance is None else distance * scale,
    }
