"""What a submission says of itself: checked, bounded, kept for the reader, trusted for nothing."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from evals.scoring.verdict import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA_VERSION = "1.0"
MANIFEST_BYTES = 1 << 20
_MOST_FAULTS = 20


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def _moment(text: str) -> str:
    datetime.fromisoformat(text)
    return text


def _bounded(value: object) -> object:
    return value[:2000] if isinstance(value, str) else value


Line = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_one_line)]
Moment = Annotated[
    str, StringConstraints(max_length=40), AfterValidator(_one_line), AfterValidator(_moment)
]
Notes = Annotated[str, BeforeValidator(_bounded), AfterValidator(printable)]
Count = Annotated[int, Field(ge=0, le=10**15)]
Amount = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]


class Manifest(BaseModel):
    """`submission.json`. A field that is missing or breaks its rule is None.

    Attributes:
        run_id: The session that the submission comes from.
        runtime_seconds: How long the agent took.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    schema_version: Literal["1.0"] | None = None
    task_id: Line | None = None
    agent_name: Line | None = None
    agent_version: Line | None = None
    run_id: Line | None = None
    prompt_version: Line | None = None
    timestamp_utc: Moment | None = None
    model_name: Line | None = None
    runtime_seconds: Amount | None = None
    notes: Notes | None = None


class RunMetrics(BaseModel):
    """What is used here of `run_metrics.json`; None is what was not reported."""

    model_config = ConfigDict(frozen=True, strict=True)

    total_runtime_seconds: Amount | None = None
    input_token_count: Count | None = None
    output_token_count: Count | None = None
    total_token_count: Count | None = None
    cached_token_count: Count | None = None
    reasoning_token_count: Count | None = None
    token_source: Line | None = None
    cost_usd: Amount | None = None
    cost_regime: Line | None = None
    tool_call_count: Count | None = None


REQUIRED = (
    "schema_version",
    "task_id",
    "agent_name",
    "agent_version",
    "run_id",
    "prompt_version",
    "timestamp_utc",
)

Model = TypeVar("Model", bound=BaseModel)


def read_manifest(raw: bytes) -> tuple[Manifest, tuple[str, ...]]:
    """Return what a `submission.json` tells, and where it breaks the schema."""
    manifest, faults = _lenient(Manifest, raw)
    if not faults or not faults[0].startswith("no JSON"):
        faulty = {fault.partition(":")[0] for fault in faults}
        lacking = [
            f"{name}: missing"
            for name in REQUIRED
            if getattr(manifest, name) is None and name not in faulty
        ]
        faults = [*faults, *lacking, *_unknown(raw, Manifest.model_fields)]
    return manifest, tuple(faults[:_MOST_FAULTS])


def read_metrics(raw: bytes) -> RunMetrics:
    """Return what a `run_metrics.json` tells, whatever else it holds."""
    return _lenient(RunMetrics, raw)[0]


def _lenient(model: type[Model], raw: bytes) -> tuple[Model, list[str]]:
    """Return the fields that hold to their rules, and a word on each other one."""
    try:
        told = _mapping(raw)
    except (ValueError, RecursionError) as error:
        return model(), [f"no JSON object: {printable(str(error))[:200]}"]
    known = {name: value for name, value in told.items() if name in model.model_fields}
    try:
        return model.model_validate(known), []
    except ValidationError as error:
        wrong = {
            str(each["loc"][0]): each["msg"]
            for each in error.errors(include_url=False, include_input=False, include_context=False)
        }
        kept = {name: value for name, value in known.items() if name not in wrong}
        faults = [f"{name}: {printable(why)[:200]}" for name, why in wrong.items()]
        return model.model_validate(kept), faults


def _mapping(raw: bytes) -> dict[str, Any]:
    told = json.loads(raw)
    if not isinstance(told, dict):
        raise ValueError(f"got {type(told).__name__}")
    return told


def _unknown(raw: bytes, known: Iterable[str]) -> list[str]:
    names = sorted(_mapping(raw).keys() - set(known))
    return [f"{printable(name)[:100]}: unknown field" for name in names]
