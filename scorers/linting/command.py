"""`python -m scorers check`: what is wrong with a task folder, or what a submission has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from scorers.files.limits import Limits
    from scorers.linting.findings import Finding
    from scorers.linting.submissions import Checked


def add_check(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command to those of the parser, and return it."""
    check = commands.add_parser(
        "check",
        help="tell what is wrong with a task folder or a submission",
        description="Check a task folder; or, with a SUBMISSION_DIR, which deliverables are found "
        "there and why others are rejected. Then only task_spec.yaml and the names of input "
        "files are read, and nothing is scored.",
    )
    check.add_argument("task_dir", type=Path, metavar="TASK_DIR")
    check.add_argument("submission_dir", nargs="?", type=Path, metavar="SUBMISSION_DIR")
    check.add_argument("--json", action="store_true", help="print one JSON object")
    check.add_argument(
        "--checklist",
        type=Path,
        metavar="FILE",
        help="checklist that rubrics select from (default: checklist.yaml beside the task folder)",
    )
    return check


def tell_check(options: argparse.Namespace, limits: Limits) -> bool:
    """Check what the command line names, print it, and return whether the task is sound.

    Raises
    ------
    CapsuleFault
        The specification that a submission is checked with cannot be loaded.
    NotADirectoryError
        A folder does not exist.
    """
    if options.submission_dir is not None:
        from scorers.linting.submissions import check_submission

        checked = check_submission(options.task_dir, options.submission_dir, limits)
        _print(checked.to_json() if options.json else lines_of(checked))
        return True
    if not options.task_dir.is_dir():
        raise NotADirectoryError(f"expected a folder, got {str(options.task_dir)!r}")
    from scorers.linting.capsules import check_capsule

    found = check_capsule(options.task_dir, options.checklist)
    told = {"findings": [finding.to_json() for finding in found]}
    _print(told if options.json else sentences(found) or ["Nothing is wrong."])
    return all(finding.severity != "error" for finding in found)


def lines_of(checked: Checked) -> list[str]:
    """Return what a check of a submission tells, for people."""
    lines = []
    for entry in checked.deliverables:
        kind = "required" if entry.required else "optional"
        count = f"{entry.count} file{'' if entry.count == 1 else 's'}"
        lines.append(f"{entry.id} ({kind}, {entry.pattern}): {count if entry.count else 'none'}")
        lines += [f"    {name}" for name in entry.found]
    return lines + sentences(checked.findings)


def sentences(found: Sequence[Finding]) -> list[str]:
    """Return a line for each finding, errors first."""
    ranked = sorted(found, key=lambda finding: finding.severity != "error")
    return [f"{finding.severity}: {finding.text}" for finding in ranked]


def _print(told: dict[str, Any] | list[str]) -> None:
    print(json.dumps(told) if isinstance(told, dict) else "\n".join(told))
