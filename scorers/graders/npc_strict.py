"""The strict value of nuclear pore kinetics: the onset to the frame, the curves to scale."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from scorers.graders.npc_curves import CURVES, fitted_curves, pooled_concordance
from scorers.graders.npc_files import cell_match
from scorers.graders.npc_pictures import pictures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorers.contract import Job, Result, Scalar
    from scorers.graders.npc_curves import Curve
    from scorers.graders.npc_files import Table

CLOSE_FRAMES = 2.0
_MOST_CLAIMS = 100


@dataclass
class Verdict:
    """One cell judged strictly.

    Attributes
    ----------
    onset
        1 if exact, a third less for each frame it is off, 0 from three frames on or if missing,
        None if the reference has none.
    error
        In frames, as far as known.
    curves
        By metric, as far as the reference has it.
    """

    table: Table
    onset: float | None
    error: float | None
    curves: dict[str, Curve] = field(default_factory=dict)

    @property
    def concordance(self) -> float | None:
        """Mean over the curves."""
        return _mean([curve.concordance for curve in self.curves.values()])

    @property
    def score(self) -> float:
        """Mean of both halves, of one if the reference lacks the other."""
        halves = [half for half in (self.onset, self.concordance) if half is not None]
        return float(np.mean(halves)) if halves else 0.0


def judge(
    references: Sequence[Table], submitted: Sequence[Table], job: Job, result: Result
) -> None:
    """Add the strict value, its metrics, rows of objects and pictures to a result.

    `strict_score`, in [0, 1], is the mean of two halves over all cells of the reference. One is how
    close the anaphase onset is: within two frames it earns something, by a third less for each
    frame (so frames counted from one cost a third), and an error of twenty frames is no better than
    none at all. The other is Lin's concordance of the normalised totals in the inner core and
    in the rest, mean of both: unlike Pearson's r it sees a wrong scale or offset. Where values are
    missing, or farther from the reference's range than that range is wide, the worst plausible ones
    are put in their place, so leaving out never helps. A missing cell earns 0 for both halves.

    Only workbooks count, which is what is asked for. Unlike in the published pairing a cell's
    number must be the same, its date too where both sides say one; where several files are of a
    cell the worst counts. How times and daughters are matched: see `fitted_curves`.
    """
    books = [table for table in submitted if table.in_workbook]
    verdicts = [_worst(table, books) for table in references]
    onsets = [v.onset for v in verdicts if v.onset is not None]
    curves = [v.concordance for v in verdicts if v.concordance is not None]
    halves = [half for half in (_mean(onsets), _mean(curves)) if half is not None]
    errors = [v.error for v in verdicts if v.error is not None]
    result.strict = round(float(np.mean(halves)), 6) if halves else None
    result.strict_metrics = {
        "strict_score": result.strict,
        "strict_n": len(verdicts),
        "strict_onset": _rounded(_mean(onsets)),
        "strict_onset_n": len(onsets),
        "strict_onset_error_frames": _rounded(_mean(errors)),
        "strict_onset_error_n": len(errors),
        "strict_ccc": _rounded(_mean(curves)),
        "strict_ccc_n": len(curves),
    }
    for metric in CURVES:
        single = [v.curves[metric] for v in verdicts if metric in v.curves]
        name = f"strict_ccc_{metric.rpartition('_')[2]}"
        result.strict_metrics[name] = _rounded(_mean([curve.concordance for curve in single]))
        result.strict_metrics[f"{name}_pooled"] = _rounded(pooled_concordance(single))
        result.strict_metrics[f"{name}_n"] = len(single)
    for item, verdict in zip(result.items, verdicts, strict=True):
        item |= _row(verdict)
    rows = [row for verdict in verdicts for row in _objects(verdict)]
    result.objects = rows[: job.limits.objects]
    result.pictures = pictures(verdicts, job.limits) if job.draws else []


def _worst(table: Table, books: Sequence[Table]) -> Verdict:
    claims = [book for book in books if cell_match(table.key, book.key)]
    verdicts = [_verdict(table, book) for book in claims[:_MOST_CLAIMS]]
    return min(verdicts, key=lambda verdict: verdict.score, default=_verdict(table, None))


def _verdict(table: Table, partner: Table | None) -> Verdict:
    known = table.kinetics
    own = None if partner is None else partner.kinetics
    onset, given = known.onset, None if own is None else own.onset
    error = None if onset is None or given is None else abs(onset - given)
    close = 0.0 if error is None else max(0.0, 1.0 - error / (CLOSE_FRAMES + 1.0))
    verdict = Verdict(table, None if onset is None else close, error)
    verdict.curves = fitted_curves(known, own)
    return verdict


def _row(verdict: Verdict) -> dict[str, Scalar]:
    return {
        "strict": round(verdict.score, 4),
        "strict_onset": verdict.onset,
        **{
            f"strict_ccc_{metric.rpartition('_')[2]}": round(verdict.curves[metric].concordance, 4)
            if metric in verdict.curves
            else None
            for metric in CURVES
        },
    }


def _objects(verdict: Verdict) -> list[dict[str, Scalar]]:
    """Return one row a nucleus and metric: how far its curve is off, in the metric's unit."""
    rows: list[dict[str, Scalar]] = []
    for metric, curve in verdict.curves.items():
        there = np.isfinite(curve.known)
        given = there & np.isfinite(curve.own)
        with np.errstate(over="ignore", invalid="ignore"):
            off = np.where(given, curve.own - curve.known, 0.0)
            count = np.maximum(given.sum(axis=0), 1)
            bias, rmse = off.sum(axis=0) / count, np.sqrt((off**2).sum(axis=0) / count)
        for nucleus, n in enumerate(given.sum(axis=0).tolist()):
            rows.append(
                {
                    "item": verdict.table.source,
                    "kind": "curve",
                    "metric": metric,
                    "nucleus": nucleus + 1,
                    "times": n,
                    "times_missing": int(there[:, nucleus].sum()) - n,
                    "bias": round(float(bias[nucleus]), 6) if n else None,
                    "rmse": round(float(rmse[nucleus]), 6) if n else None,
                }
            )
    return rows


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if len(values) else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
