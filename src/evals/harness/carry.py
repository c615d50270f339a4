"""Carry a file or a folder of the host into a sandbox, to a new folder of its own."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING

from inspect_ai.util import sandbox

from evals.errors import CapsuleInvalidError, SandboxError
from evals.telemetry.own_steps import own_step

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 20 << 20  # of what is carried: it is code, not data

# Beside the input and output where the working directory allows it, so that it goes with them.
_MAKE_PLACE = 'mktemp -d "$PWD/$1.XXXXXX" 2>/dev/null || mktemp -d'
_UNPACK = ["tar", "--extract", "--no-same-owner", "--directory"]


async def make_place(name: str) -> str:
    """Make a new folder in the sandbox, outside the output, and return it.

    Args:
        name: What the folder's name begins with.

    Raises:
        SandboxError: No folder can be made.
    """
    async with own_step():
        made = await sandbox().exec(["sh", "-c", _MAKE_PLACE, "sh", name], timeout=60)
    place = made.stdout.strip()
    if not made.success or not place:
        raise SandboxError(
            f"no folder for the {name} could be made in the sandbox: {made.stderr.strip()}. Its "
            "user needs a working directory or a /tmp that can be written."
        )
    return place


async def carry_in(source: Path, place: str) -> None:
    """Copy a file, or what a folder holds, into a folder of the sandbox, rights to run included.

    Args:
        source: File or folder of the host; byte code is left behind.
        place: Folder of the sandbox.

    Raises:
        CapsuleInvalidError: The files are too large to be code.
        SandboxError: The sandbox does not take them.
    """
    files = _files(source)
    size = sum(path.stat().st_size for path in files.values())
    if size > MOST_BYTES:
        raise CapsuleInvalidError(
            f"{source}: holds {size / 1e6:.0f} MB, at most {MOST_BYTES / 1e6:.0f} MB are copied."
            " Keep code there, and data elsewhere."
        )
    async with own_step():
        took = await sandbox().exec([*_UNPACK, place], input=_packed(files), timeout=120)
    if not took.success:
        raise SandboxError(
            f"{source.name} could not be copied into the sandbox: {took.stderr.strip()[:500]}"
        )


def _files(source: Path) -> dict[str, Path]:
    if source.is_file():
        return {source.name: source}
    return {
        path.relative_to(source).as_posix(): path
        for path in sorted(source.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def _packed(files: dict[str, Path]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", dereference=True) as archive:
        for name, path in files.items():
            archive.add(path, name)
    return packed.getvalue()
