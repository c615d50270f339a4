"""Puncta of nuclei: one table of all nuclei with their places and numbers of puncta.

The published score compares numbers of puncta nucleus by nucleus and lets nothing but a near exact
count score at all. The strict value asks for three things apart: nuclei, which of them have puncta,
and how many.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from scorers.contract import Family, Result
from scorers.errors import SubmissionFault
from scorers.files.deliverables import resolve
from scorers.files.nuclei import COUNT, INTENSITY, VOLUME, read_nuclei
from scorers.graders.keys import key_match
from scorers.graders.puncta_files import (
    DELIVERABLE,
    NOBODY,
    blank,
    by_image,
    by_known_image,
    perfect,
    read_reference,
    reference_file,
    voxel_edge,
)
from scorers.graders.puncta_report import summary
from scorers.graders.puncta_strict import Reach, judge
from scorers.graders.settings import setting
from scorers.metrics.greedy import TooManyPairs, match_greedily

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from scorers.contract import Job
    from scorers.graders.puncta_files import Nuclei

    Groups = dict[tuple[str, str], Nuclei]
    Values = NDArray[np.float64]


_SHOWN = 100


@dataclass
class Tally:
    """Errors of one condition, or of all.

    Attributes
    ----------
    reference
        Number of reference nuclei.
    error
        Sum over them, and over predicted nuclei without partner.
    """

    reference: int = 0
    error: float = 0.0
    unmatched_reference: int = 0
    unmatched_predicted: int = 0
    matched: list[tuple[Values, Values]] = field(default_factory=list)


def grade(job: Job) -> Result:
    """Grade the table of a submission."""
    file = reference_file(job)
    (submitted,) = resolve(job.spec, job.submission, job.limits).require(DELIVERABLE)
    threshold = setting(job, "nucleus_match_threshold_um")
    if file is None:
        error = "evaluation/ lacks cell_quants.csv: expected the reference's table of nuclei"
        return Result(0.0, {"error": error}, fault=error)
    reference, predicted = read_reference(file, job), read_nuclei(submitted, job.limits)
    known, own = reference.means(COUNT), predicted.means(COUNT)
    match = key_match(own, known, known.keys() & own.keys())
    if not known.keys() & own.keys():
        error = "no condition of the reference occurs in the table"
        told = {"pred_conditions": [*own][:_SHOWN], "gt_conditions": [*known], "key_match": match}
        return Result(0.0, {"error": error, **told}, strict=0.0, error=error)
    edge = voxel_edge(reference)
    radius = threshold / edge if edge else math.inf
    images = by_image(reference)
    found, strangers = by_known_image(predicted, images.keys())
    tallies = _tallies(images, found, strangers, radius)
    means = {c: (reference.means(c), predicted.means(c)) for c in (COUNT, INTENSITY, VOLUME)}
    metrics = summary(tallies, means, str(submitted.path)) | {"key_match": match}
    result = Result(metrics["result_score"], metrics)
    judge(images, found, strangers, Reach(threshold, edge), job, result)
    return result


FAMILY = Family("puncta", grade, perfect, blank)


def _tallies(
    reference: Groups, predicted: Groups, strangers: Mapping[str, Values], radius: float
) -> dict[str, Tally]:
    """Match nuclei image by image and sum up by condition, those of unknown images too."""
    tallies: dict[str, Tally] = {}
    for condition, counts in strangers.items():
        with np.errstate(over="ignore", invalid="ignore"):
            error = float(counts.sum())
        tallies[condition] = Tally(error=error, unmatched_predicted=len(counts))
    for key, known in reference.items():
        own = predicted.get(key, NOBODY)
        tally = tallies.setdefault(key[0], Tally())
        try:
            pairs = match_greedily(known.place, own.place, radius)
        except TooManyPairs as fault:
            raise SubmissionFault(f"{key[0]}, {own.name}: {fault}") from fault
        alone = np.setdiff1d(np.arange(len(known)), pairs.reference)
        extra = np.setdiff1d(np.arange(len(own)), pairs.predicted)
        x, y = own.count[pairs.predicted], known.count[pairs.reference]
        with np.errstate(over="ignore", invalid="ignore"):
            tally.error += float(np.abs(x - y).sum())
            tally.error += float(np.abs(known.count[alone]).sum() + own.count[extra].sum())
        tally.reference += len(known)
        tally.unmatched_reference += len(alone)
        tally.unmatched_predicted += len(extra)
        tally.matched.append((x, y))
    return tallies
