"""A child process with limits: its own session, bounded output, killed with all it started."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import TYPE_CHECKING

import anyio

from evals.errors import GraderFailedError

if TYPE_CHECKING:
    from anyio.abc import ByteReceiveStream, Process

_ERROR_TAIL = 4000
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class ChildLimits:
    """What a child process may use.

    `memory_bytes` is address space, `file_bytes` the size of any file that it writes.
    """

    seconds: float = 900
    memory_bytes: int = 8 * 2**30
    file_bytes: int = 64 * 2**20
    output_bytes: int = 8 * 2**20

    def settings(self) -> list[str]:
        """Return the limits as the system names them."""
        return [
            f"RLIMIT_AS={self.memory_bytes}",
            f"RLIMIT_CPU={int(self.seconds) + 1}",
            f"RLIMIT_FSIZE={self.file_bytes}",
            "RLIMIT_CORE=0",
        ]


@dataclass(frozen=True)
class Finished:
    """How a child ended, all it printed, and the end of what it complained of."""

    code: int
    output: str
    complaint: str


async def run_child(command: list[str], limits: ChildLimits, *, path: list[str]) -> Finished:
    """Run a command under limits in an empty folder and a bare environment.

    Args:
        command: Absolute path of the program, and its arguments.
        limits: What it may use.
        path: Folders where a Python child finds its packages.

    Raises:
        GraderFailedError: It took too long or printed too much. Nothing of it is left.
    """
    launcher = [sys.executable, "-I", str(Path(__file__).with_name("limited.py"))]
    with tempfile.TemporaryDirectory(prefix="evals-grader-") as scratch:
        process = await anyio.open_process(
            [*launcher, *limits.settings(), "--", *command],
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            cwd=scratch,
            env=_bare_environment(scratch, path),
            start_new_session=True,
        )
        try:
            with anyio.fail_after(limits.seconds):
                return await _gather(process, limits)
        except TimeoutError as error:
            raise GraderFailedError(f"The grader took longer than {limits.seconds:g} s.") from error
        finally:
            with anyio.CancelScope(shield=True):
                kill_group(process.pid)
                await process.aclose()


def _bare_environment(scratch: str, path: list[str]) -> dict[str, str]:
    # Nothing of the user's environment: it may hold keys, and a grader needs none of it.
    return {
        "PATH": os.defpath,
        "HOME": scratch,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONSAFEPATH": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLBACKEND": "Agg",
        # Threads reserve address space each, which is limited.
        **dict.fromkeys(_ONE_THREAD, "1"),
    }


async def _gather(process: Process, limits: ChildLimits) -> Finished:
    output, complaint = bytearray(), bytearray()

    async def listen() -> None:
        async for chunk in _stream(process.stdout):
            output.extend(chunk)
            if len(output) > limits.output_bytes:
                group.cancel_scope.cancel()

    async def keep_tail() -> None:
        async for chunk in _stream(process.stderr):
            complaint.extend(chunk)
            del complaint[:-_ERROR_TAIL]

    async with anyio.create_task_group() as group:
        group.start_soon(listen)
        group.start_soon(keep_tail)
    if len(output) > limits.output_bytes:
        raise GraderFailedError(f"The grader printed more than {limits.output_bytes} bytes.")
    code = await process.wait()
    return Finished(code, output.decode("utf-8", "replace"), complaint.decode("utf-8", "replace"))


def _stream(stream: ByteReceiveStream | None) -> ByteReceiveStream:
    if stream is None:
        raise GraderFailedError("The grader's output is not connected.")
    return stream


def kill_group(leader: int) -> None:
    """Kill all of the process group that a child leads, which may be gone itself."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
