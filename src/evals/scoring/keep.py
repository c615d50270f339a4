"""Keep submissions on this machine, so that changed graders can be run on them later."""

from __future__ import annotations

import hashlib
import re
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evals.errors import DataMissingError, EvalsError
from evals.scoring.verdict import printable
from evals.workspace.export import DroppedFile, export

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evals.scoring.record import Graded
    from evals.workspace.place import Workspace

Keep = Literal["deliverables", "all", "none"]
# By default submissions lie below the log folder, where the viewer would list such a file.
_LIKE_A_LOG = re.compile(r"(?i)\.eval$|(?:^|/)\d{4}-\d\d-\d\dT[^/]*\.json$")
KEEP_BYTES = 2 * 2**30


@dataclass(frozen=True)
class Keeping:
    """Where submissions are kept, and how much of them."""

    submissions: str = "logs/submissions"
    keep: Keep = "deliverables"
    cap_bytes: int = KEEP_BYTES


async def keep_submission(
    record: Graded, workspace: Workspace, uuid: str, keeping: Keeping
) -> None:
    """Copy the sample's submission out of its sandbox and note each file's SHA-256.

    A copy that cannot be made never costs the verdict: the record says why it is missing.
    """
    if keeping.keep == "none" or record.kept:
        return
    folder = Path(keeping.submissions) / uuid
    # Without a verdict nobody knows which files are deliverables.
    keep: Literal["deliverables", "all"] = "all" if record.grade is None else keeping.keep
    found = named_files(record.grade or {})
    try:
        exported = await export(
            workspace, folder, keep=keep, found=found, cap_bytes=keeping.cap_bytes
        )
    except (EvalsError, OSError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        record.kept_note = f"not kept: {_reason(error)}"
        return
    logs = [file.path for file in exported.kept if _LIKE_A_LOG.search(file.path)]
    for path in logs:
        (folder / path).unlink()
    record.kept_files = [asdict(file) for file in exported.kept if file.path not in logs]
    named = [DroppedFile(path, "named like an Inspect log") for path in logs]
    record.kept_note = _left_behind([*exported.dropped, *named])
    record.kept = uuid


def _reason(error: EvalsError | OSError) -> str:
    # An OSError's own text names the path on this machine, which has no place in a log.
    return error.message if isinstance(error, EvalsError) else str(error.strerror)


def _left_behind(dropped: Sequence[DroppedFile]) -> str | None:
    if not dropped:
        return None
    first = "; ".join(f"{file.path}: {file.reason}" for file in dropped[:5])
    return printable(f"{len(dropped)} files were not kept ({first})")


def named_files(grade: Mapping[str, Any]) -> list[str]:
    """Return where the files may lie that a verdict names as deliverables, taken or rejected.

    A grader reads `artifacts/` where a `submission.json` lies beside it, and names files in there.
    """
    from scorers.grading import ARTIFACTS, MANIFEST

    deliverables = grade.get("deliverables") or {}
    named = {str(name) for files in (deliverables.get("found") or {}).values() for name in files}
    named |= {str(entry.get("file")) for entry in deliverables.get("rejected") or []}
    return sorted({MANIFEST, *named, *(f"{ARTIFACTS}/{name}" for name in named)})


def hashes(folder: Path) -> list[dict[str, Any]]:
    """Return path, size and SHA-256 of every regular file below a folder, links left out."""
    if not folder.is_dir():
        return []
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return [
        {
            "path": path.relative_to(folder).as_posix(),
            "size": path.stat().st_size,
            "sha256": sha256(path),
        }
        for path in files
    ]


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def verify(folder: Path, files: Sequence[Mapping[str, Any]]) -> None:
    """Check that a kept submission is the one that was kept: the same files, the same bytes.

    Raises:
        DataMissingError: The folder or a file is missing, is new, or has other bytes.
    """
    if not folder.is_dir():
        raise DataMissingError(f"The kept submission {folder} is missing.")
    expected = {str(file["path"]): str(file["sha256"]) for file in files}
    present = {file["path"]: file["sha256"] for file in hashes(folder)}
    for path in sorted(expected.keys() | present.keys()):
        if path not in present:
            raise DataMissingError(f"{folder}: the kept file {path!r} is missing.")
        if path not in expected:
            raise DataMissingError(f"{folder}: {path!r} was not there when it was kept.")
        if present[path] != expected[path]:
            raise DataMissingError(f"{folder}: {path!r} has other bytes than when it was kept.")
