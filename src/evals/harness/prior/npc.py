"""Nuclear pores: the rim fills within minutes after anaphase, the core in a fast and a slow phase.

Half times as reported for pores (Otsuka 2018, 2023). Movies are taken to begin shortly before
anaphase.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evals.harness.prior.inputs import images, n_frames
from scorers.files.kinetics import METRICS, TIME
from scorers.files.workbook_writing import write_workbook

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from scorers.contract import Job

_ONSET_FRAME, _INTERVAL_MIN = 10, 0.5
_RIM_HALF_MIN = 8.0
_CORE_HALF_MIN = (5.0, 38.0)
_DAUGHTERS = (1, 2)


def write(job: Job, out: Path) -> bool:
    """Write a workbook for each movie, named as it."""
    movies = images(job)
    for movie in movies:
        frame = np.arange(n_frames(movie))
        time = (frame - _ONSET_FRAME) * _INTERVAL_MIN
        curves = _curves(np.maximum(time, 0.0))
        heading = ["time point", TIME]
        columns = [frame.astype(float), time]
        for metric, curve in curves.items():
            for daughter in _DAUGHTERS:
                heading.append(f"{METRICS[metric][0]}_{daughter}")
                columns.append(curve)
        rows = np.stack(columns, axis=1).tolist()
        write_workbook(out / f"{movie.stem}.xlsx", {movie.stem: [heading, *rows]})
    return bool(movies)


def _curves(time_min: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return what each metric does, by its name."""
    fast, slow = (_filled(time_min, half) for half in _CORE_HALF_MIN)
    growth = _filled(time_min, _CORE_HALF_MIN[1])
    volume_um3 = 200 + 600 * growth
    curves = (volume_um3, 4.84 * volume_um3 ** (2 / 3), (fast + slow) / 2)
    return dict(zip(METRICS, (*curves, _filled(time_min, _RIM_HALF_MIN)), strict=True))


def _filled(time_min: NDArray[np.float64], half_min: float) -> NDArray[np.float64]:
    filled: NDArray[np.float64] = 1 - np.exp2(-time_min / half_min)
    return filled
