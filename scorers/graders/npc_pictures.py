"""The pictures of a nuclear pore grade: true and submitted curves of the worst cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorers.pictures.canvas import FALSE_HIT, HIT, MISS, OVERLAY_SIDE, THUMBNAIL_SIDE, as_picture
from scorers.pictures.plots import Curve as Drawn
from scorers.pictures.plots import curves, figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorers.contract import Picture
    from scorers.files.limits import Limits
    from scorers.graders.npc_curves import Curve
    from scorers.graders.npc_strict import Verdict
    from scorers.pictures.canvas import Colour

    Panel = tuple[str, list[Drawn]]

_LEGEND = {"true": HIT, "submitted 1": MISS, "submitted 2": FALSE_HIT}
_MOST_CELLS = 3


def pictures(verdicts: Sequence[Verdict], limits: Limits) -> list[Picture]:
    """Show the curves of the worst cell, and those of the three worst."""
    drawn = [v for v in sorted(verdicts, key=lambda v: v.score) if v.curves][:_MOST_CELLS]
    if not drawn:
        return []
    worst = f"{drawn[0].table.source}, strict {drawn[0].score:.2f}"
    about = "normalised totals over minutes after anaphase onset"
    parts = [
        ("npc-worst", f"Worst cell, {worst}: {about}", drawn[:1], THUMBNAIL_SIDE, "thumbnail"),
        ("npc-curves", f"Cells that agree least: {about}", drawn, OVERLAY_SIDE, "overlay"),
    ]
    return [
        as_picture(
            name,
            caption,
            curves(
                [p for v in cells for p in _panels(v)], _ticks(cells), _range(cells), side, _LEGEND
            ),
            limits,
            "thumbnail" if role == "thumbnail" else "overlay",
        )
        for name, caption, cells, side, role in parts
    ]


def _panels(verdict: Verdict) -> list[Panel]:
    onset = "unknown" if verdict.onset is None else f"{verdict.onset:.2f}"
    panels: list[Panel] = []
    for metric, curve in verdict.curves.items():
        title = (
            f"{verdict.table.source}, {metric.rpartition('_')[2]}: CCC {curve.concordance:.2f}, "
            f"onset {onset}"
        )
        known = [_drawn(curve, column, HIT) for column in curve.known.T]
        own = [
            _drawn(curve, column, colour)
            for column, colour in zip(curve.own.T, (MISS, FALSE_HIT), strict=False)
        ]
        panels.append((title, known + own))
    return panels


def _drawn(curve: Curve, values: NDArray[np.float64], colour: Colour) -> Drawn:
    known = np.isfinite(curve.time) & np.isfinite(values)
    return Drawn(curve.time[known], values[known], colour)


def _ticks(verdicts: Sequence[Verdict]) -> dict[float, str]:
    """Return 0, the moment of onset, and a few times more."""
    times = np.concatenate(
        [c.time[np.isfinite(c.time)] for v in verdicts for c in v.curves.values()]
    )
    first, last = float(times.min()), float(times.max())
    step = max((last - first) / 4, 1e-6)
    between = np.arange(0, last - step / 2, step)
    places = [first, *between[between > first + step / 4].tolist(), last]
    return {place: figure(place) for place in places}


def _range(verdicts: Sequence[Verdict]) -> tuple[float, float]:
    """Return the reference's range with half of it above and below."""
    bounds = [(c.low, c.high) for v in verdicts for c in v.curves.values()]
    low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
    return low + (high - low) / 6, high - (high - low) / 6
