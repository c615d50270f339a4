"""Bring a submission out of the sandbox: a stream of regular files, plainly named, in bounds."""

from __future__ import annotations

import os
import stat
import subprocess
import tarfile
import threading
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

import anyio

from evals.errors import SandboxError
from evals.workspace.place import OUTPUT, Workspace, not_prepared
from evals.workspace.take import DroppedFile, Exported, KeptFile, Taker

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "DEFAULT_CAP",
    "DroppedFile",
    "Exported",
    "KeptFile",
    "export",
    "take_archive",
    "take_folder",
]

DEFAULT_CAP = 2 * 2**30
_TIME_LIMIT_S = 1800


async def export(
    workspace: Workspace,
    dest: Path,
    *,
    keep: Literal["deliverables", "all"],
    found: Sequence[str] = (),
    cap_bytes: int = DEFAULT_CAP,
) -> Exported:
    """Copy the regular files of a settled submission into a folder of the host.

    Args:
        workspace: The workspace of the sample.
        dest: A folder that is empty, or missing and then made.
        keep: `deliverables` copies the files of `found`, `all` whatever lies in the output.
        found: Paths below the output folder.
        cap_bytes: Bytes to copy at most. What does not fit stays behind, named with its reason.

    Raises:
        SandboxError: The workspace is not prepared or not settled, `dest` holds something, or
            Docker ends the stream early.
    """
    if not workspace.kind:
        raise not_prepared()
    if not workspace.settled:
        raise SandboxError("The agent may still be running: settle the workspace before exporting.")
    dest.mkdir(parents=True, exist_ok=True)
    if any(dest.iterdir()):
        raise SandboxError(f"{dest} is not empty. An export needs a folder of its own.")
    taker = Taker(dest, None if keep == "all" else frozenset(found), cap_bytes)
    if workspace.kind == "docker":
        # The grader's container has the output at its own place; without one, a dead container
        # still hands out its files.
        container, folder = workspace.agent_container, OUTPUT
        if workspace.grader_container:
            container, folder = workspace.grader_container, "/submission"
        await anyio.to_thread.run_sync(partial(_from_container, container, folder, taker))
    else:
        await anyio.to_thread.run_sync(take_folder, Path(workspace.output_dir), taker)
    return taker.done()


def _from_container(container: str, folder: str, taker: Taker) -> None:
    command = ["docker", "cp", f"{container}:{folder}", "-"]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        timer = threading.Timer(_TIME_LIMIT_S, process.kill)
        timer.start()
        try:
            if process.stdout is None or process.stderr is None:
                raise SandboxError("The pipe from `docker cp` is not connected.")
            broken = _taken(process.stdout, taker)
            complaint = process.stderr.read().decode("utf-8", "replace").strip()
        finally:
            timer.cancel()
            process.kill()
    if broken or complaint:
        raise SandboxError(
            f"Docker's copy of {container}:{folder} failed: {complaint or broken}. The submission "
            "is still in the sandbox's volume for as long as the sample lives."
        )


def _taken(stream: IO[bytes], taker: Taker) -> str:
    try:
        take_archive(stream, taker)
    except tarfile.TarError as error:
        return f"the stream broke off ({error})"
    return ""


def take_archive(stream: IO[bytes], taker: Taker) -> None:
    """Take what a tar stream of one folder holds; that folder's own name is left out."""
    with tarfile.open(fileobj=stream, mode="r|", errors="surrogateescape") as archive:
        for member in archive:
            _, _, path = member.name.rstrip("/").partition("/")
            if not path or member.isdir():
                continue
            if member.islnk():
                taker.link(path, member.linkname.partition("/")[2])
            elif member.type in (tarfile.REGTYPE, tarfile.AREGTYPE):
                content = archive.extractfile(member)
                if content is not None:
                    taker.file(path, member.size, content)
            else:
                taker.drop(path, "not a regular file")
    # Docker writes blocks after the end mark; leaving them unread would look like a failure.
    while stream.read(65536):
        pass


def take_folder(root: Path, taker: Taker) -> None:
    """Take the regular files below a folder of the host; links are not followed."""
    for folder, folders, files, descriptor in os.fwalk(root, follow_symlinks=False):
        folders.sort()
        for name in sorted(files):
            path = (Path(folder) / name).relative_to(root).as_posix()
            _take_file(descriptor, name, path, taker)


def _take_file(folder: int, name: str, path: str, taker: Taker) -> None:
    # Opening a fifo would wait for its other end, following a link would leave the output.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(name, flags, dir_fd=folder)
    except OSError as error:
        taker.drop(path, f"cannot be opened: {error.strerror}")
        return
    with os.fdopen(descriptor, "rb") as content:
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode):
            taker.file(path, status.st_size, content)
        else:
            taker.drop(path, "not a regular file")
