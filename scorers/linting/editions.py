"""What is wrong with a folder of capsules, and with the `manifest.json` of a released one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from scorers.linting.findings import Finding, unknown_keys
from scorers.specification import RUBRIC_FILE, SPEC_FILE
from scorers.strict_yaml import near

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST = "manifest.json"
_PARTS = ("input", "evaluation")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


def capsules_in(root: Path) -> list[Path]:
    """Return the task folders right below a folder."""
    return [path for path in sorted(root.iterdir()) if is_capsule(path)]


def is_capsule(path: Path) -> bool:
    """Whether a folder is meant to be a task's: one of its two files is enough."""
    return (path / SPEC_FILE).is_file() or (path / RUBRIC_FILE).is_file()


def check_manifest(root: Path) -> list[Finding]:
    """Return what is wrong with an edition's manifest; nothing, if it has none."""
    path = root / MANIFEST
    if not path.is_file():
        return []
    mend = "fetch it again"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        return [Finding(MANIFEST, "JSON in UTF-8", str(fault), mend)]
    listed = manifest.get("tasks") if isinstance(manifest, dict) else None
    if not isinstance(listed, dict):
        keys = list(map(str, manifest)) if isinstance(manifest, dict) else []
        hint = near("tasks", keys)
        got = ", ".join(keys) or type(manifest).__name__
        return [Finding(MANIFEST, "an object 'tasks', a key for each task", got, mend + hint)]
    found = []
    for name, entry in listed.items():
        found += _entry(f"{MANIFEST}: tasks.{name}", entry)
    return found + _folders(root, list(listed))


def _entry(where: str, entry: Any) -> list[Finding]:
    if not isinstance(entry, dict):
        mend = "write an object with input and, if there is a reference, evaluation"
        return [Finding(where, "an object", type(entry).__name__, mend)]
    # Producers may add keys; those that look mistyped lose a part.
    slips = unknown_keys(where, entry, _PARTS)
    found = [slip for slip in slips if slip.severity == "error"]
    if "input" not in entry:
        mend = "add it; without it no input is fetched"
        found.append(Finding(where, "a key 'input'", ", ".join(entry) or "none", mend))
    for part in _PARTS:
        fields = entry.get(part, {})
        digest = fields.get("zip_sha256") if isinstance(fields, dict) else None
        if not isinstance(fields, dict):
            mend = "write an object with zip_sha256"
            found.append(Finding(f"{where}.{part}", "an object", repr(fields), mend))
        elif digest is not None and not _SHA256.fullmatch(str(digest)):
            mend = f"write what sha256sum tells of {part}.zip"
            where_digest = f"{where}.{part}.zip_sha256"
            found.append(Finding(where_digest, "64 hexadecimal digits", repr(digest), mend))
    return found


def _folders(root: Path, listed: list[str]) -> list[Finding]:
    present = [path.name for path in capsules_in(root)]
    found = [
        Finding(
            f"{name}/",
            f"a folder for each task of {MANIFEST}",
            "nothing",
            f"fetch it, or use only those that are here{near(name, present)}",
            "warning",
        )
        for name in listed
        if name not in present
    ]
    return found + [
        Finding(
            f"{name}/",
            f"a task of {MANIFEST}",
            "one that is not listed, so that it is never used",
            f"add it to {MANIFEST} or move it away{near(name, listed)}",
            "warning",
        )
        for name in present
        if name not in listed
    ]
