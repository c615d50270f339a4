"""The strict value of DNA-repair foci: events that are there, at the right time.

The published score compares two distributions and does not count: half of the events, evenly
taken, score 1. `strict_events` pairs submitted and reference events of a condition one to one, as
well as can be. It is (1 - W / 0.05) × count ratio, where W is the mean difference of the paired
onsets, at most 0.05 each, and the count ratio is that of pairs to the larger number of events: in
[0, 1], higher better, the mean over the reference's conditions, an omitted one counting 0. For as
many events as the reference has, all with a partner, 1 - W / 0.05 holds the Wasserstein distance.
0.05 of S phase is half an hour of ten, or three frames: any scale near the width of the
distributions (about 0.1) would give a table that says 0.5 everywhere, or swaps the conditions,
most of the marks. Replicates of a condition are put together, surplus events cost what missing
ones do, and leaving events out never helps, unless there are more than the reference has.

Beside it `strict_wasserstein_score`, (1 - Wasserstein distance) × count ratio with the distance in
shares of S phase, which is milder: it says by how much of S phase the onsets are off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorers.graders.foci_tables import Onsets, owner
from scorers.metrics.distributions import mann_whitney_p, pair_values, wasserstein
from scorers.pictures.canvas import (
    HIT,
    OVERLAY_SIDE,
    REFERENCE,
    THUMBNAIL_SIDE,
    as_picture,
)
from scorers.pictures.plots import steps, strips

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorers.contract import Job, Picture, Result, Scalar
    from scorers.metrics.distributions import Pairing

SCALE = 0.05
_NOTHING = np.zeros(0)


def judge(reference: Onsets, predicted: Onsets, job: Job, result: Result) -> None:
    """Add the strict value, its metrics, rows of events and pictures to a result."""
    pooled, unknown = pool(reference, predicted)
    pairings = {name: pair_values(pooled[name], known, SCALE) for name, known in reference.items()}
    plain = {name: _plain(pooled[name], known) for name, known in reference.items()}
    larger = {name: max(len(pooled[name]), len(known)) for name, known in reference.items()}
    everything = sum(pairings[name].score * n for name, n in larger.items())
    result.strict = round(float(np.mean([p.score for p in pairings.values()])), 6)
    result.strict_metrics = {
        "strict_events": result.strict,
        "strict_events_n": len(pairings),
        "strict_events_pooled": round(everything / sum(larger.values()), 6),
        "strict_wasserstein_score": round(float(np.mean(list(plain.values()))), 6),
        "strict_count_ratio": round(
            float(np.mean([_ratio(len(pooled[n]), len(k)) for n, k in reference.items()])), 6
        ),
        "strict_events_submitted": sum(len(values) for values in pooled.values()),
        "strict_events_true": sum(len(values) for values in reference.values()),
        "strict_unknown_conditions": unknown,
        "strict_p": _p(pooled),
        "strict_true_p": _p(reference),
    }
    rows = {str(row["item"]): row for row in result.items}
    result.items = [
        _item(rows.get(name, {"item": name, "status": "missing"}), name, pooled, pairings, plain)
        for name in reference
    ]
    result.objects = _objects(reference, pooled, pairings, job.limits.objects)
    result.pictures = _pictures(reference, pooled, job) if job.draws else []


def pool(reference: Onsets, predicted: Onsets) -> tuple[Onsets, int]:
    """Return the submitted onsets by reference condition, and how many names fit none."""
    parts: dict[str, list[NDArray[np.float64]]] = {name: [] for name in reference}
    unknown = 0
    known = list(reference)
    for name, values in predicted.items():
        condition = owner(name, known)
        if condition is None:
            unknown += 1
        else:
            parts[condition].append(values)
    return {name: np.concatenate([_NOTHING, *each]) for name, each in parts.items()}, unknown


def _ratio(one: int, other: int) -> float:
    return min(one, other) / max(one, other)


def _plain(own: NDArray[np.float64], known: NDArray[np.float64]) -> float:
    distance = wasserstein(own, known)
    return 0.0 if distance is None else max(0.0, 1 - distance) * _ratio(len(own), len(known))


def _p(onsets: Onsets) -> float | None:
    """Return the Mann-Whitney p-value of the two conditions; None if there are not two."""
    return mann_whitney_p(*onsets.values()) if len(onsets) == 2 else None


def _item(
    row: dict[str, Scalar],
    name: str,
    pooled: Onsets,
    pairings: dict[str, Pairing],
    plain: dict[str, float],
) -> dict[str, Scalar]:
    pairing = pairings[name]
    return {
        **row,
        "strict_score": round(pairing.score, 4),
        "strict_events": len(pooled[name]),
        "strict_pairs": len(pairing.distance),
        "strict_difference": (
            round(float(pairing.distance.mean()), 4) if pairing.distance.size else None
        ),
        "strict_wasserstein_score": round(plain[name], 4),
    }


def _objects(
    reference: Onsets, pooled: Onsets, pairings: dict[str, Pairing], most: int
) -> list[dict[str, Scalar]]:
    """Return one row an event: paired with a reference event, surplus, or missed."""
    rows: list[dict[str, Scalar]] = []
    for name, pairing in pairings.items():
        own, known = pooled[name], reference[name]
        surplus = np.setdiff1d(np.arange(own.size), pairing.predicted)[:most]
        missed = np.setdiff1d(np.arange(known.size), pairing.reference)
        hits = zip(own[pairing.predicted].tolist(), known[pairing.reference].tolist(), strict=True)
        rows += [_object(name, "hit", value, truth) for value, truth in hits]
        rows += [_object(name, "false hit", value, None) for value in own[surplus].tolist()]
        rows += [_object(name, "miss", None, truth) for truth in known[missed].tolist()]
    return rows[:most]


def _object(name: str, kind: str, value: float | None, truth: float | None) -> dict[str, Scalar]:
    return {
        "item": name,
        "kind": kind,
        "start_normalized": value,
        "true_start_normalized": truth,
        "error": None if value is None or truth is None else value - truth,
    }


def _pictures(reference: Onsets, pooled: Onsets, job: Job) -> list[Picture]:
    """Show the cumulative shares of onsets, and each event as a dot."""
    legend = {"submitted": HIT, "true": REFERENCE}
    groups = [
        (name, [(HIT, pooled[name]), (REFERENCE, known)]) for name, known in reference.items()
    ]
    panels = [
        (
            f"{name}: {len(pooled[name])} of {len(known)} events",
            [(REFERENCE, known), (HIT, pooled[name])],
        )
        for name, known in reference.items()
    ]
    title = "start of colocalization, share of S phase"
    share = "Cumulative share of events by the start of colocalization, in shares of S phase"
    dots = "Start of colocalization of each event in shares of S phase, bars at the medians"
    return [
        as_picture(
            "foci-thumbnail",
            share,
            steps(panels, (0.0, 1.0), THUMBNAIL_SIDE, legend),
            job.limits,
            "thumbnail",
        ),
        as_picture(
            "foci-onsets", share, steps(panels, (0.0, 1.0), OVERLAY_SIDE, legend), job.limits
        ),
        as_picture(
            "foci-events", dots, strips(groups, (0.0, 1.0), OVERLAY_SIDE, title, legend), job.limits
        ),
    ]
