"""Counting: one table of cell centres for each image.

The published score compares numbers of cells and ignores where they are. The strict value asks for
the places: F1 of an optimal one-to-one matching within a radius that depends on how crowded the
image is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from scorers.contract import Family, Result
from scorers.errors import CapsuleFault, SubmissionFault
from scorers.files.deliverables import resolve
from scorers.files.points import read_points
from scorers.files.tree import reference_tree
from scorers.graders.counting_strict import judge
from scorers.metrics.counts import count_score, typical_count
from scorers.metrics.interval import bootstrap_interval
from scorers.metrics.points import match_nearest_only

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from scorers.contract import Job, Scalar
    from scorers.files.tree import SubmittedFile

DELIVERABLE = "centroids_per_image"
_OTHER_TABLES = ("summary", "metrics", "report")
_PREFIX = re.compile(r"[A-Za-z0-9]+_")
_IMAGES = frozenset({".tif", ".tiff", ".png", ".jpg", ".jpeg", ".bmp"})
_DEFAULT_DISTANCE = 10.0


@dataclass
class Image:
    """One reference image and what was submitted for it.

    Attributes
    ----------
    stem
        Of the reference file.
    reference
        Columns x and y, shape (n, 2).
    claims
        Files that name this image, in path order. The published score takes the first.
    points
        Their content, None where a file cannot be read.
    """

    stem: str
    reference: NDArray[np.float64]
    claims: list[SubmittedFile] = field(default_factory=list)
    points: list[NDArray[np.float64] | None] = field(default_factory=list)

    @property
    def predicted(self) -> NDArray[np.float64] | None:
        """What the published score looks at, None if missing."""
        return self.points[0] if self.points else None


def grade(job: Job) -> Result:
    """Grade the tables of a submission."""
    if job.reference_dir is None:
        raise CapsuleFault("evaluation/ is missing: expected one CSV of points for each image")
    files = [
        file
        for file in resolve(job.spec, job.submission, job.limits).require(DELIVERABLE)
        if not file.name.lower().startswith(_OTHER_TABLES)
    ]
    if not files:
        return _nothing("only summary tables, no points", {})
    threshold = _threshold(job)
    images = _images(job, job.reference_dir)
    extra = _claim(files, images, job)
    if not any(image.claims for image in images):
        reason = "no file name fits an image of the reference"
        return _nothing(reason, {"pred_count": len(files), "gt_count": len(images)})
    result = _published(images, extra, threshold)
    judge(images, threshold, job, result)
    return result


def perfect(job: Job, out: Path) -> None:
    """Write the reference points of each image as its table."""
    if job.reference_dir is None:
        raise CapsuleFault("evaluation/ is missing: nothing to lay out as deliverables")
    for image in _images(job, job.reference_dir):
        _write(out / f"{image.stem}.csv", image.reference)


def blank(job: Job, out: Path) -> None:
    """Write a table without points for each input image: scores the share of empty images."""
    if job.input_dir is not None:
        files = reference_tree(job.input_dir, job.limits).files
        stems = [file.stem for file in files if file.suffix in _IMAGES]
    elif job.reference_dir is not None:
        stems = list(_reference_files(job, job.reference_dir))
    else:
        raise CapsuleFault("neither input/ nor evaluation/ exists: the images are not known")
    for stem in stems:
        _write(out / f"{stem}.csv", np.zeros((0, 2)))


FAMILY = Family("counting", grade, perfect, blank)


def _write(path: Path, points: NDArray[np.float64]) -> None:
    lines = [f"{x!r},{y!r}" for x, y in points.tolist()]
    path.write_text("\n".join(["X,Y", *lines, ""]), encoding="utf-8")


def _nothing(reason: str, counts: dict[str, Any]) -> Result:
    return Result(0.0, {"error": reason, **counts}, strict=0.0, error=reason)


def _reference_files(job: Job, folder: Path) -> dict[str, SubmittedFile]:
    files = reference_tree(folder, job.limits).files
    found = {file.stem: file for file in files if file.path.suffix == ".csv"}
    if not found:
        raise CapsuleFault("evaluation/ holds no *.csv: expected one table of points an image")
    return found


def _images(job: Job, folder: Path) -> list[Image]:
    images = []
    for stem, file in _reference_files(job, folder).items():
        try:
            points = read_points(file, job.limits.for_references())
        except SubmissionFault as fault:
            raise CapsuleFault(f"evaluation/{file.path}: {fault}") from fault
        if not np.isfinite(points).all():
            raise CapsuleFault(f"evaluation/{file.path}: expected finite coordinates")
        images.append(Image(stem, points))
    return images


def _claim(
    files: list[SubmittedFile], images: list[Image], job: Job
) -> list[tuple[SubmittedFile, int]]:
    """Give each file to the image it names; return the rest with their numbers of points."""
    by_stem = {image.stem: image for image in images}
    extra: list[tuple[SubmittedFile, int]] = []
    for file in files:
        image = _named(file.stem, by_stem)
        try:
            points = read_points(file, job.limits)
        except SubmissionFault:
            points = None
        if image is not None:
            image.claims.append(file)
            image.points.append(points)
        if image is None or len(image.claims) > 1:
            extra.append((file, 0 if points is None else len(points)))
    return extra


def _named(stem: str, images: dict[str, Image]) -> Image | None:
    shortened = _PREFIX.sub("", stem, count=1) if _PREFIX.match(stem) else stem
    for candidate in (stem, shortened):
        if candidate in images:
            return images[candidate]
    return next((image for known, image in images.items() if stem.endswith(known)), None)


def _threshold(job: Job) -> float:
    value = job.rubric.metric_config.get("distance_threshold_px", _DEFAULT_DISTANCE)
    if isinstance(value, bool) or not isinstance(value, float | int) or not value > 0:
        raise CapsuleFault(
            "evaluation_rubric.yaml: metric_config.distance_threshold_px: expected a number above "
            f"0, got {value!r}"
        )
    return float(value)


def _published(
    images: list[Image], extra: list[tuple[SubmittedFile, int]], threshold: float
) -> Result:
    typical = typical_count(len(image.reference) for image in images)
    given = sorted((i for i in images if i.predicted is not None), key=lambda i: i.claims[0].path)
    lacking = [image for image in images if image.predicted is None]
    rows: list[dict[str, Any]] = []
    items: list[dict[str, Scalar]] = []
    scores: list[float] = []
    unusable: list[str] = []
    for image in [*given, *lacking]:
        n_g, predicted = len(image.reference), image.predicted
        n_p, tp, score = 0, 0, 0.0
        status = "unreadable" if image.claims else "missing"
        if predicted is not None:
            status, n_p = "scored", len(predicted)
            score = count_score(n_p, n_g, typical)
            try:
                tp = len(match_nearest_only(image.reference, predicted, threshold))
            except ValueError:
                status = "not finite"
                unusable.append(image.claims[0].name)
        scores.append(score)
        counts = {"pred_count": n_p, "gt_count": n_g, "tp": tp, "fp": n_p - tp, "fn": n_g - tp}
        name = image.stem if predicted is None else image.claims[0].stem
        told = {"status": "missing_prediction"} if predicted is None else {}
        rows.append({"image": name, **counts, **told})
        items.append({"item": image.stem, "status": status, "score": score, **counts})
    if unusable:
        reason = f"coordinates that are not finite numbers in {', '.join(unusable)}"
        return Result(None, {"error": reason}, items=items, error=reason)
    rows += [
        {
            "image": file.stem,
            "pred_count": n_p,
            "gt_count": 0,
            "tp": 0,
            "fp": 0,
            "fn": 0,
            "status": "ignored_extra_file",
        }
        for file, n_p in extra
    ]
    metrics = _summary(rows, scores, len(given), len(extra), threshold)
    return Result(metrics["result_score"], metrics, items=items)


def _summary(
    rows: list[dict[str, Any]], scores: list[float], n_given: int, n_extra: int, threshold: float
) -> dict[str, Any]:
    """Pool what the images gave into the published metrics."""
    counted = rows[: len(scores)]
    tp, fp, fn = (sum(row[key] for row in counted) for key in ("tp", "fp", "fn"))
    precision = tp / (tp + fp) if tp + fp else 0.0
    recall = tp / (tp + fn) if tp + fn else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    error = np.array([row["pred_count"] - row["gt_count"] for row in counted], dtype=float)
    # As published, a missing image enters twice here, each time with the full error.
    relative = [
        abs(row["pred_count"] - row["gt_count"]) / row["gt_count"]
        for row in counted
        if row["gt_count"]
    ] + [1.0] * (len(scores) - n_given)
    low, high = bootstrap_interval(scores)
    return {
        "result_score": round(sum(scores) / len(scores), 4),
        "result_score_ci_low": round(low, 4),
        "result_score_ci_high": round(high, 4),
        "result_score_n_scored": n_given,
        "result_score_n_missing": len(scores) - n_given,
        "missing_policy": "zero_score",
        "count_mape": round(float(np.mean(relative)), 4) if relative else 0.0,
        "f1": round(f1, 4),
        "precision": round(precision, 4),
        "recall": round(recall, 4),
        "mae": round(float(np.abs(error).mean()), 4),
        "rmse": round(float(np.sqrt((error**2).mean())), 4),
        "tp": tp,
        "fp": fp,
        "fn": fn,
        "distance_threshold_px": threshold,
        "matched_images": n_given,
        "scored_images": len(rows),
        "missing_prediction_images": len(scores) - n_given,
        "ignored_extra_files": n_extra,
        "per_image": rows,
    }
