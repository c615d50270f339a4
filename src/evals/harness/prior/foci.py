"""Foci: RAD18 comes early in S phase, and earlier without 53BP1.

Shares of S phase lie between 0 and 1 with a tail to the right, as a beta distribution has it; the
study reports some 56 events in each condition.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from evals.harness.prior.inputs import names

if TYPE_CHECKING:
    from pathlib import Path

    from scorers.contract import Job

_EXPECTED = {r"si.?control": (2.0, 6.0), r"si.?53bp1": (1.5, 9.0)}
_EVENTS = 56


def write(job: Job, out: Path) -> bool:
    """Write even quantiles of a distribution for each condition that the input names."""
    from scipy import stats

    told = "\n".join(names(job))
    lines = ["condition,start_normalized"]
    for pattern, shape in _EXPECTED.items():
        name = re.search(pattern, told, re.IGNORECASE)
        if name is not None:
            shares = (np.arange(_EVENTS) + 0.5) / _EVENTS
            values = stats.beta.ppf(shares, *shape).tolist()
            lines += [f"{name[0]},{value!r}" for value in values]
    if len(lines) == 1:
        return False
    (out / "coloc_results.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    return True
