"""The leaderboard entry: the published schema and its further checks."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import jsonschema
import pytest

from evals.exchange.entry import TASKS, Entry, EntryInvalidError, checked_entry
from evals.exchange.row import row_of

RUN = {"run_id": "r1", "status": "delivered", "outcome": 0.5}
ENTRY: dict[str, Any] = {
    "schema_version": "1",
    "id": "react-model-1",
    "source": "community",
    "submitted": "2026-09-01",
    "submitter": {"name": "A", "contact": "a@b"},
    "agent": {"name": "react", "version": "1", "class": "general"},
    "model": {"name": "m", "identifier": "p/m"},
    "settings": {
        "dataset_revision": "v1.0",
        "instruction_level": "brief",
        "repeats": 1,
        "judge_model": None,
    },
    "artifacts": {"url": "https://example.org/a.zip"},
    "tasks": {name: {"runs": [RUN]} for name in TASKS},
}


def changed(*path: Any, value: Any) -> dict[str, Any]:
    """Return the entry with one place changed; None of a value stays null."""
    entry = deepcopy(ENTRY)
    place: Any = entry
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return entry


def with_runs(*runs: dict[str, Any]) -> dict[str, Any]:
    return changed("tasks", TASKS[0], value={"runs": list(runs)})


def test_a_whole_entry_is_written_as_it_was_given() -> None:
    assert json.loads(checked_entry(ENTRY).to_json()) == ENTRY


def test_what_is_written_holds_to_the_json_schema_of_the_models() -> None:
    schema = Entry.model_json_schema()
    jsonschema.validate(json.loads(checked_entry(ENTRY).to_json()), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(ENTRY | {"more": 1}, schema)


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        (changed("id", value="X"), "id"),
        (changed("submitted", value="2026-02-30"), "submitted"),
        (changed("more", value=1), "more"),
        (changed("agent", "class", value="other"), "agent.class"),
        (changed("agent", "adapter", value=None), "agent.adapter"),
        (changed("artifacts", "url", value=None), "link to its submissions"),
        (changed("artifacts", "url", value="ftp://x"), "artifacts.url"),
        (changed("settings", "repeats", value=3), "most frequent number of runs, 1"),
        (changed("settings", "judge_model", value="m"), "come together"),
        (changed("tasks", "dots", value={"runs": [RUN]}), "unknown: dots"),
        (with_runs(), "runs"),
        (with_runs(RUN, RUN), "run_id of its own"),
        (with_runs(RUN | {"outcome": 1.7}), "outcome"),
        (with_runs(RUN | {"outcome": None}), "has a number as outcome"),
        (with_runs(RUN | {"status": "crash"}), "crash has the outcome 0"),
        (with_runs(RUN | {"status": "no_deliverable"}), "no_deliverable has the outcome 0"),
        (with_runs(RUN | {"status": "refused"}), "null or 0"),
        (with_runs(RUN | {"status": "timed_out"}), "status"),
        (with_runs(RUN | {"process": 0.5}), "come together"),
    ],
)
def test_what_breaks_a_rule_is_named(entry: dict[str, Any], fault: str) -> None:
    with pytest.raises(EntryInvalidError, match=fault):
        checked_entry(entry)


def test_a_missing_task_is_named() -> None:
    entry = deepcopy(ENTRY)
    del entry["tasks"][TASKS[3]]
    with pytest.raises(EntryInvalidError, match=f"missing: {TASKS[3]}"):
        checked_entry(entry)


def test_the_outcome_is_the_mean_of_the_tasks_means() -> None:
    entry = with_runs(RUN | {"outcome": 1.0}, RUN | {"run_id": "r2", "outcome": 0.0})
    row = row_of(checked_entry(entry))
    assert (row.tasks[TASKS[0]], row.outcome_mean) == (0.5, 0.5)
    assert (row.runs, row.scored, row.outcome_sd_tasks) == (17, 17, 0.0)


def test_refused_runs_leave_the_mean_and_a_task_of_them_leaves_the_entrys() -> None:
    refused = {"run_id": "r1", "status": "refused", "outcome": None}
    entry = with_runs(refused)
    entry["tasks"][TASKS[1]] = {"runs": [refused, RUN | {"run_id": "r2", "outcome": 1.0}]}
    row = row_of(checked_entry(entry))
    assert (row.tasks[TASKS[0]], row.tasks[TASKS[1]]) == (None, 1.0)
    assert (row.tasks_scored, row.refused) == (15, 2)
    assert row.outcome_mean == pytest.approx((14 * 0.5 + 1) / 15)


def test_a_crash_counts_as_zero() -> None:
    row = row_of(checked_entry(with_runs(RUN | {"status": "crash", "outcome": 0})))
    assert row.outcome_mean == pytest.approx(15 * 0.5 / 16)
