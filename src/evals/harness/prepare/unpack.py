"""Unpacking archives of packages: files and folders below one folder, and nothing else."""

from __future__ import annotations

import shutil
import tarfile
import zlib
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from evals.errors import DataMissingError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST_BYTES = 4 << 30
MOST_FILES = 100_000


def unpack(archive: Path, dest: Path, only: tuple[str, ...] = ()) -> None:
    """Unpack a package's archive without the folder that it is packed in.

    Args:
        archive: A `.tgz` file.
        dest: A folder that is made.
        only: Files to take; all if empty.

    Raises:
        DataMissingError: It holds links, devices or paths that lead elsewhere, or is no archive.
    """
    dest.mkdir(parents=True)
    try:
        with tarfile.open(archive, "r|gz") as packed:
            for member, inside in _members(packed, archive.name):
                if only and inside.as_posix() not in only:
                    continue
                target = dest.joinpath(*inside.parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                source = packed.extractfile(member)
                assert source is not None, "regular files have content"
                with source, target.open("xb") as file:
                    shutil.copyfileobj(source, file)
                target.chmod(0o755 if member.mode & 0o111 else 0o644)
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise DataMissingError(f"{archive.name} cannot be unpacked: {error}") from error


def _members(packed: tarfile.TarFile, name: str) -> Iterator[tuple[tarfile.TarInfo, PurePosixPath]]:
    total = 0
    for count, member in enumerate(packed):
        path = PurePosixPath(member.name)
        total += member.size
        if total > MOST_BYTES or count > MOST_FILES:
            raise DataMissingError(f"{name} holds more than a coding agent can need.")
        if member.isdir():
            continue
        # The first part is the folder that all is packed in.
        inside = PurePosixPath(*path.parts[1:])
        if not member.isreg() or path.is_absolute() or ".." in path.parts or not inside.parts:
            raise DataMissingError(
                f"{name} holds {member.name!r}, which is no plain file below its folder. Nothing "
                "of it is used."
            )
        yield member, inside
