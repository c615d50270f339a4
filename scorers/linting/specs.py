"""What is wrong with a `task_spec.yaml`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorers.canary import PATTERN as CANARY
from scorers.errors import CapsuleFault
from scorers.linting.deliverables import check_deliverables
from scorers.linting.documents import repeated_keys
from scorers.linting.findings import Finding, findings_of, unknown_keys
from scorers.specification import RUBRIC_FILE, TaskLogic, TaskSpec
from scorers.strict_yaml import near, parse, read_mapping

if TYPE_CHECKING:
    from pathlib import Path

TASKS = (
    "segmentation",
    "spot-detection",
    "feature-extraction",
    "colocalization",
    "tracking",
    "stitching",
)
_BANNED = {
    "metric_config": f"move it into {RUBRIC_FILE}, which the agent does not see",
    "instruction_public": "remove it; the agent gets task_logic.basic_instructions",
}
_PRIVATE = ("evaluation/", RUBRIC_FILE)


def check_spec(path: Path, root: Path) -> tuple[TaskSpec | None, list[Finding]]:
    """Return a specification, unless it cannot be loaded, and what is wrong with it."""
    found = repeated_keys(path)
    try:
        raw = read_mapping(path)
    except CapsuleFault as fault:
        return None, found + findings_of(fault, root)
    found += _keys(path.name, raw)
    try:
        spec = parse(TaskSpec, raw, path)
    except CapsuleFault as fault:
        return None, found + findings_of(fault, root)
    found += _input(path.name, spec)
    found += _kind(path.name, spec)
    found += _told_secrets(path, spec)
    return spec, found + check_deliverables(path.name, spec)


def _keys(name: str, raw: dict[str, Any]) -> list[Finding]:
    found = [
        Finding(f"{name}: {key}", "no such key in the agent's file", repr(key), mend)
        for key, mend in _BANNED.items()
        if key in raw
    ]
    # The loader refuses `evaluation` itself.
    known = [*TaskSpec.model_fields, "metadata"]
    found += unknown_keys(name, (key for key in raw if key not in {*_BANNED, "evaluation"}), known)
    logic = raw.get("task_logic")
    if isinstance(logic, dict):
        found += _keys_of_logic(f"{name}: task_logic", logic)
    return found


def _keys_of_logic(where: str, logic: dict[Any, Any]) -> list[Finding]:
    rest = [key for key in logic if key != "expected_output"]
    found = unknown_keys(where, rest, list(TaskLogic.model_fields))
    if len(rest) < len(logic):
        mend = "say under deliverables which files are wanted"
        found.append(Finding(where, "no key 'expected_output'", "'expected_output'", mend))
    return found


def _input(name: str, spec: TaskSpec) -> list[Finding]:
    where = f"{name}: input.spatial_dimensions"
    dimensions = spec.input.get("spatial_dimensions")
    found = []
    if dimensions is None:
        mend = "write it; graders that read it take 2D"
        found.append(Finding(where, "'2D' or '3D'", "nothing", mend, "warning"))
    elif str(dimensions)[:2].upper() not in {"2D", "3D"}:
        mend = "let it begin with one of them, as graders read it"
        found.append(Finding(where, "text that begins with 2D or 3D", repr(dimensions), mend))
    channels = spec.input.get("n_channels", 1)
    if isinstance(channels, bool) or not isinstance(channels, int) or channels < 1:
        where = f"{name}: input.n_channels"
        found.append(Finding(where, "a whole number above 0", repr(channels), "write the number"))
    return found


def _kind(name: str, spec: TaskSpec) -> list[Finding]:
    kind = spec.task_logic.primary_task
    if kind is None or kind in TASKS:
        return []
    mend = f"choose one of them{near(kind, TASKS)}"
    where = f"{name}: task_logic.primary_task"
    return [Finding(where, ", ".join(TASKS), repr(kind), mend, "warning")]


def _told_secrets(path: Path, spec: TaskSpec) -> list[Finding]:
    """Return a finding for each text of the agent's that points at the private part."""
    logic = spec.task_logic
    texts = {
        "task_logic.basic_instructions": logic.basic_instructions,
        "task_logic.expert_instructions": logic.expert_instructions,
    }
    for index, deliverable in enumerate(spec.deliverables):
        texts[f"deliverables[{index}].description"] = deliverable.description
    found = [
        Finding(
            f"{path.name}: {field}",
            "no word of the private part, since the agent reads this",
            repr(secret),
            "remove it",
        )
        for field, text in texts.items()
        for secret in _PRIVATE
        if secret in text
    ]
    if CANARY.search(path.read_text(encoding="utf-8")):
        mend = f"remove it; it belongs into {RUBRIC_FILE}"
        found.append(Finding(path.name, "no canary in the agent's file", "one", mend))
    return found
