"""The strict value of counting: whether the cells are where they are said to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.graders.counting_pictures import fields, inputs_of, pictures, rest
from scorers.metrics.points import Pairs, chance_f1, f1_score, match_optimally, strict_radius

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.contract import Job, Result, Scalar
    from scorers.files.tree import SubmittedFile
    from scorers.graders.counting import Image


@dataclass(frozen=True)
class Verdict:
    """One image matched optimally.

    Attributes
    ----------
    predicted
        Columns x and y, shape (m, 2); empty if nothing usable was submitted.
    delivered
        Whether a table that can be read was submitted.
    radius
        In pixels.
    pairs
        Indices into the reference and into `predicted`.
    """

    image: Image
    predicted: NDArray[np.float64]
    delivered: bool
    radius: float
    pairs: Pairs

    @property
    def f1(self) -> float:
        """In [0, 1]; 1 for an empty image with an empty table, 0 without a table."""
        if not self.delivered:
            return 0.0
        return f1_score(len(self.pairs), len(self.image.reference), len(self.predicted))

    @property
    def counts(self) -> bool:
        """Whether the headline counts it: F1 has no term for rightly empty images."""
        return bool(len(self.image.reference) or len(self.predicted) or not self.delivered)


def judge(images: list[Image], largest: float, job: Job, result: Result) -> None:
    """Add the strict value, its metrics, rows of objects and pictures to a result.

    A cell is found within half the median neighbour distance of the image's reference, at most
    within `largest` pixels.

    The headline `strict_f1` is the mean of F1 over the images that hold or were given cells.
    Rightly empty images do not enter (as true negatives do not enter F1), so that empty tables
    earn nothing; a missing table or cells in an empty image count as 0. Where several files claim
    an image the worst counts, so that leaving a file out never helps.
    `strict_f1_all_images` includes rightly empty images with 1, `strict_f1_pooled` is over all
    cells at once. `strict_chance_f1` says what as many cells at random places would get.
    """
    inputs = inputs_of(job)
    verdicts = [_worst(image, largest) for image in images]
    by_stem = {verdict.image.stem: verdict for verdict in verdicts}
    counted = [verdict.f1 for verdict in verdicts if verdict.counts]
    result.strict = round(float(np.mean(counted)), 6) if counted else 1.0
    result.strict_metrics = _metrics(verdicts, result.strict, len(counted), inputs, job)
    for item in result.items:
        item |= _row(by_stem[str(item["item"])])
    result.objects = _objects(verdicts, job.limits.objects)
    result.pictures = pictures(verdicts, inputs, job) if job.draws else []


def _worst(image: Image, largest: float) -> Verdict:
    radius = strict_radius(image.reference, largest)
    verdicts = []
    for points in image.points or [None]:
        predicted = np.zeros((0, 2)) if points is None else points
        pairs = match_optimally(image.reference, predicted, radius)
        verdicts.append(Verdict(image, predicted, points is not None, radius, pairs))
    return min(verdicts, key=lambda verdict: verdict.f1)


def _row(verdict: Verdict) -> dict[str, Scalar]:
    tp = len(verdict.pairs)
    return {
        "strict_f1": round(verdict.f1, 4),
        "strict_hits": tp,
        "strict_false_hits": len(verdict.predicted) - tp,
        "strict_misses": len(verdict.image.reference) - tp,
        "strict_radius_px": round(verdict.radius, 4),
    }


def _metrics(
    verdicts: list[Verdict],
    headline: float,
    n: int,
    inputs: dict[str, SubmittedFile],
    job: Job,
) -> dict[str, Scalar]:
    tp = sum(len(verdict.pairs) for verdict in verdicts)
    n_g = sum(len(verdict.image.reference) for verdict in verdicts)
    n_p = sum(len(verdict.predicted) for verdict in verdicts)
    distances = np.concatenate([verdict.pairs.distance for verdict in verdicts])
    filled = [verdict for verdict in verdicts if len(verdict.image.reference)]
    where = fields([verdict.image for verdict in filled], inputs, job) if filled else []
    chance = [
        chance_f1(verdict.image.reference, verdict.radius, field, draws=3)
        for verdict, field in zip(filled, where, strict=True)
    ]
    return {
        "strict_f1": headline,
        "strict_f1_n": n,
        "strict_f1_all_images": float(np.mean([verdict.f1 for verdict in verdicts])),
        "strict_f1_all_images_n": len(verdicts),
        "strict_f1_pooled": f1_score(tp, n_g, n_p),
        "strict_precision": tp / n_p if n_p else None,
        "strict_recall": tp / n_g if n_g else None,
        "strict_hits": tp,
        "strict_false_hits": n_p - tp,
        "strict_misses": n_g - tp,
        "strict_distance_px": float(distances.mean()) if tp else None,
        "strict_chance_f1": float(np.mean(chance)) if chance else None,
        "strict_chance_f1_n": len(chance),
        "strict_radius_px": float(np.median([v.radius for v in filled])) if filled else None,
    }


def _objects(verdicts: list[Verdict], most: int) -> list[dict[str, Scalar]]:
    """Return one row a cell: the reference's place, for a false hit the predicted one."""
    rows: list[dict[str, Scalar]] = []
    for verdict in verdicts:
        stem, reference, predicted = verdict.image.stem, verdict.image.reference, verdict.predicted
        found, used, distance = (
            verdict.pairs.reference,
            verdict.pairs.predicted,
            verdict.pairs.distance,
        )
        room = max(most - len(rows), 0)
        rows += [
            _object(stem, "hit", here, there, apart)
            for here, there, apart in zip(
                reference[found[:room]].tolist(),
                predicted[used[:room]].tolist(),
                distance[:room].tolist(),
                strict=True,
            )
        ]
        missed, false = rest(len(reference), found), rest(len(predicted), used)
        room = max(most - len(rows), 0)
        rows += [_object(stem, "miss", place) for place in reference[missed[:room]].tolist()]
        room = max(most - len(rows), 0)
        rows += [_object(stem, "false hit", place) for place in predicted[false[:room]].tolist()]
    return rows


def _object(
    stem: str,
    kind: str,
    place: list[float],
    match: list[float] | None = None,
    distance: float | None = None,
) -> dict[str, Scalar]:
    return {
        "item": stem,
        "kind": kind,
        "x": place[0],
        "y": place[1],
        "match_x": match[0] if match else None,
        "match_y": match[1] if match else None,
        "distance_px": distance,
    }
