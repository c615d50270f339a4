"""Which items of which checklist a sample is judged by, and its task's own rules for judges."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evals.assets import assets
from evals.edition import capsule_for
from evals.errors import CapsuleInvalidError, DataMissingError
from evals.scoring.keep import sha256
from scorers.errors import CapsuleFault
from scorers.rubric.checklist import Checklist, load_checklist, select
from scorers.specification import Rubric, load_rubric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scorers.rubric.items import Item

_SUITE = Path("tasks") / "biaa"


@dataclass(frozen=True)
class ChosenChecklist:
    """The checklist of a run, and what says which one it was."""

    checklist: Checklist
    name: str
    sha256: str

    def items_for(self, selection: Mapping[str, Any]) -> tuple[Item, ...]:
        """Return the items for a sample whose rubric selects like this."""
        return select(self.checklist, Rubric.model_validate({"metric_config": {}, **selection}))


def open_checklist(path: str | None) -> ChosenChecklist:
    """Read a checklist, by default the one that ships.

    Raises:
        CapsuleInvalidError: There is no such file, or it is no checklist.
    """
    file = Path(path).expanduser() if path else assets() / _SUITE / "checklist.yaml"
    try:
        checklist = load_checklist(file)
    except CapsuleFault as error:
        raise CapsuleInvalidError(str(error)) from error
    return ChosenChecklist(checklist, file.name, sha256(file))


def selection_of(rubric: Rubric) -> dict[str, Any]:
    """Return the part of a rubric that selects items; it may be kept in a log, the rest may not."""
    chosen = rubric.checklist_filter
    told: dict[str, Any] = {}
    if chosen is not None:
        told["checklist_filter"] = {
            name: value if isinstance(value, str) else list(value)
            for name in ("include_keywords", "visualization_level")
            if name in chosen.model_fields_set and (value := getattr(chosen, name)) is not None
        }
    level = (rubric.model_extra or {}).get("visualization_level")
    return told | ({"visualization_level": level} if isinstance(level, str) else {})


def anchors_for(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a task's own rules for judges.

    They are taken from the capsule, or, where a log is judged in another process, from the task of
    that name that ships.

    Args:
        metadata: Metadata of the sample.
    """
    try:
        return capsule_for(str(metadata.get("data_hash"))).rubric.vlm_anchors
    except DataMissingError:
        folder = assets() / _SUITE / Path(str(metadata.get("task_id"))).name
    try:
        return load_rubric(folder).vlm_anchors
    except CapsuleFault:
        return ()
