"""What one sample may use at most: each limit ends it, and what is there by then is graded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from evals import options
from evals.scoring.run_grader import GRADER_TIMEOUT

DEFAULT_TIME_LIMIT_S = 3600
_LEAST_OUTPUT = 10**6  # bytes; a folder takes some by itself


class InspectLimits(TypedDict):
    """The limits that Inspect keeps, by the names of a task's arguments."""

    time_limit: int | None
    token_limit: int | None
    cost_limit: float | None
    message_limit: int | None


@dataclass(frozen=True)
class Limits:
    """Limits of a sample: those of Inspect, and the bytes of output, which our watchdog keeps."""

    inspect: InspectLimits
    output_bytes: int


def checked_limits(
    time_limit: int | None,
    token_limit: int | None,
    cost_limit: float | None,
    message_limit: int | None,
    output_limit: int | str,
) -> Limits:
    """Return the limits, each checked; None is no limit.

    Raises:
        OptionInvalidError: One is not what it should be.
    """
    if time_limit is not None:
        # Inspect gives scorers half of a sample's time limit.
        options.whole_number("time_limit", time_limit, least=2 * GRADER_TIMEOUT)
    if token_limit is not None:
        options.whole_number("token_limit", token_limit, least=1)
    if message_limit is not None:
        options.whole_number("message_limit", message_limit, least=1)
    cost = None if cost_limit is None else options.positive("cost_limit", cost_limit)
    return Limits(
        InspectLimits(
            time_limit=time_limit,
            token_limit=token_limit,
            cost_limit=cost,
            message_limit=message_limit,
        ),
        options.size("output_limit", output_limit, least=_LEAST_OUTPUT),
    )
