"""Where a sample's input and output lie, and how files get into the output."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from functools import partial
from pathlib import Path
from typing import IO, Literal

import anyio
from inspect_ai.util import StoreModel

from evals.errors import SandboxError

INPUT = "/workspace/input"
OUTPUT = "/workspace/output"
AGENT_UID = 1000
Kind = Literal["", "docker", "local"]


class Workspace(StoreModel):
    """The workspace of one sample, kept in its store by `prepare_workspace`.

    Attributes:
        kind: Kind of sandbox; empty while it is not prepared.
        input_dir: Folder that the agent reads; in the container, or on the host if local.
        output_dir: Folder that the agent writes.
        agent_container: Name of the agent's container, on Docker.
        grader_container: Name of the grader's container; empty where the sandbox has none.
        settled: All that the agent started is dead.
        limit: What went over the limit by which the watchdog ended the agent: `output`,
            `processes` or `container`; empty if it did not.
        limit_reason: That limit in words.
        output_limit_bytes: Size of the output at which the agent is ended; 0 before it is prepared.
        failure: How the program that was the agent failed, in words; empty if it did not.
    """

    kind: Kind = ""
    input_dir: str = INPUT
    output_dir: str = OUTPUT
    agent_container: str = ""
    grader_container: str = ""
    settled: bool = False
    limit: str = ""
    limit_reason: str = ""
    output_limit_bytes: int = 0
    failure: str = ""

    async def put_tree(self, folder: Path, dest_subdir: str = "") -> None:
        """Copy what a folder of the host holds into the output, owned by the agent.

        Args:
            folder: Folder of the host. Only its regular files and folders are copied.
            dest_subdir: Where in the output; made if it is missing.

        Raises:
            SandboxError: The workspace is not prepared, or Docker refused the copy.
        """
        if self.kind == "docker":
            put = partial(
                _pour, self.agent_container, folder, f"{OUTPUT}/{dest_subdir}".rstrip("/")
            )
        elif self.kind == "local":
            put = partial(_copy, folder, Path(self.output_dir) / dest_subdir)
        else:
            raise not_prepared()
        await anyio.to_thread.run_sync(put)


def not_prepared() -> SandboxError:
    """Return the error for a sample whose setup did not run."""
    return SandboxError(
        "The workspace of this sample is not prepared. Give the task "
        "`setup=prepare_workspace()` from `evals.workspace.setup`."
    )


def _copy(folder: Path, dest: Path) -> None:
    shutil.copytree(folder, dest, dirs_exist_ok=True, ignore=_ignore_special)


def _ignore_special(parent: str, names: list[str]) -> list[str]:
    return [name for name in names if not _is_plain(Path(parent, name))]


def _is_plain(path: Path) -> bool:
    return not path.is_symlink() and (path.is_file() or path.is_dir())


def _pour(container: str, folder: Path, dest: str) -> None:
    # tar runs as the agent: the files are the agent's, and go only where it may write.
    script = 'mkdir -p -- "$1" && exec tar --extract --no-same-owner --directory "$1"'
    command = ["docker", "exec", "--interactive", container, "sh", "-c", script, "sh", dest]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        if process.stdin is None or process.stderr is None:
            raise SandboxError("The pipe to `docker exec` is not connected.")
        try:
            _write_tar(folder, process.stdin)
            process.stdin.close()
        except BrokenPipeError:
            pass  # Its complaint, read below, says why it stopped listening.
        complaint = process.stderr.read().decode("utf-8", "replace").strip()
        if process.wait() != 0:
            raise SandboxError(
                f"Copying {folder.name}/ to {dest} in the sandbox failed: {complaint}"
            )


def _write_tar(folder: Path, stream: IO[bytes]) -> None:
    with tarfile.open(fileobj=stream, mode="w|") as archive:
        for path in sorted(folder.rglob("*")):
            if _is_plain(path):
                archive.add(path, str(path.relative_to(folder)), recursive=False, filter=_owned)


def _owned(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = AGENT_UID
    member.uname = member.gname = ""
    member.mode = 0o755 if member.isdir() else 0o644
    return member
