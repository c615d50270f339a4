"""Telemetry and audit as people read them in a score's explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evals.scoring.markdown import escaped, table

if TYPE_CHECKING:
    from collections.abc import Mapping

_ROWS = (
    ("agent_time_s", "Agent's time, s"),
    ("model_time_s", "of it models, s"),
    ("tool_time_s", "of it tools, s"),
    ("turns", "Turns"),
    ("tool_calls", "Tool calls"),
    ("repeated_calls", "of them repeated"),
    ("errors", "Errors"),
    ("code_executions", "Code executions"),
    ("failed_executions", "of them failed"),
    ("images_viewed", "Images looked at"),
    ("cost_usd", "Cost, USD"),
    ("files_total", "Files in the output"),
    ("files_bytes", "bytes in them"),
)
_TOKENS = ("input", "cache_read", "cache_write", "output", "reasoning")


def telemetry_table(telemetry: Mapping[str, Any] | None) -> str:
    """Return the compact table of a sample's telemetry, empty where there is none."""
    if telemetry is None:
        return ""
    rows: list[tuple[object, ...]] = [
        (words, telemetry[name]) for name, words in _ROWS if telemetry.get(name) is not None
    ]
    tokens = telemetry.get("tokens") or {}
    told = [f"{name.replace('_', ' ')} {tokens[name]:,}" for name in _TOKENS if tokens.get(name)]
    if told:
        rows.append(("Tokens", ", ".join(told)))
    return f"**Telemetry**\n\n{table(('What', 'Value'), rows)}"


def audit_line(audit: Mapping[str, Any] | None) -> str:
    """Return what an agent tried in one line, empty where it tried nothing and was isolated."""
    if audit is None:
        return ""
    parts = []
    if audit.get("not_isolated"):
        parts.append(f"**Not isolated:** {escaped(audit['not_isolated'])}.")
    counts = audit.get("counts") or {}
    raised = [f"{flag.replace('_', ' ')} ({counts[flag]})" for flag in audit.get("flags") or []]
    if raised:
        first = audit["attempts"][0]
        parts.append(
            f"**Flags of the audit (hints, not a verdict):** {', '.join(raised)}; for example "
            f"{escaped(first['tool'])}: {escaped(first['snippet'], 160)}"
        )
    return " ".join(parts)
