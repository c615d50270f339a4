"""Submitted curves of a cell beside those of the reference, time by time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from scorers.files.kinetics import CORE, RIM
from scorers.metrics.completion import concordance_at_worst
from scorers.metrics.timing import align_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorers.files.kinetics import Kinetics

    Values = NDArray[np.float64]

CURVES = (CORE, RIM)
_USUAL_STEP = 0.5
_MOST_COLUMNS = 4


@dataclass(frozen=True)
class Curve:
    """One metric of one cell, row by row of the reference.

    Attributes
    ----------
    time
        Minutes after onset, shape (rows,).
    known, own
        The reference's values and the submitted ones, shape (rows, nuclei), `nan` where missing.
    low, high
        What is beyond these counts as missing: the reference's span below and above its range.
    """

    time: Values
    known: Values
    own: Values
    low: float
    high: float

    @cached_property
    def concordance(self) -> float:
        """At worst, in [0, 1], see `concordance_at_worst`."""
        there = np.isfinite(self.known)
        ccc = concordance_at_worst(self.own[there], self.known[there], self.low, self.high)
        return ccc or 0.0

    @property
    def plausible(self) -> Values:
        """The submitted values, `nan` for those beyond the bounds."""
        inside = (self.own >= self.low) & (self.own <= self.high)
        return np.where(inside, self.own, np.nan)


def fitted_curves(known: Kinetics, own: Kinetics | None) -> dict[str, Curve]:
    """Put a cell's submitted curves beside the reference's, as far as the reference has them.

    A time goes with the reference time nearest to it, at most half a time step away. Which nucleus
    is called the first does not count, as long as it is the same one in all curves: of all orders
    of the submitted columns the one that agrees best is taken.
    """
    rows = align_rows(known.time, np.zeros(0) if own is None else own.time, _reach(known.time))
    reference = {metric: _timed(known, metric) for metric in CURVES}
    reference = {m: values for m, values in reference.items() if np.isfinite(values).any()}
    given = {m: None if own is None else own.values.get(m) for m in reference}
    columns = [
        values.shape[1] for values in (*reference.values(), *given.values()) if values is not None
    ]
    if not columns:
        return {}
    nuclei = max(values.shape[1] for values in reference.values())
    width = max(nuclei, min(max(columns), _MOST_COLUMNS))
    orders = permutations(range(width), nuclei) if width <= _MOST_COLUMNS else [range(nuclei)]
    ways = [
        {
            m: _curve(known.time, v, _matched(given[m], rows, width)[:, list(order)])
            for m, v in reference.items()
        }
        for order in orders
    ]
    return max(ways, key=lambda way: sum(curve.concordance for curve in way.values()))


def pooled_concordance(curves: Sequence[Curve]) -> float | None:
    """Return the concordance over all points of all curves, None without a curve."""
    if not curves:
        return None
    kept = [np.isfinite(curve.known) for curve in curves]
    known, own = (
        np.concatenate([part[there] for part, there in zip(parts, kept, strict=True)])
        for parts in ([c.known for c in curves], [c.plausible for c in curves])
    )
    low, high = min(c.low for c in curves), max(c.high for c in curves)
    return concordance_at_worst(own, known, low, high)


def _timed(known: Kinetics, metric: str) -> Values:
    """Return the values of a metric at known times, shape (rows, nuclei)."""
    values = known.values.get(metric, np.zeros((len(known.time), 0)))
    timed: Values = np.where(np.isfinite(known.time)[:, None], values, np.nan)
    return timed


def _matched(values: Values | None, rows: NDArray[np.int64], width: int) -> Values:
    """Return submitted values at the reference's rows, `nan` where there is none."""
    matched = np.full((len(rows), width), np.nan)
    if values is not None:
        there = rows >= 0
        matched[there, : values.shape[1]] = values[rows[there], :width]
    return matched


def _curve(time: Values, known: Values, own: Values) -> Curve:
    finite = known[np.isfinite(known)]
    low, high = float(finite.min()), float(finite.max())
    span = (high - low) or abs(high) or 1.0
    return Curve(time, known, own[:, : known.shape[1]], low - span, high + span)


def _reach(time: Values) -> float:
    """Return half of the usual time step of a reference."""
    steps = np.diff(np.unique(time[np.isfinite(time)]))
    return float(np.median(steps) if steps.size else _USUAL_STEP) / 2
