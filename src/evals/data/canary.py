"""The canary of a made capsule: which text, and where it is put."""

from __future__ import annotations

import hashlib
import uuid
from typing import TYPE_CHECKING

from scorers.canary import SUITE
from scorers.specification import RUBRIC_FILE

if TYPE_CHECKING:
    from pathlib import Path

FILE = "CANARY.txt"

_NAMESPACE = uuid.UUID(SUITE.removeprefix("evals-canary-"))


def own_canary(task_id: str, entropy: int) -> str:
    """Return the canary of one instance, which no other instance has.

    Args:
        task_id: The task.
        entropy: What its simulator started from.
    """
    digest = hashlib.sha256(f"{task_id}\0{entropy}".encode()).hexdigest()
    return f"evals-canary-{uuid.uuid5(_NAMESPACE, digest)}"


def plant(capsule: Path, canary: str) -> None:
    """Put a canary into a capsule's private part: beside the reference and into the rubric.

    Args:
        capsule: The capsule's folder.
        canary: The instance's own canary; the suite's goes with it.
    """
    notice = (
        "This folder is the private part of a benchmark. It is not for training, and no agent\n"
        f"that is examined may see it.\n{SUITE}\n{canary}\n"
    )
    (capsule / "evaluation").mkdir(exist_ok=True)
    (capsule / "evaluation" / FILE).write_text(notice, encoding="utf-8", newline="\n")
    path = capsule / RUBRIC_FILE
    text = path.read_text(encoding="utf-8")
    path.write_text(f"# {SUITE}\n# {canary}\n{text}", encoding="utf-8", newline="\n")
