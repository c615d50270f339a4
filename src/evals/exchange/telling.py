"""The small JSON files that go with a packed submission."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from evals.exchange.reading import deliverables_of
from evals.submissions.claims import Manifest, RunMetrics, read_manifest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evals.exchange.reading import RunRead

ORACLE_NOTE = "Made from the reference: this is the ceiling, not the work of an agent."
_TOKEN_SOURCE = "inspect_model_usage"  # a name of where counts come from


@dataclass(frozen=True)
class Maker:
    """Who made a log's submissions.

    Attributes
    ----------
    prompt
        Version of the instruction.
    note
        What everybody who takes a submission must know.
    """

    agent: str
    version: str
    prompt: str
    model: str
    note: str = ""


def manifest_text(run: RunRead, maker: Maker) -> str:
    """Return a `submission.json` that holds to the published schema."""
    told = Manifest(
        schema_version="1.0",
        task_id=run.task_id,
        agent_name=maker.agent,
        agent_version=maker.version,
        run_id=run.run_id,
        prompt_version=maker.prompt,
        timestamp_utc=_utc(run.ended),
        model_name=maker.model,
        runtime_seconds=run.telemetry.agent_time_s if run.telemetry else None,
        notes=maker.note or None,
    )
    text = told.model_dump_json(indent=2, exclude_none=True)
    faults = read_manifest(text.encode())[1]
    if faults:
        raise ValueError(f"the manifest of {run.task_id} breaks its own schema: {faults}")
    return f"{text}\n"


def metrics_text(run: RunRead) -> str | None:
    """Return a `run_metrics.json`, or None where no model was seen at work."""
    seen = run.telemetry
    if seen is None or not seen.turns:
        return None
    read, written = tokens_of(run)
    told = RunMetrics(
        total_runtime_seconds=seen.agent_time_s,
        input_token_count=read,
        output_token_count=written,
        total_token_count=None if read is None or written is None else read + written,
        cached_token_count=None if read is None else seen.tokens.cache_read,
        token_source=_TOKEN_SOURCE,
        cost_usd=seen.cost_usd,
        cost_regime="list_price" if seen.cost_usd is not None else None,
        tool_call_count=seen.tool_calls,
    )
    return f"{told.model_dump_json(indent=2)}\n"


def tokens_of(run: RunRead) -> tuple[int | None, int | None]:
    """Return the tokens read, those of the cache among them, and put out; None if not all told."""
    seen = run.telemetry
    if seen is None or not seen.turns or seen.turns_without_usage:
        return None, None
    tokens = seen.tokens
    return tokens.input + tokens.cache_read + tokens.cache_write, tokens.output


def deliverables_text(run: RunRead, places: Mapping[str, str]) -> str:
    """Return a `deliverable_manifest.json`: what the grader found, where it lies now."""
    told = deliverables_of(run.record)
    missing = {entry["id"]: entry["reason"] for entry in told.get("missing") or []}
    listed = [_deliverable(name, files, places, missing) for name, files in run.found.items()]
    content = {"deliverables": listed, "rejected": told.get("rejected") or []}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _deliverable(
    name: str, files: list[str], places: Mapping[str, str], missing: Mapping[str, str]
) -> dict[str, Any]:
    resolved = [places[file] for file in files if file in places]
    entry: dict[str, Any] = {"id": name, "resolved": resolved, "present": bool(resolved)}
    return entry | ({"error": missing[name]} if name in missing else {})


def _utc(moment: str) -> str:
    """Return a moment as the published schema writes it, in UTC to the second."""
    told = datetime.fromisoformat(moment).astimezone(UTC)
    return told.strftime("%Y-%m-%dT%H:%M:%SZ")
