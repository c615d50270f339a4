"""BIABench's leaderboard entry: the published schema (closed objects) and its further checks."""

from __future__ import annotations

from datetime import date
from statistics import multimode
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from evals.biaa.facts import RELEASED
from evals.errors import EvalsError

TASKS = tuple(RELEASED)

RunStatus = Literal["delivered", "no_deliverable", "crash", "refused"]
Source = Literal["paper", "community"]
AgentClass = Literal["general", "biology"]


class EntryInvalidError(EvalsError, ValueError):
    """A leaderboard entry that the published schema or its checks do not allow."""


def _day(text: str) -> str:
    date.fromisoformat(text)
    return text


Text = Annotated[str, StringConstraints(min_length=1)]
Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{2,79}$")]
Day = Annotated[
    str, StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), AfterValidator(_day)
]
Url = Annotated[str, StringConstraints(pattern=r"^https?://\S+$")]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Submitter(_Closed):
    """Who answers for the numbers."""

    name: Text
    contact: Annotated[str, StringConstraints(min_length=3)]
    affiliation: str = ""


class Agent(_Closed):
    """The harness that was run; `class` is a word of Python, so the field has another name."""

    name: Text
    version: Text
    adapter: str = ""
    kind: AgentClass | None = Field(default=None, alias="class")
    url: Url = ""


class ModelNamed(_Closed):
    """The model that drove it."""

    name: Text
    identifier: Text
    provider: str = ""


class Settings(_Closed):
    """How the runs were made; the repeats are the most frequent number of runs of a task."""

    dataset_revision: Text
    instruction_level: Literal["brief", "detailed"]
    repeats: Annotated[int, Field(ge=1)]
    judge_model: Text | None
    evaluator_commit: str = ""
    cost_provenance: Literal["billed", "list_price"] | None = None
    hardware: str = ""


class Artifacts(_Closed):
    """Where the submissions can be had."""

    url: Url | None
    notes: str = ""


class Run(_Closed):
    """One run of a task. None is what was not measured; of a refused run also the outcome."""

    run_id: Text
    status: RunStatus
    outcome: Share | None
    process: Share | None = None
    wall_min: Amount | None = None
    cost_usd: Amount | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None

    @model_validator(mode="after")
    def _outcome_fits_status(self) -> Self:
        if self.status == "refused":
            if self.outcome:
                raise ValueError(f"a refused run has the outcome null or 0, got {self.outcome}")
        elif self.outcome is None:
            raise ValueError(f"a run that ended as {self.status} has a number as outcome")
        elif self.status != "delivered" and self.outcome:
            raise ValueError(f"{self.status} has the outcome 0, got {self.outcome}")
        return self


class TaskRuns(_Closed):
    """The runs of one task."""

    runs: Annotated[tuple[Run, ...], Field(min_length=1, strict=False)]

    @model_validator(mode="after")
    def _run_ids_differ(self) -> Self:
        ids = [run.run_id for run in self.runs]
        if len(set(ids)) < len(ids):
            raise ValueError("each run has a run_id of its own")
        return self


class Entry(_Closed):
    """`leaderboard/entries/<id>.json`."""

    schema_version: Literal["1"]
    id: Id
    source: Source
    submitted: Day
    submitter: Submitter
    agent: Agent
    model: ModelNamed
    settings: Settings
    artifacts: Artifacts
    tasks: dict[str, TaskRuns]

    @model_validator(mode="after")
    def _whole(self) -> Self:
        lacking, strange = set(TASKS) - self.tasks.keys(), self.tasks.keys() - set(TASKS)
        if lacking or strange:
            words = [f"missing: {', '.join(sorted(lacking))}"] if lacking else []
            words += [f"unknown: {', '.join(sorted(strange))}"] if strange else []
            raise ValueError(f"an entry has exactly the {len(TASKS)} tasks; {'; '.join(words)}")
        if self.source == "community" and self.artifacts.url is None:
            raise ValueError("an entry of the community has a link to its submissions")
        most_common = multimode(len(task.runs) for task in self.tasks.values())
        if self.settings.repeats not in most_common:
            raise ValueError(f"repeats is the most frequent number of runs, {most_common[0]}")
        judged = any(run.process is not None for task in self.tasks.values() for run in task.runs)
        if judged != (self.settings.judge_model is not None):
            raise ValueError("process scores and judge_model come together")
        return self

    def to_json(self) -> str:
        """Return the file's text; what was not given is left out, since null is mostly no value."""
        return f"{self.model_dump_json(indent=2, by_alias=True, exclude_unset=True)}\n"


def checked_entry(told: object) -> Entry:
    """Return an entry that holds to the schema and to the checks beyond it.

    Raises:
        EntryInvalidError: It does not.
    """
    try:
        return Entry.model_validate(told)
    except ValidationError as error:
        faults = [
            f"{'.'.join(map(str, each['loc'])) or 'entry'}: {each['msg']}"
            for each in error.errors(include_url=False, include_input=False, include_context=False)
        ]
        raise EntryInvalidError(
            f"The leaderboard entry is not valid: {'; '.join(faults[:20])}. Mend: give what is"
            " lacking, or write the submissions alone with --submissions-only."
        ) from error
