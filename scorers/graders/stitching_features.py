"""The cytometric half of the stitching score: reported means against the published table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.errors import CapsuleFault
from scorers.graders.keys import key_match
from scorers.graders.stitching_tables import complete
from scorers.graders.stitching_words import POPULATIONS
from scorers.metrics.correlation import spearman

if TYPE_CHECKING:
    from scorers.contract import Job
    from scorers.graders.stitching_tables import Means, Reference
    from scorers.graders.stitching_words import Key

_FEATURES = (
    {"channel": "Bodipy", "feature": "Sigma"},
    {"channel": "DAPI", "feature": "r"},
    {"channel": "CD45", "feature": "rf"},
)


def alignment(means: Means, reference: Means, job: Job) -> tuple[float, dict[str, Any]]:
    """Return the mean score over the rubric's features and populations, and each one's detail.

    A score is 1 less the relative error, at least 0; what is not reported counts as 0.
    """
    detail: dict[str, Any] = {}
    scores: list[float] = []
    for key, population in _wanted(job):
        reported = means.get(key, {}).get(population)
        known = reference.get(key, {}).get(population)
        row: dict[str, Any] = {
            "reference_mean": None if known is None else round(known.mean, 4),
            "agent_mean": None if reported is None else round(reported.mean, 4),
        }
        score = 0.0
        if known is None or known.mean == 0:
            row["reason"] = "the reference has no such mean, or it is zero"
        elif reported is None:
            row["reason"] = "not reported"
        else:
            error = abs(reported.mean - known.mean) / abs(known.mean)
            score = max(0.0, 1 - error)
            row["relative_error"] = round(error, 4)
        scores.append(score)
        detail["_".join((*key, population))] = row | {"score": round(score, 4)}
    return sum(scores) / len(scores), detail


def directions(means: Means, reference: Means) -> dict[str, Any]:
    """Return for how many features the right population is reported to have more."""
    rows: dict[str, Any] = {}
    reported = set(complete(means))
    known = complete(reference)
    for key in known:
        ref = _difference(reference, key)
        own = _difference(means, key) if key in reported else None
        correct = own is not None and np.sign(own) == np.sign(ref) != 0
        rows["_".join(key)] = {
            "ref_direction": _direction(ref),
            "agent_direction": _direction(own),
            "correct": bool(correct),
            "ref_delta": round(ref, 4),
            "agent_delta": None if own is None else round(own, 4),
        }
    n_correct = sum(row["correct"] for row in rows.values())
    names = [["/".join(key) for key in keys] for keys in (reported, known, reported & set(known))]
    return {
        "direction_agreement": round(n_correct / len(known), 4) if known else 0.0,
        "n_features_scored": len(reported & set(known)),
        "n_features_reference": len(known),
        "n_features_correct": n_correct,
        "per_feature": rows,
        "key_match": key_match(*names),
    }


def effect_size(means: Means, reference: Reference) -> dict[str, Any] | None:
    """Return how the features' effect sizes rank beside the published ones, None below three."""
    pairs = []
    for key in complete(means):
        spread = [means[key][population].sd for population in POPULATIONS]
        if key not in reference.effect or any(sd is None for sd in spread):
            continue
        pooled = math.hypot(*(sd or 0.0 for sd in spread)) / math.sqrt(2)
        if pooled > 0:
            pairs.append((abs(_difference(means, key)) / pooled, abs(reference.effect[key])))
    if len(pairs) < 3:
        return None
    own, known = np.array(pairs).T
    rank = spearman(own, known)
    return {
        "effect_size_spearman": None if rank is None else round(rank, 4),
        "n_features": len(pairs),
    }


def _wanted(job: Job) -> list[tuple[Key, str]]:
    config = job.rubric.metric_config
    features = config.get("feature_alignment_features", _FEATURES)
    populations = config.get("feature_alignment_populations", POPULATIONS)
    try:
        keys = [(str(entry["channel"]), str(entry["feature"])) for entry in features]
        wanted = [(key, str(population)) for key in keys for population in populations]
    except (TypeError, KeyError) as fault:
        raise CapsuleFault(
            "evaluation_rubric.yaml: metric_config.feature_alignment_features: expected a list of "
            f"{{channel, feature}}, got {features!r}; write one"
        ) from fault
    if not wanted:
        raise CapsuleFault(
            "evaluation_rubric.yaml: metric_config: expected at least one of "
            "feature_alignment_features and of feature_alignment_populations, got none"
        )
    return wanted


def _difference(means: Means, key: Key) -> float:
    return means[key]["MCF7"].mean - means[key]["WBC"].mean


def _direction(difference: float | None) -> str | None:
    if difference is None:
        return None
    if difference == 0:
        return "equal"
    return "MCF7>WBC" if difference > 0 else "WBC>MCF7"
