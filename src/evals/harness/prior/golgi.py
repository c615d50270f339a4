"""Golgi: overlap as published, about 0.12 at first and stepwise more from the second stage on."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np

from evals.harness.prior.inputs import images

if TYPE_CHECKING:
    from pathlib import Path

    from scorers.contract import Job

_EXPECTED = {"control": 0.12, "stage 1": 0.12, "stage 2": 0.24, "stage 3": 0.34}
_SD = 0.1


def write(job: Job, out: Path) -> bool:
    """Write a coefficient for each image: even quantiles of a normal distribution a condition."""
    from scipy import stats

    paths = images(job)
    rows: list[tuple[str, str, float]] = []
    for condition, mean in _EXPECTED.items():
        own = [path for path in paths if path.parent.name.lower() == condition]
        share = (np.arange(len(own)) + 0.5) / max(len(own), 1)
        values = np.clip(mean + _SD * stats.norm.ppf(share), -1, 1)
        rows += [
            (path.parent.name, path.name, value)
            for path, value in zip(own, values.tolist(), strict=True)
        ]
    if not rows:
        return False
    with (out / "colocalization_results.csv").open("w", encoding="utf-8", newline="") as opened:
        table = csv.writer(opened, lineterminator="\n")
        table.writerow(["condition", "image", "spearman"])
        table.writerows(rows)
    return True
