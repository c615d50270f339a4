"""A task folder's two YAML files: what the agent is asked, and how the answer is scored.

The format is the one of the BIABench dataset; `grader` in the rubric and `metadata` in the
specification are additions of this project, at places where that format tolerates them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from scorers.strict_yaml import AsTuple, Text, Texts, near, parse, read_mapping, unfit

if TYPE_CHECKING:
    from pathlib import Path

SPEC_FILE = "task_spec.yaml"
RUBRIC_FILE = "evaluation_rubric.yaml"
DEFAULT_PASS_THRESHOLD = 0.5

_OLD_METADATA_KEYS = {
    "format": "now 'ground_truth_format'",
    "ground_truth_filename": "now 'ground_truth_file'",
    "spatial_dimensions": f"it belongs to 'input' in {SPEC_FILE}",
    "temporal_dimension": f"it belongs to 'input' in {SPEC_FILE}",
    "n_channels": f"it belongs to 'input' in {SPEC_FILE}",
}


def _null_is_empty(value: Any) -> Any:
    return {} if value is None else value


FreeMapping = Annotated[dict[str, Any], BeforeValidator(_null_is_empty)]


class _Strict(BaseModel):
    """Frozen, no coercion between types, other keys kept aside."""

    model_config = ConfigDict(strict=True, frozen=True, extra="allow")


class _Closed(BaseModel):
    """Frozen, no coercion between types, no other keys."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, value: Any) -> Any:
        if isinstance(value, dict):
            known = list(cls.model_fields)
            unknown = [str(key) for key in value if key not in known]
            if unknown:
                hints = " and ".join(f"{key!r}{_where_to(key, known)}" for key in unknown)
                raise unfit(
                    f"only the keys {', '.join(known)}",
                    f"remove or rename {hints}",
                    got=", ".join(map(repr, unknown)),
                )
        return value


def _where_to(key: str, known: list[str]) -> str:
    moved = _OLD_METADATA_KEYS.get(key)
    return f" ({moved})" if moved and "structure" in known else near(key, known)


class Deliverable(_Closed):
    """One declared output, found among the submitted files by its pattern."""

    id: Text
    description: Text
    filename_pattern: Text
    required: bool = True
    multi: bool = False
    required_columns: Texts = ()
    format: str | None = None

    @field_validator("id")
    @classmethod
    def _plain_id(cls, value: str) -> str:
        if not re.fullmatch(r"[A-Za-z0-9_-]+", value):
            raise unfit(
                "letters, digits, '_' and '-' only", "replace the other signs, blanks included"
            )
        return value


class TaskLogic(_Strict):
    """The instruction in its two tiers, and what kind of analysis it is."""

    basic_instructions: Text
    expert_instructions: Text
    primary_task: str | None = None
    sub_tasks: Texts = ()


class TaskSpec(_Strict):
    """`task_spec.yaml`: what the agent is given and asked for.

    Attributes
    ----------
    input
        Documentation of the input; never used to find files.
    extra
        Top-level keys that the format does not know, such as our `metadata`.
    """

    task_id: Text
    input: FreeMapping
    task_logic: TaskLogic
    source: FreeMapping = Field(default_factory=dict)
    deliverables: Annotated[tuple[Deliverable, ...], AsTuple] = ()

    @model_validator(mode="before")
    @classmethod
    def _no_evaluation(cls, value: Any) -> Any:
        if isinstance(value, dict) and "evaluation" in value:
            raise unfit(
                "no key 'evaluation', since this file is the agent's",
                f"move it into {RUBRIC_FILE}",
                got="'evaluation'",
            )
        return value

    @field_validator("task_id")
    @classmethod
    def _fit_for_a_folder(cls, value: str) -> str:
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", value):
            raise unfit(
                "letters, digits, '_', '-' and '.', starting with no '-' or '.'",
                "name the task as a folder could be named",
            )
        return value

    @field_validator("deliverables")
    @classmethod
    def _ids_differ(cls, value: tuple[Deliverable, ...]) -> tuple[Deliverable, ...]:
        first: dict[str, int] = {}
        for index, deliverable in enumerate(value):
            if deliverable.id in first:
                raise unfit(
                    "ids that differ",
                    f"give deliverables[{index}] another id",
                    got=f"{deliverable.id!r} in [{first[deliverable.id]}] and [{index}]",
                )
            first[deliverable.id] = index
        return value

    @property
    def extra(self) -> dict[str, Any]:
        """Top-level keys that the format does not know."""
        return dict(self.model_extra or {})


class EvaluationMetadata(_Closed):
    """What the reference is made of; documentation, except `ground_truth_present`."""

    structure: Text
    folder: str = "evaluation"
    ground_truth_present: bool = True
    ground_truth_file: str | None = None
    ground_truth_format: str | None = None
    ground_truth_structure: str | None = None


class ChecklistFilter(_Strict):
    """Which sections of the process checklist apply."""

    include_keywords: Texts = ()
    visualization_level: str = "basic"


class Rubric(_Strict):
    """`evaluation_rubric.yaml`: how a submission is scored; never shown to the agent.

    Attributes
    ----------
    metric_config
        Free form, read by the grader of the task family.
    grader
        Ours: the name of the grader, needed where the task id is not one of the known ones.
    """

    metric_config: dict[str, Any]
    evaluation_metadata: EvaluationMetadata | None = None
    checklist_filter: ChecklistFilter | None = None
    vlm_anchors: Texts = ()
    task_id: str | None = None
    grader: Text | None = None

    @field_validator("evaluation_metadata", "checklist_filter", mode="before")
    @classmethod
    def _present_is_a_mapping(cls, value: Any) -> Any:
        if value is None:
            raise unfit("a mapping (key: value)", "remove the key, or indent its keys below it")
        return value

    @field_validator("metric_config")
    @classmethod
    def _threshold_is_a_share(cls, value: dict[str, Any]) -> dict[str, Any]:
        if "result_pass_threshold" in value:
            threshold = value["result_pass_threshold"]
            number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
            if not number or not 0 <= threshold <= 1:
                raise unfit(
                    "a result_pass_threshold from 0 to 1",
                    f"write a number such as {DEFAULT_PASS_THRESHOLD}, or remove the key",
                    got=repr(threshold),
                )
        return value

    @property
    def result_pass_threshold(self) -> float:
        """The result score from which a submission has passed."""
        return float(self.metric_config.get("result_pass_threshold", DEFAULT_PASS_THRESHOLD))

    @property
    def needs_reference(self) -> bool:
        """Whether the capsule must have an `evaluation/` folder."""
        return self.evaluation_metadata is None or self.evaluation_metadata.ground_truth_present


def load_spec(task_dir: Path) -> TaskSpec:
    """Read and check the `task_spec.yaml` of a task folder, or raise `CapsuleFault`."""
    path = task_dir / SPEC_FILE
    return parse(TaskSpec, read_mapping(path), path)


def load_rubric(task_dir: Path) -> Rubric:
    """Read and check the `evaluation_rubric.yaml` of a task folder, or raise `CapsuleFault`."""
    path = task_dir / RUBRIC_FILE
    return parse(Rubric, read_mapping(path), path)
