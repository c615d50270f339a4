"""The strict value of wound healing: speeds and velocities in µm/h against the true ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from scorers.graders.wound_files import KYMOGRAPH, ROI, X, Y
from scorers.graders.wound_pictures import Shown, pictures
from scorers.metrics.kymograph import whole_concordance
from scorers.metrics.velocity import endpoint_errors, endpoint_score

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from scorers.contract import Job, Result, Scalar
    from scorers.graders.wound_files import Field, Known

    Velocities = tuple[Field, Field]


@dataclass
class Verdict:
    """One experiment judged strictly.

    Attributes
    ----------
    kymograph, velocity
        Scores in [0, 1]; no velocity where the capsule has none to compare with.
    concordance
        Lin's, in [-1, 1]; None if the submission has no kymograph of the right shape.
    error, speed
        Mean endpoint error and mean true speed in µm/h, as far as they are known.
    """

    kymograph: float
    velocity: float | None
    concordance: float | None
    error: float | None
    speed: float | None

    @property
    def score(self) -> float:
        """Mean of both halves."""
        return self.kymograph if self.velocity is None else (self.kymograph + self.velocity) / 2


@dataclass
class Judge:
    """Judges experiments one after the other and sums up.

    `strict_score`, in [0, 1], is the mean over experiments of two halves. One is Lin's concordance
    of the kymograph (at least 0): unlike Pearson's r it sees a wrong unit. The other is 1 less the
    endpoint error of the first velocity field over the mean true speed (at least 0), on cells: it
    sees direction and scale pixel by pixel. A file that is missing or of another shape earns 0 for
    its half; a kymograph may have more times than the truth, whose first ones are compared. Missing
    values count as wrong as possible (see `whole_concordance`, `endpoint_errors`).

    The truth are the true velocities of simulated cells where the capsule has them (files
    `*_truth_*`), else the output of the reference pipeline. Where both exist, agreement with the
    pipeline is told beside it.
    """

    job: Job
    known: Known
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    secondary: dict[str, Verdict] = field(default_factory=dict)
    rows: list[dict[str, Scalar]] = field(default_factory=list)
    _cells: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = field(default_factory=list)
    _worst: Shown | None = None

    def add(self, key: str, fields: Mapping[str, Field | None]) -> None:
        """Judge one experiment's submitted fields."""
        kymograph, velocities = self.known.truth(key, self.job)
        cells = self.known.read(ROI, key, self.job)
        own = _fitting(fields[KYMOGRAPH], kymograph)
        verdict = _verdict(own, kymograph, _pair(fields), velocities, cells)
        self.verdicts[key] = verdict
        if self.known.has_truth:
            reference = self.known.reference(key, self.job)
            field_x, field_y = (self.known.read(suffix, key, self.job) for suffix in (X, Y))
            pipeline = None if field_x is None or field_y is None else (field_x, field_y)
            fit = _fitting(fields[KYMOGRAPH], reference)
            self.secondary[key] = _verdict(fit, reference, _pair(fields), pipeline, cells)
        filled = np.full(kymograph.shape, np.nan) if own is None else own
        self._cells.append((filled, kymograph))
        room = self.job.limits.objects - len(self.rows)
        self.rows += _bands(key, filled, kymograph)[: max(room, 0)]
        if self._worst is None or verdict.score < self._worst.score:
            self._worst = Shown(
                key, verdict.score, own, kymograph, _pair(fields), velocities, cells
            )

    def conclude(self, result: Result) -> None:
        """Add the strict value, its metrics, rows and pictures to a result."""
        verdicts = list(self.verdicts.values())
        result.strict = round(float(np.mean([v.score for v in verdicts])), 6)
        halves = [v.velocity for v in verdicts if v.velocity is not None]
        errors = [v.error for v in verdicts if v.error is not None]
        result.strict_metrics = {
            "strict_score": result.strict,
            "strict_n": len(verdicts),
            "strict_kymograph": _mean([v.kymograph for v in verdicts]),
            "strict_kymograph_n": len(verdicts),
            "strict_kymograph_ccc_pooled": self._pooled(),
            "strict_velocity": _mean(halves),
            "strict_velocity_n": len(halves),
            "strict_endpoint_error_um_h": _mean(errors),
            "strict_endpoint_error_n": len(errors),
            "strict_truth": "true velocities" if self.known.has_truth else "reference pipeline",
        }
        if self.secondary:
            others = list(self.secondary.values())
            velocity = [v.velocity for v in others if v.velocity is not None]
            result.strict_metrics |= {
                "strict_reference_kymograph": _mean([v.kymograph for v in others]),
                "strict_reference_kymograph_n": len(others),
                "strict_reference_velocity": _mean(velocity),
                "strict_reference_velocity_n": len(velocity),
            }
        for item in result.items:
            item |= _item(self.verdicts[str(item["item"])])
        result.objects = self.rows
        if self._worst is not None and self.job.draws:
            result.pictures = pictures(self._worst, self.job.limits)

    def _pooled(self) -> float | None:
        own, known = (
            np.concatenate([pair[side].ravel() for pair in self._cells]) for side in (0, 1)
        )
        value = whole_concordance(own, known)
        return None if value is None else round(value, 6)


def _fitting(own: Field | None, known: Field) -> Field | None:
    """Return a kymograph cropped to the true one's times, None if it lacks bands or times."""
    if own is None or own.shape[0] != known.shape[0] or own.shape[1] < known.shape[1]:
        return None
    return own[:, : known.shape[1]]


def _pair(fields: Mapping[str, Field | None]) -> Velocities | None:
    x, y = fields[X], fields[Y]
    return None if x is None or y is None else (x, y)


def _verdict(
    kymograph: Field | None,
    true_kymograph: Field,
    own: Velocities | None,
    true: Velocities | None,
    cells: Field | None,
) -> Verdict:
    ccc = None if kymograph is None else whole_concordance(kymograph, true_kymograph)
    verdict = Verdict(max(0.0, ccc or 0.0), None, ccc, None, None)
    if true is None:
        return verdict
    shape = true[0].shape
    verdict.velocity = 0.0
    if own is None or any(part.shape != shape for part in (*own, *true)):
        return verdict
    inside = cells > 0 if cells is not None and cells.shape == shape else None
    error, speed = endpoint_errors(own, true, inside)
    if len(error):
        with np.errstate(over="ignore"):
            verdict.error, verdict.speed = float(error.mean()), float(speed.mean())
        verdict.velocity = endpoint_score(verdict.error, verdict.speed)
    return verdict


def _item(verdict: Verdict) -> dict[str, Scalar]:
    values = {
        "strict": verdict.score,
        "strict_ccc": verdict.concordance,
        "strict_velocity": verdict.velocity,
        "strict_endpoint_error_um_h": verdict.error,
        "true_speed_um_h": verdict.speed,
    }
    return {name: None if value is None else round(value, 4) for name, value in values.items()}


def _bands(key: str, own: Field, known: Field) -> list[dict[str, Scalar]]:
    """Return one row a band of distance: speeds and their error in µm/h, over all times."""
    both = np.isfinite(own) & np.isfinite(known)
    count = both.sum(axis=1)
    some = np.maximum(count, 1)
    with np.errstate(over="ignore", invalid="ignore"):
        off = np.where(both, own - known, 0)
        rows = np.stack(
            [
                np.where(both, known, 0).sum(axis=1) / some,
                np.where(both, own, 0).sum(axis=1) / some,
                off.sum(axis=1) / some,
                np.sqrt((off**2).sum(axis=1) / some),
            ]
        )
    names = ("true_speed_um_h", "speed_um_h", "bias_um_h", "rmse_um_h")
    return [
        {
            "item": key,
            "kind": "band",
            "band": band,
            "times": n,
            "times_missing": int(known.shape[1]) - n,
            **{name: value if n else None for name, value in zip(names, values, strict=True)},
        }
        for band, (n, values) in enumerate(
            zip(count.tolist(), np.round(rows.T, 4).tolist(), strict=True)
        )
    ]


def _mean(values: list[float]) -> float | None:
    return round(float(np.mean(values)), 6) if values else None
