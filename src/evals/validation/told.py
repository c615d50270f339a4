"""What a check printed: made while untrusted files were being read, so it is read strictly."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from evals.errors import GraderFailedError
from evals.scoring.verdict import printable

if TYPE_CHECKING:
    from scorers.linting.submissions import Checked

CHECK = ("check",)
MOST_BYTES = 8 * 2**20


def read_check(text: str, task_id: str) -> Checked:
    """Return the check of a submission to the given task, each text in it one printable line.

    Raises:
        GraderFailedError: It is no JSON, misshapen, or about another task.
    """
    try:
        checked: Checked = _adapter().validate_python(_in_lines(json.loads(text)))
    except (ValueError, ValidationError) as error:
        raise GraderFailedError(f"The check of {task_id} told nothing that can be read.") from error
    if checked.task_id != task_id:
        raise GraderFailedError(f"The check of {task_id} told of another task.")
    return checked


@cache
def _adapter() -> TypeAdapter[Checked]:
    from scorers.linting.submissions import Checked

    return TypeAdapter(Checked)


def _in_lines(value: object) -> object:
    if isinstance(value, str):
        return printable(" ".join(value.split()))[:500]
    if isinstance(value, list):
        return [_in_lines(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _in_lines(entry) for key, entry in value.items()}
    return value
