"""The published numbers of a puncta grade, from its matched nuclei and its conditions' means."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.files.nuclei import COUNT, INTENSITY, VOLUME
from scorers.metrics.correlation import pearson
from scorers.metrics.interval import bootstrap_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scorers.graders.puncta import Tally

    Means = tuple[dict[str, float], dict[str, float]]

_RANKING = ("wt", "3dbdmut", "c129a_h144a")
_POLICY = "zero_score"
_LEAST_PAIRS = 2
# Of what else a submission names, so that no table can swell the report.
_SHOWN, _LONGEST = 100, 200


def summary(
    tallies: Mapping[str, Tally], means: Mapping[str, Means], deliverable: str
) -> dict[str, Any]:
    """Return the published metrics.

    Parameters
    ----------
    tallies
        By condition.
    means
        By column: those of the reference and of the submission, by condition.
    deliverable
        Path of the submitted table.
    """
    known, own = means[COUNT]
    common = sorted(known.keys() & own.keys())
    extra = sorted(name for name in own.keys() - known.keys() if len(name) <= _LONGEST)[:_SHOWN]
    relative, per_nucleus, scores, missing = _conditions(tallies, known)
    scores += [0.0] * missing
    low, high = bootstrap_interval(scores)
    mae = {condition: abs(own[condition] - known[condition]) for condition in common}
    mape = [mae[condition] / abs(known[condition]) for condition in common if known[condition]]
    told: dict[str, Any] = {
        "result_score": round(float(np.mean(scores)), 4) if scores else 0.0,
        "result_score_ci_low": round(low, 4),
        "result_score_ci_high": round(high, 4),
        "result_score_n_scored": len(scores) - missing,
        "result_score_n_missing": missing,
        "missing_policy": _POLICY,
        "per_nucleus_mape": _mean(relative),
        "per_condition_nucleus_mae": {c: round(value, 4) for c, value in per_nucleus.items()},
        "mape": _mean(mape),
        "per_condition_mae": {c: round(value, 4) for c, value in mae.items()},
        "mean_condition_mae": _mean(mae.values()),
        "pearson_n_puncta": _across(means[COUNT]),
        "pearson_gfp_mean_intensity": _across(means[INTENSITY]),
        "pearson_total_puncta_volume": _across(means[VOLUME]),
        "per_nucleus_puncta_agreement": _agreement(tallies),
        "condition_rank_correct": _ranked(own),
        "common_conditions": common,
        "missing_pred_conditions": sorted(known.keys() - own.keys()),
        "extra_pred_conditions": extra,
        "pred_condition_means": {c: v for c, v in own.items() if c in known or c in extra},
        "gt_condition_means": known,
    }
    return told | {"evidence_for_vlm": _digest(told, deliverable)}


def _conditions(
    tallies: Mapping[str, Tally], known: Mapping[str, float]
) -> tuple[list[float], dict[str, float], list[float], int]:
    """Return relative errors, mean errors and scores, and how many conditions have no nucleus."""
    relative: list[float] = []
    per_nucleus: dict[str, float] = {}
    scores: list[float] = []
    missing = 0
    for condition, mean in known.items():
        tally = tallies.get(condition)
        if not mean:
            continue
        if tally is None or not tally.reference:
            missing += 1
            continue
        error = tally.error / tally.reference
        part = error / abs(mean)
        per_nucleus[condition] = error
        relative.append(part)
        scores.append(min(max(1 - part, 0.0), 1.0) if math.isfinite(part) else 0.0)
    return relative, per_nucleus, scores, missing


def _agreement(tallies: Mapping[str, Tally]) -> dict[str, Any] | None:
    every = [tally for _, tally in sorted(tallies.items())]
    predicted, reference = (
        np.concatenate([np.zeros(0), *(pair[side] for tally in every for pair in tally.matched)])
        for side in (0, 1)
    )
    if len(predicted) < _LEAST_PAIRS:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        rmse = float(np.sqrt(((predicted - reference) ** 2).mean()))
    return {
        "per_nucleus_n_matched": len(predicted),
        "per_nucleus_n_gt_unmatched": sum(tally.unmatched_reference for tally in every),
        "per_nucleus_n_pred_unmatched": sum(tally.unmatched_predicted for tally in every),
        "per_nucleus_pearson_n_puncta": _correlation(predicted, reference),
        "per_nucleus_rmse_n_puncta": round(rmse, 4),
    }


def _across(means: Means) -> float | None:
    known, own = means
    common = sorted(known.keys() & own.keys())
    return _correlation([own[c] for c in common], [known[c] for c in common])


def _correlation(x: Any, y: Any) -> float | None:
    one, other = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        return None
    value = pearson(one, other)
    return None if value is None else round(value, 4)


def _ranked(own: Mapping[str, float]) -> float | None:
    if any(condition not in own for condition in _RANKING):
        return None
    wild, mutant, double = (own[condition] for condition in _RANKING)
    return float(wild > mutant >= double)


def _mean(values: Iterable[float]) -> float | None:
    known = list(values)
    with np.errstate(over="ignore", invalid="ignore"):
        return round(float(np.mean(known)), 4) if known else None


def _digest(told: Mapping[str, Any], deliverable: str) -> dict[str, Any]:
    """Return what the published evaluator tells its judge beside the pictures."""
    same = (
        "result_score",
        "per_nucleus_mape",
        "per_condition_nucleus_mae",
        "pearson_n_puncta",
        "missing_pred_conditions",
        "extra_pred_conditions",
        "missing_policy",
    )
    return {
        "deliverable_path": deliverable,
        **{name: told[name] for name in same},
        "condition_mean_mape": told["mape"],
        "condition_rank_correct (1 if WT>3DBDmut>=C129A/H144A else 0)": told[
            "condition_rank_correct"
        ],
        "n_scored_conditions": told["result_score_n_scored"],
        "n_missing_conditions": told["result_score_n_missing"],
        "pred_condition_means": {c: round(v, 3) for c, v in told["pred_condition_means"].items()},
        "gt_condition_means": {c: round(v, 3) for c, v in told["gt_condition_means"].items()},
    }
