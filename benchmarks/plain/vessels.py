"""Masks of vessels: whole arrays, and scikit-image's skeleton of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tifffile
from skimage.morphology import skeletonize

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


def score(evaluation: Path, submission: Path) -> dict[str, float]:
    """Score all volumes; `Binary_<id>.tif` belongs to `<id>_mask.tif`."""
    rows = []
    for path in sorted(evaluation.glob("Binary_*.tif")):
        name = path.stem.removeprefix("Binary_")
        rows.append(
            score_pair(
                tifffile.imread(submission / f"{name}_mask.tif") > 0, tifffile.imread(path) > 0
            )
        )
    means = {f"mean_{key}": float(np.mean([row[key] for row in rows])) for key in rows[0]}
    return {"result_score": round(means["mean_dice"], 4)} | means


def score_pair(prediction: NDArray[np.bool_], reference: NDArray[np.bool_]) -> dict[str, float]:
    """Score two masks of equal shape, neither of them empty."""
    one, other = int(prediction.sum()), int(reference.sum())
    both = int((prediction & reference).sum())
    precise = _share(skeletonize(prediction), reference)  # type: ignore[no-untyped-call]  # no types
    sensitive = _share(skeletonize(reference), prediction)  # type: ignore[no-untyped-call]  # no types
    return {
        "dice": 2 * both / (one + other),
        "iou": both / (one + other - both),
        "precision": both / one,
        "recall": both / other,
        "volumetric_similarity": 1 - abs(one - other) / (one + other),
        "cl_dice": 2 * precise * sensitive / (precise + sensitive),
        "t_prec": precise,
        "t_sens": sensitive,
    }


def _share(line: NDArray[Any], mask: NDArray[np.bool_]) -> float:
    return float((line & mask).sum() / line.sum())
