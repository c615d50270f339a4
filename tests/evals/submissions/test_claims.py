from __future__ import annotations

import json
from typing import Any

import pytest

from evals.submissions.claims import read_manifest, read_metrics

WHOLE = {
    "schema_version": "1.0",
    "task_id": "dots",
    "agent_name": "counter",
    "agent_version": "2.1",
    "run_id": "run_1",
    "prompt_version": "v1",
    "timestamp_utc": "2026-09-01T08:10:00Z",
    "model_name": "m",
    "runtime_seconds": 12,
    "notes": "two\nlines",
}


def raw(**changes: Any) -> bytes:
    return json.dumps(WHOLE | changes).encode()


def test_a_whole_manifest_has_no_fault() -> None:
    manifest, faults = read_manifest(raw())
    assert faults == ()
    assert manifest.model_dump() == WHOLE


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("schema_version", "2.0"),
        ("agent_name", ""),
        ("agent_name", 7),
        ("run_id", "x" * 201),
        ("timestamp_utc", "yesterday"),
        ("runtime_seconds", -1),
        ("runtime_seconds", "12"),
        ("runtime_seconds", float("nan")),
        ("runtime_seconds", 10**400),
    ],
)
def test_a_field_that_breaks_its_rule_is_told_and_left_out(name: str, value: Any) -> None:
    manifest, faults = read_manifest(raw(**{name: value}))
    assert [fault.partition(":")[0] for fault in faults] == [name]
    assert getattr(manifest, name) is None
    assert manifest.task_id == "dots"


def test_a_missing_and_an_unknown_field_are_told() -> None:
    told: dict[str, Any] = {**WHOLE, "score": 1.0}
    del told["run_id"]
    _, faults = read_manifest(json.dumps(told).encode())
    assert faults == ("run_id: missing", "score: unknown field")


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"[]", b"null", b"[" * 100_000, b'{"a": 1' + b"0" * 5000 + b"}"]
)
def test_what_is_no_json_object_is_told(content: bytes) -> None:
    manifest, [fault] = read_manifest(content)
    assert fault.startswith("no JSON object: ")
    assert manifest.task_id is None


def test_what_cannot_be_seen_is_written_out() -> None:
    manifest, _ = read_manifest(raw(agent_name="a\u202eb \n c", notes="n" * 9000))
    assert manifest.agent_name == "a\\u202eb c"
    assert len(manifest.notes or "") <= 2000


def test_metrics_keep_a_true_zero_and_drop_nonsense() -> None:
    told = {"total_token_count": 0, "cost_usd": -3, "input_token_count": 12, "other": [1]}
    metrics = read_metrics(json.dumps(told).encode())
    kept = metrics.model_dump(exclude_none=True)
    assert kept == {"total_token_count": 0, "input_token_count": 12}
