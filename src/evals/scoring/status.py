"""How a run ended, in the words that results are counted by."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from inspect_ai.event import ErrorEvent, ModelEvent, SampleLimitEvent
from inspect_ai.log import transcript

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from inspect_ai.event import Event
    from inspect_ai.model import ModelOutput

    from evals.scoring.record import Status
    from evals.workspace.place import Workspace

_TIME = ("time", "working")
# How providers word an error by which they refuse, where Inspect does not make it an answer.
_REFUSAL = re.compile(
    r"content.?(filter|policy|management)|safety.(system|filter|polic)|usage.polic|responsible.?ai",
    re.IGNORECASE,
)


def limit_reached(workspace: Workspace) -> tuple[str, str] | None:
    """Return the kind of limit that ended this sample's run and its words, or None."""
    if workspace.limit:
        return workspace.limit, workspace.limit_reason
    events = [event for event in transcript().events if isinstance(event, SampleLimitEvent)]
    return (events[-1].type, events[-1].message) if events else None


def run_failed() -> bool:
    """Tell whether this sample's run has ended in an error."""
    return any(isinstance(event, ErrorEvent) for event in transcript().events)


def run_cancelled() -> bool:
    """Tell whether somebody stopped this sample's run (Ctrl-C), so that nobody waits for it."""
    errors = [event for event in transcript().events if isinstance(event, ErrorEvent)]
    return any("Cancelled" in event.error.traceback for event in errors[-1:])


def has_refused(output: ModelOutput, events: Sequence[Event]) -> bool:
    """Tell whether the last that the model or its provider said was that it would not go on.

    Args:
        output: The run's own output, which a harness of its own need not set.
        events: The sample's events. Calls in a role (a judge's) are not the agent's.
    """
    calls = [event for event in events if isinstance(event, ModelEvent) and event.role is None]
    if not calls:
        return _is_refusal(output)
    last = calls[-1]
    return _is_refusal(last.output) or is_refusal(last.error or "")


def is_refusal(error: str) -> bool:
    """Tell whether the error of a call is worded as a provider's refusal."""
    return bool(_REFUSAL.search(error))


def _is_refusal(output: ModelOutput) -> bool:
    # Where no model was called there is not even an empty choice.
    return bool(output.choices) and output.stop_reason == "content_filter"


def status_of(
    grade: Mapping[str, Any],
    *,
    refused: bool,
    limit: str | None,
    crashed: bool,
    failed: bool = False,
) -> Status:
    """Return how the run ended; what stopped it counts before what it left.

    As published, a run is refused only if it left no deliverable: who delivers first is judged by
    that. A refusal counts before the limit or the error that came of it, and a program that failed
    on the way is a crash only if it left nothing, either.

    Args:
        grade: The grader's report.
        refused: The model or its provider would not go on.
        limit: Kind of limit that ended the run.
        crashed: The run ended in an error.
        failed: The program that was the agent failed.
    """
    delivered = any(((grade.get("deliverables") or {}).get("found") or {}).values())
    if refused and not delivered:
        return "refused"
    if crashed:
        return "crash"
    if limit is not None:
        return "timed_out" if limit in _TIME else "limit"
    if delivered:
        return "delivered"
    return "crash" if failed else "no_deliverable"
