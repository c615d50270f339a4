"""Count an agent's work from its events."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from inspect_ai.model import ModelUsage

from evals.scoring.verdict import printable
from evals.telemetry.record import FileWritten, Telemetry, Tokens
from evals.telemetry.tools import reads_image, runs_code
from evals.telemetry.work import Clock, covered_s, intervals
from evals.workspace.take import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspect_ai.event import ModelEvent

    from evals.telemetry.calls import Call, Calls
    from evals.telemetry.files import Listed
    from evals.telemetry.work import Work

MOST_NAMES = 30
OTHERS = "(others)"
_MOST_NAME = 80


def measure(
    work: Work, calls: Calls, listed: Listed | None, looks: Sequence[Sequence[float]]
) -> Telemetry:
    """Return the telemetry of one sample.

    Args:
        work: The agent's events.
        calls: Its tool calls.
        listed: The files that it left, or None.
        looks: The watchdog's looks at the output: seconds since 1970, bytes.
    """
    usages = [_usage(event) for event in work.generations]
    spent = sum((usage for usage in usages if usage), ModelUsage())
    commands = [] if calls.made else work.harness_commands
    programs = sum(runs_code(call.name) for call in calls.made)
    failed_commands = sum(bool(event.result) for event in commands)
    started, ended = work.started, work.ended
    clock = Clock(started) if started else None
    return Telemetry(
        started=started.isoformat(timespec="milliseconds") if started else None,
        agent_time_s=clock.after(ended) if clock and ended else None,
        model_time_s=covered_s(intervals(work.model_events)),
        model_working_s=round(sum(event.working_time or 0.0 for event in work.model_events), 3),
        tool_time_s=(
            None
            if calls.run_by_harness
            else covered_s(intervals(work.tool_events, work.sandbox_events))
        ),
        turns=len(work.generations),
        model_errors=sum(bool(event.error) for event in work.model_events),
        tool_calls=len(calls.made),
        tool_calls_by_name=_by_name(calls.made),
        repeated_calls=_repeated(calls.made),
        errors=len(calls.failures) + failed_commands,
        code_executions=programs + len(commands),
        failed_executions=sum(map(runs_code, calls.failures)) + failed_commands,
        images_viewed=max(calls.images, _opened_images(calls.made)),
        tokens=_tokens(spent),
        turns_without_usage=sum(usage is None for usage in usages),
        cost_usd=spent.total_cost,
        files_total=listed.total if listed else None,
        files_bytes=listed.bytes if listed else None,
        files=_files(listed, clock),
        output_growth=[(clock.after_epoch(when), int(size)) for when, size in looks if clock],
    )


def _usage(event: ModelEvent) -> ModelUsage | None:
    # Inspect's own cache answers for nothing.
    return ModelUsage() if event.cache == "read" else event.output.usage


def _tokens(spent: ModelUsage) -> Tokens:
    return Tokens(
        input=spent.input_tokens,
        cache_read=spent.input_tokens_cache_read or 0,
        cache_write=spent.input_tokens_cache_write or 0,
        output=spent.output_tokens,
        reasoning=spent.reasoning_tokens or 0,
        total=spent.total_tokens,
    )


def _by_name(calls: Sequence[Call]) -> dict[str, int]:
    counts = Counter(printable(call.name[:_MOST_NAME]) for call in calls)
    common = counts.most_common(MOST_NAMES)
    others = counts.total() - sum(count for _, count in common)
    return dict(sorted(common)) | ({OTHERS: others} if others else {})


def _repeated(calls: Sequence[Call]) -> int:
    distinct = {
        (call.name, json.dumps(call.arguments, sort_keys=True, default=str)) for call in calls
    }
    return len(calls) - len(distinct)


def _opened_images(calls: Sequence[Call]) -> int:
    return sum(reads_image(call.name, call.arguments) and not call.failed for call in calls)


def _files(listed: Listed | None, clock: Clock | None) -> list[FileWritten]:
    if listed is None or clock is None:
        return []
    return [
        FileWritten(path=shown(path), size_bytes=size, after_s=clock.after_epoch(when))
        for path, size, when in listed.files
    ]
