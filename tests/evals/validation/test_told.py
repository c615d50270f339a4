"""A check that was made while hostile files were read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evals.errors import GraderFailedError
from evals.validation.told import read_check

ENTRY: dict[str, Any] = {
    "id": "counts",
    "pattern": "*.csv",
    "required": True,
    "count": 1,
    "found": ["a.csv"],
    "rejected": [],
}
TOLD: dict[str, Any] = {
    "task_id": "dots",
    "complete": True,
    "deliverables": [ENTRY],
    "findings": [],
}


def test_a_check_is_read_as_it_was_told() -> None:
    assert read_check(json.dumps(TOLD), "dots").to_json() == TOLD


def test_names_of_files_become_one_printable_line() -> None:
    entry = ENTRY | {"found": ["a\nb\u202e.csv"]}
    [told] = read_check(json.dumps(TOLD | {"deliverables": [entry]}), "dots").deliverables
    assert told.found == ("a b\\u202e.csv",)


@pytest.mark.parametrize(
    "answer", ["", "null", "{}", "[1]", json.dumps(TOLD | {"findings": [{"where": "x"}]})]
)
def test_an_answer_of_another_shape_is_refused(answer: str) -> None:
    with pytest.raises(GraderFailedError, match="told nothing that can be read"):
        read_check(answer, "dots")


def test_an_answer_about_another_task_is_refused() -> None:
    with pytest.raises(GraderFailedError, match="another task"):
        read_check(json.dumps(TOLD), "lines")
