"""How a run ended, in the words that results are counted by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspect_ai.event import ErrorEvent, SampleLimitEvent
from inspect_ai.log import transcript

if TYPE_CHECKING:
    from collections.abc import Mapping

    from inspect_ai.model import ModelOutput

    from evals.scoring.record import Status
    from evals.workspace.place import Workspace

_TIME = ("time", "working")


def limit_reached(workspace: Workspace) -> str | None:
    """Return the kind of limit that ended this sample's run, or None."""
    if workspace.limit:
        return workspace.limit
    events = [event for event in transcript().events if isinstance(event, SampleLimitEvent)]
    return events[-1].type if events else None


def run_failed() -> bool:
    """Tell whether this sample's run has ended in an error."""
    return any(isinstance(event, ErrorEvent) for event in transcript().events)


def run_cancelled() -> bool:
    """Tell whether somebody stopped this sample's run (Ctrl-C), so that nobody waits for it."""
    errors = [event for event in transcript().events if isinstance(event, ErrorEvent)]
    return any("Cancelled" in event.error.traceback for event in errors[-1:])


def has_refused(output: ModelOutput) -> bool:
    """Tell whether a run ended because the model or its provider would not go on."""
    # Where no model was called there is not even an empty choice.
    return bool(output.choices) and output.stop_reason == "content_filter"


def status_of(
    grade: Mapping[str, Any], *, refused: bool, limit: str | None, crashed: bool
) -> Status:
    """Return how the run ended; what stopped it counts before what it left."""
    if crashed:
        return "crash"
    if limit is not None:
        return "timed_out" if limit in _TIME else "limit"
    if any(((grade.get("deliverables") or {}).get("found") or {}).values()):
        return "delivered"
    return "refused" if refused else "no_deliverable"
