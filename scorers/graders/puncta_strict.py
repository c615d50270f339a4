"""The strict value of puncta: which nuclei there are, which have puncta, and how many."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.graders.puncta_files import NOBODY, Nuclei
from scorers.graders.puncta_pictures import pictures
from scorers.graders.spacing import spacing_of
from scorers.metrics.points import Pairs, match_optimally, strict_radius
from scorers.metrics.punctate import Counts, log_concordance, punctate_f1

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from scorers.contract import Job, Result, Scalar
    from scorers.graders.spacing import Spacing

    Groups = Mapping[tuple[str, str], Nuclei]
    Values = NDArray[np.float64]

ELSEWHERE = "(images that the reference lacks)"
# As the released instruction says it: X, then Y, then Z.
_IN_WORDS = re.compile(r"([0-9.]{1,8}) ?µm × ([0-9.]{1,8}) ?µm × ([0-9.]{1,8}) ?µm")


@dataclass(frozen=True)
class Reach:
    """How far apart nuclei may be matched, in µm, and the edge of a voxel taken for a cube."""

    largest: float
    edge: float | None


@dataclass(frozen=True)
class Verdict:
    """One image judged strictly.

    Attributes
    ----------
    key
        Condition and image.
    known, own
        The reference's nuclei and the submitted ones, their places in µm.
    """

    key: tuple[str, str]
    name: str
    known: Nuclei
    own: Nuclei
    radius: float
    pairs: Pairs
    counts: Counts

    @property
    def score(self) -> float:
        """Mean of the three parts."""
        return (
            self.counts.nucleus_f1 + punctate_f1(self.counts) + log_concordance(self.counts)
        ) / 3


def judge(
    reference: Groups,
    predicted: Groups,
    strangers: Mapping[str, Values],
    reach: Reach,
    job: Job,
    result: Result,
) -> None:
    """Add the strict value, its metrics, items, rows of objects and pictures to a result.

    `strict_score`, in [0, 1], is the mean of three parts over all nuclei of all images: F1 of the
    nuclei, F1 of telling those with puncta from those without, and Lin's concordance of
    log(1 + number of puncta). The published score is 0 as soon as the errors of a condition reach
    its mean, which with three quarters of empty nuclei says little; the parts tell apart what went
    wrong. A nucleus that is missing counts as wrong as possible in all three.

    Nuclei of an image are matched optimally, one to one, in µm with the voxel's own three sizes
    (see `spacing_of`; where nothing says them, with a cube of the volume that the reference
    implies). A partner lies within half the median neighbour distance of the image's reference
    nuclei, at most within `reach`. Without any size there is no strict value.
    """
    edge = reach.edge
    spacing = spacing_of(job) or _told(job) or ((edge, edge, edge) if edge else None)
    if spacing is None or not reference:
        result.items = [_published_item(key, nuclei) for key, nuclei in reference.items()]
        return
    verdicts = [
        _verdict(key, known, predicted.get(key, NOBODY), reach.largest, spacing)
        for key, known in reference.items()
    ]
    elsewhere = np.concatenate([np.zeros(0), *strangers.values()])
    parts = [v.counts for v in verdicts]
    nobody = np.zeros(0)
    pooled = Counts.joined([*parts, Counts(nobody, nobody, elsewhere, 0)])
    values = (pooled.nucleus_f1, punctate_f1(pooled), log_concordance(pooled))
    result.strict = round(float(np.mean(values)), 6)
    distance = np.concatenate([nobody, *(v.pairs.distance for v in verdicts)])
    result.strict_metrics = {
        "strict_score": result.strict,
        "strict_n": len(pooled.known),
        "strict_nucleus_f1": round(values[0], 6),
        "strict_punctate_f1": round(values[1], 6),
        "strict_punctate_n": int((pooled.known > 0).sum()),
        "strict_ccc_log1p": round(values[2], 6),
        "strict_image_mean": round(float(np.mean([v.score for v in verdicts])), 6),
        "strict_image_n": len(verdicts),
        "strict_hits": pooled.n_matched,
        "strict_misses": len(pooled.known) - pooled.n_matched,
        "strict_false_hits": len(pooled.extra),
        "strict_distance_um": round(float(distance.mean()), 4) if len(distance) else None,
        "strict_radius_um": round(float(np.median([v.radius for v in verdicts])), 4),
        "strict_voxel_um": " x ".join(f"{size:g}" for size in spacing),
    }
    result.items = [_item(v) for v in verdicts]
    if len(elsewhere):
        result.items.append(_stranger(elsewhere, result.items[0]))
    result.objects = _objects(verdicts, job.limits.objects)
    result.pictures = pictures(verdicts, spacing, job) if job.draws else []


def _told(job: Job) -> Spacing | None:
    found = _IN_WORDS.search(job.spec.task_logic.expert_instructions)
    if found is None:
        return None
    try:
        x, y, z = (float(size) for size in found.groups())
    except ValueError:
        return None
    return (z, y, x) if min(x, y, z) > 0 else None


def _verdict(
    key: tuple[str, str], known: Nuclei, own: Nuclei, largest: float, spacing: Spacing
) -> Verdict:
    usable = np.isfinite(known.place).all(axis=1) & np.isfinite(known.count)
    known = Nuclei(known.place[usable] * spacing, np.maximum(known.count[usable], 0), known.name)
    with np.errstate(over="ignore"):
        own = Nuclei(own.place * spacing, own.count, own.name)
    radius = strict_radius(known.place, largest)
    pairs = match_optimally(known.place, own.place, radius)
    counts = Counts.of(known.count, own.count, pairs)
    return Verdict(key, known.name, known, own, radius, pairs, counts)


def _item(verdict: Verdict) -> dict[str, Scalar]:
    counts = verdict.counts
    return {
        "item": f"{verdict.key[0]}/{verdict.name}",
        "status": "scored" if len(verdict.own) else "missing",
        "nuclei_true": len(verdict.known),
        "nuclei": len(verdict.own),
        "puncta_true": float(verdict.known.count.sum()),
        "puncta": _total(verdict.own.count),
        "strict": round(verdict.score, 4),
        "strict_nucleus_f1": round(counts.nucleus_f1, 4),
        "strict_punctate_f1": round(punctate_f1(counts), 4),
        "strict_ccc_log1p": round(log_concordance(counts), 4),
        "strict_hits": len(verdict.pairs),
        "strict_misses": len(verdict.known) - len(verdict.pairs),
        "strict_false_hits": len(verdict.own) - len(verdict.pairs),
        "strict_radius_um": round(verdict.radius, 4),
    }


def _published_item(key: tuple[str, str], nuclei: Nuclei) -> dict[str, Scalar]:
    return {"item": f"{key[0]}/{nuclei.name}", "status": "scored", "nuclei_true": len(nuclei)}


def _total(counts: Values) -> float:
    with np.errstate(over="ignore"):
        return float(np.nansum(np.maximum(counts, 0)))


def _stranger(counts: Values, like: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Return one row for all nuclei of images that are none of the reference's."""
    return dict.fromkeys(like) | {
        "item": ELSEWHERE,
        "status": "not in the reference",
        "nuclei_true": 0,
        "nuclei": len(counts),
        "puncta": _total(counts),
        "strict_false_hits": len(counts),
    }


def _objects(verdicts: Sequence[Verdict], most: int) -> list[dict[str, Scalar]]:
    """Return one row a nucleus: the reference's place, for a false hit the predicted one."""
    rows: list[dict[str, Scalar]] = []
    for v in verdicts:
        if len(rows) >= most:
            break
        missed = np.setdiff1d(np.arange(len(v.known)), v.pairs.reference)
        false = np.setdiff1d(np.arange(len(v.own)), v.pairs.predicted)
        item = f"{v.key[0]}/{v.name}"
        hits = zip(
            v.known.place[v.pairs.reference].tolist(),
            v.known.count[v.pairs.reference].tolist(),
            v.own.count[v.pairs.predicted].tolist(),
            v.pairs.distance.tolist(),
            strict=True,
        )
        rows += [_object(item, "hit", *hit) for hit in hits]
        for place, count in _nuclei(v.known, missed):
            rows.append(_object(item, "miss", place, count, None, None))
        for place, count in _nuclei(v.own, false[: max(most - len(rows), 0)]):
            rows.append(_object(item, "false hit", place, None, count, None))
    return rows[:most]


def _nuclei(nuclei: Nuclei, rows: NDArray[np.int64]) -> zip[tuple[list[float], float]]:
    return zip(nuclei.place[rows].tolist(), nuclei.count[rows].tolist(), strict=True)


def _object(
    item: str,
    kind: str,
    place: Sequence[float],
    true: float | None,
    own: float | None,
    distance: float | None,
) -> dict[str, Scalar]:
    z, y, x = place
    return {
        "item": item,
        "kind": kind,
        "z_um": z,
        "y_um": y,
        "x_um": x,
        "puncta_true": true,
        "puncta": own,
        "distance_um": distance,
    }
