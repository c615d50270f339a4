"""Instance segmentation: whole arrays as int64, a dense matrix of IoU, an optimal assignment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tifffile
from scipy.ndimage import distance_transform_edt
from scipy.optimize import linear_sum_assignment

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

METRICS = ("dice", "iou", "ap_at_0.5", "ap_at_0.75", "pq")


def score_compartments(evaluation: Path, submission: Path) -> dict[str, float]:
    """Score nuclei and cytoplasm; files pair by name."""
    told: dict[str, float] = {}
    for name in ("nuclei", "cytoplasm"):
        folder = f"{name}_masks"
        values = _over_files(evaluation / folder, submission / folder, flat=True)
        told |= {f"compartments.{name}.{key}": value for key, value in values.items()}
    dice = [told[f"compartments.{name}.dice"] for name in ("nuclei", "cytoplasm")]
    return {"result_score": round(float(np.mean(dice)), 4)} | told


def score_volumes(evaluation: Path, submission: Path) -> dict[str, float]:
    """Score label volumes; files pair by name."""
    told = _over_files(evaluation, submission, flat=False)
    return {"result_score": told["dice"]} | told


def _over_files(evaluation: Path, submission: Path, *, flat: bool) -> dict[str, float]:
    rows = []
    for path in sorted(evaluation.glob("*.tif")):
        reference = tifffile.imread(path)
        prediction = tifffile.imread(submission / path.name)
        rows.append(score_pair(prediction, reference, flat=flat))
    return {key: round(float(np.mean([row[key] for row in rows])), 4) for key in rows[0]}


def score_pair(
    prediction: NDArray[Any], reference: NDArray[Any], *, flat: bool
) -> dict[str, float]:
    """Score two label images of equal shape."""
    there, real = prediction > 0, reference > 0
    both, either = (there & real).sum(), (there | real).sum()
    total = there.sum() + real.sum()
    values = [2 * both / total if total else 0.0, both / either if either else 0.0]
    prediction, reference = prediction.astype(np.int64), reference.astype(np.int64)
    iou = iou_matrix(prediction, reference, labels_of(prediction), labels_of(reference))
    hits = matched(iou, 0.5)
    values += [_precision(hits, iou), _precision(matched(iou, 0.75), iou), _panoptic(hits, iou)]
    told = dict(zip(METRICS, map(float, values), strict=True))
    return told | {"boundary_f1": boundary_f1(prediction, reference)} if flat else told


def labels_of(image: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the labels of an image in ascending order."""
    labels = np.unique(image)
    return labels[labels != 0]


def iou_matrix(
    prediction: NDArray[np.int64],
    reference: NDArray[np.int64],
    ids: NDArray[np.int64],
    other_ids: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the IoU of all pairs of objects."""
    if not len(ids) or not len(other_ids):
        return np.zeros((len(ids), len(other_ids)))
    areas = np.bincount(prediction.ravel())[ids]
    other_areas = np.bincount(reference.ravel())[other_ids]
    row, column = np.zeros(ids[-1] + 1, np.int64), np.zeros(other_ids[-1] + 1, np.int64)
    row[ids], column[other_ids] = np.arange(len(ids)), np.arange(len(other_ids))
    both = (prediction > 0) & (reference > 0)
    pair = row[prediction[both]] * len(other_ids) + column[reference[both]]
    shared = np.bincount(pair, minlength=len(ids) * len(other_ids))
    shared = shared.reshape(len(ids), len(other_ids))
    matrix: NDArray[np.float64] = shared / (areas[:, None] + other_areas - shared)
    return matrix


def matched(iou: NDArray[np.float64], threshold: float) -> NDArray[np.float64]:
    """Return the IoU of the pairs of the optimal assignment that reach a threshold."""
    if not iou.size:
        return np.zeros(0)
    row, column = linear_sum_assignment(np.where(iou >= threshold, -iou, 0.0))
    found: NDArray[np.float64] = iou[row, column]
    return found[found >= threshold]


def boundary_f1(prediction: NDArray[Any], reference: NDArray[Any], reach: float = 2.0) -> float:
    """Return the boundary F1 by distance transforms."""
    edge, real = _boundary(prediction), _boundary(reference)
    if not edge.any() or not real.any():
        return float(edge.any() == real.any())
    precision = (distance_transform_edt(~real)[edge] <= reach).mean()
    recall = (distance_transform_edt(~edge)[real] <= reach).mean()
    total = precision + recall
    return float(2 * precision * recall / total) if total else 0.0


def _boundary(labels: NDArray[Any]) -> NDArray[np.bool_]:
    edge = np.zeros(labels.shape, bool)
    down, across = labels[1:] != labels[:-1], labels[:, 1:] != labels[:, :-1]
    edge[1:] |= down
    edge[:-1] |= down
    edge[:, 1:] |= across
    edge[:, :-1] |= across
    return edge


def _precision(hits: NDArray[np.float64], iou: NDArray[np.float64]) -> float:
    total = sum(iou.shape) - len(hits)
    return len(hits) / total if total else 1.0


def _panoptic(hits: NDArray[np.float64], iou: NDArray[np.float64]) -> float:
    return float(hits.sum()) / (sum(iou.shape) / 2) if len(hits) else 0.0
