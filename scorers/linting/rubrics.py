"""What is wrong with an `evaluation_rubric.yaml`."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from scorers.errors import CapsuleFault
from scorers.graders import GRADER_OF_TASK, GRADERS
from scorers.linting.documents import repeated_keys
from scorers.linting.findings import Finding, findings_of, unknown_keys
from scorers.linting.reading import deliverables_read
from scorers.rubric.checklist import GENERAL
from scorers.specification import SPEC_FILE, ChecklistFilter, Rubric
from scorers.strict_yaml import near, parse, read_mapping

if TYPE_CHECKING:
    from pathlib import Path

    from scorers.rubric.checklist import Checklist
    from scorers.specification import TaskSpec

LEVELS = ("basic", "advanced")
STRUCTURES = (
    "pixel-aligned-labels",
    "spatial-coordinate-alignment",
    "coordinate-matching",
    "bounding-box",
    "quality",
    "instance-masks-and-tracking",
)
# What graders read of `metric_config`, which is free otherwise.
_SETTINGS = (
    "type",
    "primary_metric",
    "metrics",
    "result_pass_threshold",
    "comparison_logic",
    "comparisons",
    "expect_greater",
    "compartments",
    "iou_threshold",
    "node_matching",
    "voxel_size_um",
    "anaphase_tolerance_frames",
    "direction_weight",
    "distance_threshold_px",
    "expected_channels",
    "expected_z_slices",
    "feature_alignment_weight",
    "nucleus_match_threshold_um",
    "pixel_size_nm",
    "profile_band_height_px",
    "replicate_cv_tolerance",
    "significance_weight",
    "stitching_weight",
    "xy_tolerance_px",
)
_TOP = (*Rubric.model_fields, "visualization_level")


def check_rubric(
    path: Path, root: Path, spec: TaskSpec | None, checklist: Checklist | None
) -> tuple[Rubric | None, list[Finding]]:
    """Return a rubric, unless it cannot be loaded, and what is wrong with it.

    Parameters
    ----------
    path, root
        The file, and the folder that findings name it from.
    spec
        The specification that goes with it, if that could be loaded.
    checklist
        The checklist that its keywords select from, if known.
    """
    found = repeated_keys(path)
    try:
        raw = read_mapping(path)
    except CapsuleFault as fault:
        return None, found + findings_of(fault, root)
    found += unknown_keys(path.name, raw, _TOP)
    try:
        rubric = parse(Rubric, raw, path)
    except CapsuleFault as fault:
        return None, found + findings_of(fault, root)
    if spec is not None:
        found += _fits(path.name, rubric, spec)
    found += _metrics(f"{path.name}: metric_config", rubric.metric_config)
    found += _metadata(f"{path.name}: evaluation_metadata", rubric)
    return rubric, found + _filter(path.name, rubric, checklist)


def _fits(name: str, rubric: Rubric, spec: TaskSpec) -> list[Finding]:
    """Tell where a rubric and the specification do not go together."""
    found = []
    if rubric.task_id not in (None, spec.task_id):
        mend = "write the same id in both, or remove it here"
        where, expected = f"{name}: task_id", f"{spec.task_id!r} as in {SPEC_FILE}"
        found.append(Finding(where, expected, repr(rubric.task_id), mend))
    grader = rubric.grader or GRADER_OF_TASK.get(spec.task_id)
    if grader not in GRADERS:
        hint = near(grader, list(GRADERS)) if grader else near(spec.task_id, list(GRADER_OF_TASK))
        got = repr(grader) if grader else f"nothing, for the unknown task id {spec.task_id!r}"
        mend = f"name one of them{hint}" if grader else f"add 'grader: …'{hint}"
        found.append(Finding(f"{name}: grader", f"one of {', '.join(GRADERS)}", got, mend))
        return found
    declared = [deliverable.id for deliverable in spec.deliverables]
    return found + [
        Finding(
            f"{SPEC_FILE}: deliverables",
            f"a deliverable {wanted!r}, which the grader {grader!r} reads",
            ", ".join(declared) or "none",
            f"add it, rename one{near(wanted, declared)}, or name another grader in {name}",
        )
        for wanted in deliverables_read(grader, rubric)
        if wanted not in declared
    ]


def _metrics(where: str, config: dict[str, Any]) -> list[Finding]:
    found = []
    for key in config:
        # Free form: only what looks like a mistyped setting is told.
        hint = "" if key in _SETTINGS else _slip_of(key)
        if hint:
            expected = f"the setting {hint!r}"
            mend = f"rename it; under the wrong name {hint!r} keeps its default"
            found.append(Finding(f"{where}.{key}", expected, repr(key), mend))
    metrics, primary = config.get("metrics"), config.get("primary_metric")
    if isinstance(metrics, list) and primary is not None and primary not in metrics:
        names = list(map(str, metrics))
        mend = f"choose one of them{near(str(primary), names)}, or add it to metrics"
        found.append(
            Finding(f"{where}.primary_metric", f"one of {', '.join(names)}", repr(primary), mend)
        )
    return found


def _slip_of(key: str) -> str:
    """Return the setting that a key is a slip of the pen from, or an empty string."""
    close = difflib.get_close_matches(key, _SETTINGS, n=1, cutoff=0.88)
    return close[0] if close else ""


def _metadata(where: str, rubric: Rubric) -> list[Finding]:
    metadata = rubric.evaluation_metadata
    if metadata is None:
        return []
    found = []
    if metadata.folder.rstrip("/") != "evaluation":
        mend = "write evaluation; no other folder is looked for"
        found.append(Finding(f"{where}.folder", "'evaluation'", repr(metadata.folder), mend))
    if metadata.structure not in STRUCTURES:
        mend = f"choose one of them{near(metadata.structure, STRUCTURES)}"
        expected = ", ".join(STRUCTURES)
        found.append(
            Finding(f"{where}.structure", expected, repr(metadata.structure), mend, "warning")
        )
    return found


def _filter(name: str, rubric: Rubric, checklist: Checklist | None) -> list[Finding]:
    chosen = rubric.checklist_filter
    where = f"{name}: checklist_filter"
    if chosen is None:
        mend = "add it with include_keywords; without it only general items are judged"
        return [Finding(where, "the sections of the checklist", "nothing", mend, "warning")]
    found = unknown_keys(where, chosen.model_extra or {}, list(ChecklistFilter.model_fields))
    if chosen.visualization_level not in LEVELS:
        mend = f"write one of them{near(chosen.visualization_level, LEVELS)}; else basic is taken"
        where_level, got = f"{where}.visualization_level", repr(chosen.visualization_level)
        found.append(Finding(where_level, " or ".join(LEVELS), got, mend))
    if not chosen.include_keywords:
        mend = f"name sections, and {GENERAL}"
        where_words = f"{where}.include_keywords"
        found.append(
            Finding(where_words, "at least one section of the checklist", "none", mend, "warning")
        )
    if checklist is not None:
        found += _keywords(f"{where}.include_keywords", chosen, checklist)
    return found


def _keywords(where: str, chosen: ChecklistFilter, checklist: Checklist) -> list[Finding]:
    groups = {f"{item.section} {item.subsection}": item.subsection for item in checklist.items}
    names = [*dict.fromkeys(groups.values()), GENERAL]
    return [
        Finding(
            where,
            f"sections of the checklist: {', '.join(names)}",
            repr(word),
            f"correct or remove it{near(word, names)}; it selects nothing",
        )
        for word in chosen.include_keywords
        if not any(word.lower() in group.lower() for group in groups)
    ]
