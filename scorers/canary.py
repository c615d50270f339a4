"""The canary: a text in every private part, and the search for it in what an agent left.

Where it turns up outside, the private part was read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scorers.errors import SubmissionFault
from scorers.specification import RUBRIC_FILE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from scorers.files.limits import Limits
    from scorers.files.tree import SubmittedFile, Tree

# The same in every capsule, so that collectors of training data can leave the files out.
SUITE = "evals-canary-6d7be0a4-3f0c-5a55-9c0e-0a1c4c8be1f7"
PATTERN = re.compile(r"evals-canary-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

_CHUNK_BYTES = 2**20
_HEAD_LINES = 4


def canaries_of(task_dir: Path) -> tuple[str, ...]:
    """Return the canaries that stand in comments at the head of a capsule's rubric.

    Released capsules have none.
    """
    path = task_dir / RUBRIC_FILE
    if not path.is_file():
        return ()
    with path.open(encoding="utf-8", errors="replace") as lines:
        head = [line for _, line in zip(range(_HEAD_LINES), lines, strict=False)]
    return tuple(found for line in head if line.startswith("#") for found in PATTERN.findall(line))


def marked_files(tree: Tree, canaries: Sequence[str], limits: Limits) -> list[str]:
    """Return the paths of the submitted files in which a canary stands as plain text.

    Parameters
    ----------
    tree
        The submission.
    canaries
        What to look for; without any, nothing is read.
    limits
        `canary_bytes` bounds what is read of all files, the smallest files first, and
        `told_files` how many are told.

    Returns
    -------
    list of str
        Relative paths in ascending order. Compressed content is not unpacked.
    """
    wanted = [canary.encode() for canary in canaries]
    left = limits.canary_bytes
    marked: list[str] = []
    for file in sorted(tree.files, key=lambda file: (file.size, str(file.path))):
        if not wanted or file.size > left or len(marked) == limits.told_files:
            break
        left -= file.size
        if _holds(file, wanted):
            marked.append(str(file.path))
    return sorted(marked)


def _holds(file: SubmittedFile, wanted: Sequence[bytes]) -> bool:
    overlap = max(map(len, wanted)) - 1
    kept = b""
    try:
        with file.open() as opened:
            while chunk := opened.read(_CHUNK_BYTES):
                window = kept + chunk
                if any(canary in window for canary in wanted):
                    return True
                kept = window[-overlap:]
    except (SubmissionFault, OSError):
        # A file that cannot be read says so where it is a deliverable.
        return False
    return False
