"""Lay an agent's files out as BIABench packs a submission."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from scorers.files.deliverables import SUPPORTING
from scorers.grading import ARTIFACTS, MANIFEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

DELIVERABLES = "deliverable_manifest.json"
METRICS = "run_metrics.json"
LOGS = "logs"
_EXCLUDED_NAMES = frozenset(
    {
        "evaluation_summary.json",
        "checklist_results.json",
        "vlm_judgement.json",
        "vlm_judgement_raw.jsonl",
        "validation_report.json",
        "run_manifest.json",
        MANIFEST,
        "provenance.json",
        "result_manifest.json",
        DELIVERABLES,
    }
)
_EXCLUDED_FOLDERS = frozenset({"chroma_knowledge_db", "evaluation", "__pycache__", ".git"})
_LOG_NAMES = (
    "log.txt",
    "log_raw.json",
    "error.txt",
    "subprocess_log.txt",
    "*.log",
    "*_log.txt",
    "*_log.json",
    "*_events.jsonl",
    "*_session*.jsonl",
)
_MOST_CHARS = 100


def component(name: str) -> str:
    """Return a name as one part of a path: letters, digits, `_`, `-` and `.`."""
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:_MOST_CHARS].lstrip(".")
    return plain or "unnamed"


def layout(paths: Iterable[str], found: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return where each file goes in the packed submission; files left out have no place.

    Args:
        paths: The files as they lie. Where a `submission.json` is among them they are packed
            already, and are unpacked first.
        found: The files of each deliverable as the grader saw them, which is below `artifacts/`
            where they are packed. A file of several is laid out for the first of them.
    """
    seen_as = _unpacked(sorted(paths))
    owners: dict[str, str] = {}
    for deliverable, files in found.items():
        for file in files:
            owners.setdefault(file, component(deliverable))
    places: dict[str, str] = {}
    taken: set[str] = set()
    for path, name in seen_as.items():
        place = _place(name, owners, taken)
        if place is not None:
            taken.add(place)
            places[path] = place
    return places


def _unpacked(paths: Sequence[str]) -> dict[str, str]:
    """Return each file's name in the agent's output, by the path where it lies."""
    if MANIFEST not in paths:
        return {path: path for path in paths}
    prefix = f"{ARTIFACTS}/"
    inside = {path: path.removeprefix(prefix) for path in paths if path.startswith(prefix)}
    return inside | {path: path for path in paths if path.startswith(f"{LOGS}/")}


def _place(name: str, owners: Mapping[str, str], taken: set[str]) -> str | None:
    *folders, base = name.split("/")
    if base in _EXCLUDED_NAMES or not _EXCLUDED_FOLDERS.isdisjoint(folders):
        return None
    if any(fnmatchcase(base, pattern) for pattern in _LOG_NAMES):
        return f"{LOGS}/{name.removeprefix(f'{LOGS}/')}"
    if name in owners:
        short = f"{ARTIFACTS}/{owners[name]}/{base}"
        return short if short not in taken else f"{ARTIFACTS}/{owners[name]}/{name}"
    return f"{ARTIFACTS}/{SUPPORTING}/{name.removeprefix(f'{SUPPORTING}/')}"
