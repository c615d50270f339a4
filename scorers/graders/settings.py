"""Numbers of a rubric's `metric_config`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from scorers.errors import CapsuleFault

if TYPE_CHECKING:
    from scorers.contract import Job


def setting(job: Job, name: str, default: float | None = None, *, least: float = 0.0) -> float:
    """Return a number of the rubric, or the default where the rubric leaves it out.

    Raises
    ------
    CapsuleFault
        It is absent and has no default, is no finite number, or is below `least`.
    """
    value: Any = job.rubric.metric_config.get(name, default)
    fit = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not fit or value < least:
        got = "nothing" if value is None else repr(value)
        raise CapsuleFault(
            f"evaluation_rubric.yaml: metric_config.{name}: expected a number of at least "
            f"{least:g}, got {got}; write one"
        )
    return float(value)


def whole_setting(job: Job, name: str, default: int | None = None, *, least: int = 1) -> int:
    """Return a whole number of the rubric; otherwise as `setting`."""
    value = setting(job, name, default, least=least)
    if value != int(value):
        raise CapsuleFault(
            f"evaluation_rubric.yaml: metric_config.{name}: expected a whole number, got {value!r}"
        )
    return int(value)
