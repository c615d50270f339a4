"""What a list of molecules is worth when precision counts as well, in nanometres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.errors import CapsuleFault
from scorers.graders.counting_pictures import rest
from scorers.graders.smlm_pictures import pictures
from scorers.metrics.efficiency import best_efficiency, efficiency, jaccard, root_mean_square
from scorers.metrics.frames import match_optimally_by_frame
from scorers.metrics.points import f1_score

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.contract import Job, Result, Scalar
    from scorers.files.localisations import Localisations
    from scorers.metrics.points import Pairs

# Neither the released task nor its source says how large a pixel is.
ASSUMED_NM = 100.0


@dataclass(frozen=True)
class Verdict:
    """Both lists, matched optimally in each frame.

    Attributes
    ----------
    radius
        In pixels.
    pixel_nm
        Size of a pixel.
    pairs
        Indices into both lists; distances in pixels.
    """

    reference: Localisations
    predicted: Localisations
    radius: float
    pixel_nm: float
    pairs: Pairs

    @property
    def misses(self) -> NDArray[np.int64]:
        """Reference molecules without a partner."""
        return rest(len(self.reference), self.pairs.reference)

    @property
    def false_hits(self) -> NDArray[np.int64]:
        """Submitted molecules without a partner."""
        return rest(len(self.predicted), self.pairs.predicted)

    @property
    def jaccard(self) -> float:
        """Of the molecules of all frames, in [0, 1]."""
        return jaccard(len(self.pairs), len(self.misses), len(self.false_hits))

    @property
    def distance_nm(self) -> NDArray[np.float64]:
        """Of each hit."""
        return self.pairs.distance * self.pixel_nm

    @property
    def rmse_nm(self) -> float:
        """Root mean square distance of the hits, 0 without any."""
        return root_mean_square(self.distance_nm)

    @property
    def offset_nm(self) -> NDArray[np.float64]:
        """From each found molecule to where it was submitted, columns x and y."""
        there = self.predicted.place[self.pairs.predicted]
        return (there - self.reference.place[self.pairs.reference]) * self.pixel_nm


def judge(
    reference: Localisations, predicted: Localisations, radius: float, job: Job, result: Result
) -> None:
    """Add the strict value, its metrics, rows of molecules and pictures to a result.

    The headline `strict_efficiency`, in [0, 1], is the efficiency of Sage et al. (2019),
    1 - sqrt((1 - J)² + (RMSE / 100 nm)²), from the Jaccard index J and the root mean square
    distance of the hits: the published score hardly sees precision, this one is down to .29 when
    everything is half a pixel off in x and y (at 100 nm a pixel). Molecules are matched frame by
    frame, as many as possible within `radius` pixels. So that hiding one's worst hits gains
    nothing, a hit may count as a miss where that is better (`best_efficiency`); the formula as
    it stands is `strict_efficiency_sage`. Nothing found where nothing is scores 1.

    A pixel is as large as `metric_config.pixel_size_nm` in the rubric says, else
    `input.pixel_size_um` in the specification, else taken to be 100 nm.
    """
    pairs = match_optimally_by_frame(reference, predicted, radius)
    verdict = Verdict(reference, predicted, radius, pixel_size(job) or ASSUMED_NM, pairs)
    result.strict_metrics = _metrics(verdict, assumed=pixel_size(job) is None)
    value = result.strict_metrics["strict_efficiency"]
    assert isinstance(value, float)
    result.strict = value
    result.items = [_item(verdict, result)]
    result.objects = _objects(verdict, job.limits.objects)
    result.pictures = pictures(verdict, job) if job.draws else []


def pixel_size(job: Job) -> float | None:
    """Return the size of a pixel in nm as the capsule says it, or None."""
    for where, given, scale in (
        (
            "evaluation_rubric.yaml: metric_config.pixel_size_nm",
            job.rubric.metric_config.get("pixel_size_nm"),
            1.0,
        ),
        ("task_spec.yaml: input.pixel_size_um", job.spec.input.get("pixel_size_um"), 1000.0),
    ):
        if given is None:
            continue
        value: Any = given
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 < value < np.inf:
            raise CapsuleFault(f"{where}: expected a number above 0, got {value!r}")
        return float(value) * scale
    return None


def _metrics(verdict: Verdict, *, assumed: bool) -> dict[str, Scalar]:
    hits = len(verdict.pairs)
    n_g, n_p = len(verdict.reference), len(verdict.predicted)
    offset, index, rmse = verdict.offset_nm, verdict.jaccard, verdict.rmse_nm
    by_frame = _jaccard_by_frame(verdict)
    return {
        "strict_efficiency": round(best_efficiency(verdict.distance_nm, n_g - hits, n_p - hits), 6),
        "strict_efficiency_n": n_g,
        "strict_efficiency_sage": round(efficiency(index, rmse), 6),
        "strict_jaccard": round(index, 6),
        "strict_jaccard_frame_mean": round(float(by_frame.mean()), 6) if len(by_frame) else 1.0,
        "strict_jaccard_frame_mean_n": len(by_frame),
        "strict_f1": round(f1_score(hits, n_g, n_p), 6),
        "strict_rmse_nm": round(rmse, 4) if hits else None,
        "strict_bias_x_nm": round(float(offset[:, 0].mean()), 4) if hits else None,
        "strict_bias_y_nm": round(float(offset[:, 1].mean()), 4) if hits else None,
        "strict_rmse_n": hits,
        "strict_hits": hits,
        "strict_misses": n_g - hits,
        "strict_false_hits": n_p - hits,
        "strict_radius_nm": verdict.radius * verdict.pixel_nm,
        "strict_pixel_size_nm": verdict.pixel_nm,
        "strict_pixel_size_assumed": assumed,
    }


def _jaccard_by_frame(verdict: Verdict) -> NDArray[np.float64]:
    """Return the Jaccard index of each frame with a molecule on either side."""
    n_g = len(verdict.reference)
    both = np.concatenate([verdict.reference.frame, verdict.predicted.frame])
    frames, place = np.unique(both, return_inverse=True)
    count = np.bincount(place, minlength=len(frames))
    hits = np.bincount(place[:n_g][verdict.pairs.reference], minlength=len(frames))
    share: NDArray[np.float64] = hits / (count - hits)
    return share


def _item(verdict: Verdict, result: Result) -> dict[str, Scalar]:
    shown = ("strict_efficiency", "strict_jaccard", "strict_rmse_nm")
    hits = len(verdict.pairs)
    return {
        "item": "movie",
        "status": "scored" if result.result_score is not None else "not scored",
        "score": result.result_score,
        **{name: result.strict_metrics[name] for name in shown},
        "frames": len(np.unique(verdict.reference.frame)),
        "reference_molecules": len(verdict.reference),
        "predicted_molecules": len(verdict.predicted),
        "hits": hits,
        "misses": len(verdict.reference) - hits,
        "false_hits": len(verdict.predicted) - hits,
    }


def _objects(verdict: Verdict, most: int) -> list[dict[str, Scalar]]:
    """Return one row a molecule: the reference's place, for a false hit the submitted one."""
    reference, predicted, pairs = verdict.reference, verdict.predicted, verdict.pairs
    columns = (
        _listed(reference, pairs.reference[:most]),
        _listed(predicted, pairs.predicted[:most]),
        verdict.distance_nm[:most].tolist(),
    )
    rows = [_object("hit", *row) for row in zip(*columns, strict=True)]
    for kind, side, lone in (
        ("miss", reference, verdict.misses),
        ("false hit", predicted, verdict.false_hits),
    ):
        rows += [_object(kind, entry) for entry in _listed(side, lone[: max(most - len(rows), 0)])]
    return rows


def _listed(side: Localisations, which: NDArray[np.int64]) -> list[list[float]]:
    table = np.column_stack([side.frame[which], side.place[which], side.intensity[which]])
    rows: list[list[float]] = table.tolist()
    return rows


def _object(
    kind: str,
    place: list[float],
    match: list[float] | None = None,
    distance_nm: float | None = None,
) -> dict[str, Scalar]:
    frame, x, y, intensity = place
    return {
        "item": "movie",
        "kind": kind,
        "frame": frame,
        "x": x,
        "y": y,
        "intensity": intensity,
        "match_x": match[1] if match else None,
        "match_y": match[2] if match else None,
        "match_intensity": match[3] if match else None,
        "distance_nm": distance_nm,
    }
