"""Single-molecule localisation: one list of molecules for a movie.

Published: 70 % Jaccard index of molecules matched frame by frame, 30 % correlation of their
intensities. Strict: the efficiency of Sage et al. (2019), from Jaccard index and precision.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.contract import Family, Result
from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.deliverables import name_for, resolve
from scorers.files.localisations import Localisations, read_localisations, write_localisations
from scorers.files.tree import reference_tree
from scorers.graders.settings import setting
from scorers.graders.smlm_strict import judge
from scorers.metrics.correlation import pearson
from scorers.metrics.efficiency import root_mean_square
from scorers.metrics.frames import match_by_frame
from scorers.metrics.points import match_nearest_only

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scorers.contract import Job
    from scorers.files.tree import SubmittedFile
    from scorers.metrics.points import Pairs

DELIVERABLE = "localization_list"
_LOCALIZATION = ("jaccard", "precision", "recall", "f1")
_COMPOSITE = "composite_score"
# What a correlation is worth, by the name of the normalisation.
_PARTS: dict[str, Callable[[float], float]] = {
    "clipped": lambda r: max(0.0, r),
    "symmetric": lambda r: (r + 1) / 2,
}


def grade(job: Job) -> Result:
    """Grade the list of a submission against the one in `evaluation/`."""
    files = _reference_files(job)
    submitted = resolve(job.spec, job.submission, job.limits).require(DELIVERABLE)[0]
    if not files:
        return Result(0.0, {"error": _NO_LIST}, fault=_NO_LIST)
    reference = _reference(files[0], job)
    predicted = read_localisations(submitted, job.limits)
    threshold = setting(job, "distance_threshold_px", 1.0)
    if np.isinf(predicted.frame).any():
        result = _unscored(f"{submitted.path} holds infinite frame numbers")
    else:
        result = _published(reference, predicted, threshold, job)
    judge(reference, predicted, threshold, job, result)
    return result


def perfect(job: Job, out: Path) -> None:
    """Write the reference as the list."""
    write_localisations(_target(job, out), _reference(_known_file(job), job))


def blank(job: Job, out: Path) -> None:
    """Write a list of no molecules."""
    nothing = np.zeros(0)
    write_localisations(_target(job, out), Localisations(nothing, np.zeros((0, 2)), nothing))


FAMILY = Family("smlm", grade, perfect, blank)

_NO_LIST = (
    "evaluation/ holds no list of molecules: expected *LocalizationList*.txt; get the task's data, "
    "or make them"
)


def _reference_files(job: Job) -> list[SubmittedFile]:
    """Return what may be the reference list, the one that counts first."""
    if job.reference_dir is None:
        raise CapsuleFault("evaluation/ is missing: expected a list of molecules (.txt)")
    files = reference_tree(job.reference_dir, job.limits).files
    texts = [file for file in files if file.path.suffix == ".txt"]
    named = [file for file in texts if "LocalizationList" in file.name]
    return named or [file for file in texts if "localization" in file.name.lower()]


def _known_file(job: Job) -> SubmittedFile:
    files = _reference_files(job)
    if not files:
        raise CapsuleFault(_NO_LIST)
    return files[0]


def _reference(file: SubmittedFile, job: Job) -> Localisations:
    try:
        found = read_localisations(file, job.limits.for_references())
    except SubmissionFault as fault:
        raise CapsuleFault(f"evaluation/{fault}") from fault
    if not (np.isfinite(found.place).all() and np.isfinite(found.frame).all()):
        raise CapsuleFault(f"evaluation/{file.path}: expected finite frames and coordinates")
    return found


def _target(job: Job, out: Path) -> Path:
    patterns = {entry.id: entry.filename_pattern for entry in job.spec.deliverables}
    if DELIVERABLE not in patterns:
        raise CapsuleFault(f"task_spec.yaml: deliverables: expected one with the id {DELIVERABLE}")
    return out / name_for(patterns[DELIVERABLE], "DNAPAINT_LocalizationList", ".txt")


def _unscored(reason: str) -> Result:
    """Return what becomes of inputs at which the published evaluator falls over."""
    return Result(None, {"error": reason}, error=reason)


def _published(
    reference: Localisations, predicted: Localisations, threshold: float, job: Job
) -> Result:
    nearest = partial(match_nearest_only, threshold=threshold)
    try:
        pairs = match_by_frame(nearest, reference, predicted)
    except ValueError:
        return _unscored("coordinates that are not finite numbers in a frame with molecules")
    located = _located(reference, predicted, pairs)
    r = _intensity_correlation(reference, predicted, pairs)
    config = _composite_settings(job)
    part = config["intensity_missing_value"]
    if r is not None:
        part = _PARTS[config["intensity_normalization"]](r)
    low, high = config["final_range"]
    metric = located[config["localization_metric"]]
    composite = config["localization_weight"] * metric + config["intensity_weight"] * part
    values = located | {_COMPOSITE: min(max(composite, low), high)}
    primary = job.rubric.metric_config.get("primary_metric")
    primary = primary if primary in values else _COMPOSITE
    score = round(values[primary], 4)
    offset = predicted.place[pairs.predicted] - reference.place[pairs.reference]
    metrics = {
        "result_score": score,
        "primary_metric": primary,
        "intensity_normalized": round(part, 4),
        **{name: round(value, 4) for name, value in values.items()},
        "rmse_x": round(root_mean_square(offset[:, 0]), 4),
        "rmse_y": round(root_mean_square(offset[:, 1]), 4),
        "mean_lateral_distance": round(float(pairs.distance.mean()), 4) if len(pairs) else 0.0,
        "intensity_pearson_r": None if r is None else round(r, 4),
        "tp": len(pairs),
        "fp": len(predicted) - len(pairs),
        "fn": len(reference) - len(pairs),
        "distance_threshold_px": threshold,
    }
    return Result(score, metrics)


def _located(reference: Localisations, predicted: Localisations, pairs: Pairs) -> dict[str, float]:
    """Return the published values of the matching; unlike the strict ones 0 where undefined."""
    hits, n_g, n_p = len(pairs), len(reference), len(predicted)
    values = (
        _share(hits, n_g + n_p - hits),
        _share(hits, n_p),
        _share(hits, n_g),
        _share(2 * hits, n_g + n_p),
    )
    return dict(zip(_LOCALIZATION, values, strict=True))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _intensity_correlation(
    reference: Localisations, predicted: Localisations, pairs: Pairs
) -> float | None:
    known, told = reference.intensity[pairs.reference], predicted.intensity[pairs.predicted]
    if not (np.isfinite(known).all() and np.isfinite(told).all()):
        return None
    return pearson(known, told)


def _composite_settings(job: Job) -> dict[str, Any]:
    """Return the rubric's `composite_score`, checked, with the published values as defaults."""
    where = f"evaluation_rubric.yaml: metric_config.{_COMPOSITE}"
    given: Any = job.rubric.metric_config.get(_COMPOSITE) or {}
    if not isinstance(given, dict):
        raise CapsuleFault(f"{where}: expected a mapping (key: value), got {given!r}")
    config = {key: given.get(key, default) for key, (default, _, _) in _SETTINGS.items()}
    for key, (_, fits, wanted) in _SETTINGS.items():
        if not fits(config[key]):
            raise CapsuleFault(f"{where}.{key}: expected {wanted}, got {config[key]!r}")
    return config


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_range(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_number, value))


_SETTINGS: dict[str, tuple[Any, Callable[[Any], bool], str]] = {
    "localization_weight": (0.7, _is_number, "a number"),
    "intensity_weight": (0.3, _is_number, "a number"),
    "localization_metric": ("jaccard", lambda v: v in _LOCALIZATION, f"one of {_LOCALIZATION}"),
    "intensity_normalization": ("clipped", lambda v: v in _PARTS, f"one of {tuple(_PARTS)}"),
    "intensity_missing_value": (0.0, _is_number, "a number"),
    "final_range": ([0.0, 1.0], _is_range, "two numbers"),
}
