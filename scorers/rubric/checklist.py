"""Checklists in BIABench's form: yes/no items in groups, of which each task selects some."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat

from scorers.errors import CapsuleFault
from scorers.rubric.items import Item
from scorers.strict_yaml import AsTuple, Text, parse, read_mapping

if TYPE_CHECKING:
    from pathlib import Path

    from scorers.specification import Rubric

TASK_SPECIFIC, GENERAL = "task_specific", "general_evaluation"
ADVANCED_GROUP = "visualization_advanced"
DEFAULT_SEVERITY = "minor"
DEFAULT_WEIGHTS = {"critical": 3.0, "major": 2.0, "minor": 1.0}
WEIGHT_OF_UNKNOWN_SEVERITY = 1.0

_SLUG_LENGTH = 80


def _null_is_empty(value: Any) -> Any:
    return {} if value is None else value


class _Model(BaseModel):
    """Frozen, no coercion between types; other keys, such as lists of metrics, are not scored."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


class _Severity(_Model):
    weight: Annotated[FiniteFloat, Field(ge=0)]


class _Scoring(_Model):
    # Published code takes true where a file is silent, though the released file says false.
    critical_auto_fail: bool = True
    pass_threshold: Annotated[FiniteFloat, Field(ge=0, le=1)] = 0.75


class _Entry(_Model):
    text: Text
    severity: Text = DEFAULT_SEVERITY
    vlm_hint: str | None = None


class _Group(_Model):
    checklist: Annotated[tuple[_Entry, ...], AsTuple] = ()


_Groups = dict[str, Annotated[_Group, BeforeValidator(_null_is_empty)]]
_Section = Annotated[_Groups, BeforeValidator(_null_is_empty)]


class _File(_Model):
    severity_levels: Annotated[dict[str, _Severity], BeforeValidator(_null_is_empty)] = Field(
        default_factory=dict
    )
    scoring: Annotated[_Scoring, BeforeValidator(_null_is_empty)] = Field(default_factory=_Scoring)
    task_specific: _Section = Field(default_factory=dict)
    general_evaluation: _Section = Field(default_factory=dict)


@dataclass(frozen=True)
class Checklist:
    """A checklist file.

    Attributes
    ----------
    items
        All items in the order of their numbers.
    weights
        What an item of a severity counts.
    pass_threshold
        The score from which a process has passed.
    critical_auto_fail
        Whether one failed critical item fails the process.
    """

    items: tuple[Item, ...]
    weights: dict[str, float]
    pass_threshold: float = 0.75
    critical_auto_fail: bool = True

    @property
    def unknown_severities(self) -> tuple[str, ...]:
        """Severities in use that have no weight of their own; each such item weighs 1."""
        return tuple(sorted({item.severity for item in self.items} - set(self.weights)))

    @property
    def groups(self) -> dict[str, tuple[Item, ...]]:
        """The items by their group, in the order of the file."""
        found: dict[str, list[Item]] = {}
        for item in self.items:
            found.setdefault(item.subsection, []).append(item)
        return {name: tuple(items) for name, items in found.items()}


def load_checklist(path: Path) -> Checklist:
    """Read a checklist file, or raise `CapsuleFault`.

    Items are numbered through the whole file, those of `task_specific` first, and named after
    their number and text as the published ones are.
    """
    if not path.exists():
        raise CapsuleFault(
            f"{path}: expected a checklist, got no such file. Mend: check the path; a checklist is "
            f"a YAML file with the sections {TASK_SPECIFIC} and {GENERAL}."
        )
    content = parse(_File, read_mapping(path), path)
    weights = DEFAULT_WEIGHTS | {
        name: level.weight for name, level in content.severity_levels.items()
    }
    items: list[Item] = []
    for section in (TASK_SPECIFIC, GENERAL):
        for name, group in getattr(content, section).items():
            for entry in group.checklist:
                items.append(_item(len(items) + 1, entry, section, name, weights))
    if not items:
        raise CapsuleFault(
            f"{path}: expected items in {TASK_SPECIFIC}.GROUP.checklist or "
            f"{GENERAL}.GROUP.checklist, got none. Mend: write each item as '- text: ...'."
        )
    scoring = content.scoring
    return Checklist(tuple(items), weights, scoring.pass_threshold, scoring.critical_auto_fail)


def _item(number: int, entry: _Entry, section: str, group: str, weights: dict[str, float]) -> Item:
    return Item(
        id=f"chk_{number:04d}_{_slug(entry.text)}",
        text=entry.text,
        severity=entry.severity,
        weight=weights.get(entry.severity, WEIGHT_OF_UNKNOWN_SEVERITY),
        section=section,
        subsection=group,
        hint=(entry.vlm_hint or "").strip(),
    )


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:_SLUG_LENGTH]


def select(checklist: Checklist, rubric: Rubric) -> tuple[Item, ...]:
    """Return the items that a task's rubric asks for, in the order of the file.

    An item is taken if any keyword of the rubric occurs in `section group`, whatever the case of
    letters; without keywords all general ones are taken. The group of advanced visualization
    needs that level besides.
    """
    chosen = rubric.checklist_filter
    keywords = tuple(word.lower() for word in chosen.include_keywords) if chosen else ()
    keywords = keywords or (GENERAL,)
    advanced = _level(rubric) == "advanced"
    return tuple(
        item
        for item in checklist.items
        if (advanced or item.subsection != ADVANCED_GROUP)
        and any(word in f"{item.section} {item.subsection}".lower() for word in keywords)
    )


def _level(rubric: Rubric) -> Any:
    """Give the level that the filter names, else the one at the top of the file, else basic."""
    chosen = rubric.checklist_filter
    if chosen is not None and "visualization_level" in chosen.model_fields_set:
        return chosen.visualization_level
    return (rubric.model_extra or {}).get("visualization_level", "basic")
