"""Whether the private part's canary turned up in what an agent said, saw or left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspect_ai.log import transcript

from evals.edition import capsule_for
from scorers.canary import canaries_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inspect_ai.solver import TaskState

TRANSCRIPT = "the transcript"
# Model events repeat the messages, state and store events what the solvers keep there.
_SCANNED = frozenset({"tool", "sandbox", "info", "input", "logger"})


def places_of_canary(state: TaskState, marked_files: list[str]) -> list[str]:
    """Return where a canary of the sample's capsule stands, empty where nowhere.

    Args:
        state: The sample, whose messages and events are searched.
        marked_files: The submitted files that the grader found it in.
    """
    canaries = canaries_of(capsule_for(state.metadata["data_hash"]).path)
    told = any(canary in text for text in _texts(state) for canary in canaries)
    return [TRANSCRIPT] * told + marked_files


def _texts(state: TaskState) -> Iterator[str]:
    for message in state.messages:
        yield message.model_dump_json()
    for event in transcript().events:
        if event.event in _SCANNED:
            yield event.model_dump_json()
