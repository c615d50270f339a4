"""Telemetry and audit of the running sample, taken once, when it is graded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspect_ai.log import transcript

from evals.edition import capsule_for
from evals.telemetry.audit import audit
from evals.telemetry.calls import calls_of
from evals.telemetry.files import list_output
from evals.telemetry.growth import OutputGrowth
from evals.telemetry.measure import measure
from evals.telemetry.source_terms import rule_for
from evals.telemetry.work import Work

if TYPE_CHECKING:
    from inspect_ai.solver import TaskState

    from evals.scoring.record import Graded
    from evals.workspace.place import Workspace


async def observe(record: Graded, state: TaskState, workspace: Workspace) -> None:
    """Put telemetry and audit of a settled sample into its record, if they are not there.

    Args:
        record: The record of the sample's verdict, which keeps them.
        state: The sample.
        workspace: Its workspace, settled.
    """
    if record.telemetry is not None:
        return
    listed = await list_output(workspace)
    work = Work(list(transcript().events))
    calls = calls_of(work)
    looks = state.store_as(OutputGrowth).looks
    own_rule = rule_for(capsule_for(state.metadata["data_hash"]).spec)
    hosted = state.metadata.get("isolated") is False
    tried = audit(work, calls, own_rule, local=workspace.kind == "local", hosted=hosted)
    record.audit = tried.model_dump(mode="json")
    record.telemetry = measure(work, calls, listed, looks).model_dump(mode="json")
