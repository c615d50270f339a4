from __future__ import annotations

from typing import Any

from evals.telemetry.audit import Attempt, Audit
from evals.telemetry.signs import FLAGS
from evals.telemetry.telling import audit_line, telemetry_table


def audited(snippet: str | None = None, not_isolated: str = "") -> dict[str, Any]:
    attempts = []
    if snippet is not None:
        attempts = [Attempt(flag="network", rule="r", tool="Bash", snippet=snippet)]
    return Audit(
        flags=["network"] if attempts else [],
        counts=dict.fromkeys(FLAGS, 0) | {"network": len(attempts)},
        attempts=attempts,
        not_isolated=not_isolated,
        calls_examined=1,
    ).model_dump()


def test_the_table_tells_what_is_known() -> None:
    told = telemetry_table(
        {"turns": 3, "tool_time_s": None, "tokens": {"input": 1200, "cache_read": 0, "output": 7}}
    )
    assert "| Turns | 3 |" in told
    assert "tools" not in told
    assert "| Tokens | input 1,200, output 7 |" in told


def test_without_telemetry_there_is_no_table() -> None:
    assert telemetry_table(None) == ""


def test_flags_are_told_in_one_line_as_hints() -> None:
    line = audit_line(audited("pip install x"))
    assert "hints, not a verdict" in line
    assert "network &#40;1&#41;" in line or "network (1)" in line
    assert line.endswith("Bash: pip install x")
    assert "\n" not in line


def test_a_hostile_snippet_stays_text() -> None:
    line = audit_line(audited("curl http://x ![p](y) <b>"))
    assert "http://" not in line
    assert "![p]" not in line
    assert "<b>" not in line


def test_an_isolated_agent_that_tried_nothing_needs_no_line() -> None:
    assert audit_line(audited()) == ""
    assert audit_line(None) == ""


def test_want_of_isolation_is_told_without_any_attempt() -> None:
    assert audit_line(audited(not_isolated="it ran here")) == "**Not isolated:** it ran here."
