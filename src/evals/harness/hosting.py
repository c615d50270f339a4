"""A program on the host that works for a sample: heard, bounded, ended with all it started."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from subprocess import PIPE
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import psutil

from evals.scoring.child import kill_group
from evals.workspace.local import end_processes_in
from evals.workspace.watchdog import OverrunError, measure_folder, output_excess

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from anyio.abc import ByteReceiveStream, Process

ANSWER_BYTES = 1 << 20
TAIL_BYTES = 8000
GRACE_S = 10  # between asking a program to end and ending it
_DRAIN_S = 5
_PERIOD_S = 2.0


@dataclass
class Heard:
    """What came of a program, filled in while it runs.

    Attributes
    ----------
    answer, said
        What it wrote to standard output, up to a bound, and the end of what it complained of.
    code
        Its exit code; None where it was ended.
    overrun
        The limit that its output went over.
    """

    answer: bytearray = field(default_factory=bytearray)
    said: bytearray = field(default_factory=bytearray)
    code: int | None = None
    overrun: OverrunError | None = None


@dataclass(frozen=True)
class Booth:
    """Where a program works, what it sees of our environment, and what it may leave.

    Attributes
    ----------
    folder
        Its own temporary folder; what works in there is ended with it.
    output
        The folder for its output, and in `output_bytes` how large that may get.
    """

    folder: Path
    output: Path
    output_bytes: int
    environment: Mapping[str, str]


async def host(command: list[str], line: bytes, booth: Booth, heard: Heard) -> None:
    """Run a program until it ends, leaves too much, or is cancelled; then nothing of it runs.

    Args:
        command: The program and its arguments.
        line: What it reads; its standard input stays open for as long as we live.
        booth: Where it works.
        heard: Filled in as it goes on.
    """
    process = await anyio.open_process(
        command,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        cwd=booth.folder,
        env=booth.environment,
        start_new_session=True,
    )
    family: set[psutil.Process] = set()
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_collect, process.stdout, heard.answer)
            group.start_soon(_keep_tail, process.stderr, heard.said)
            if process.stdin is not None:
                with suppress(anyio.BrokenResourceError):
                    await process.stdin.send(line)
            await _until_over(process, family, booth, heard)
            await _end(process, family, booth.folder)
            # Whoever got away from us may still hold the other end of the pipes.
            group.cancel_scope.deadline = anyio.current_time() + _DRAIN_S
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process, family, booth.folder)
            await process.aclose()


async def _until_over(
    process: Process, family: set[psutil.Process], booth: Booth, heard: Heard
) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(_remember, process.pid, family)
        group.start_soon(_watch_output, booth, heard, group.cancel_scope)
        heard.code = await process.wait()
        group.cancel_scope.cancel()


async def _remember(pid: int, family: set[psutil.Process]) -> None:
    """Note what a program starts, since later nothing tells whose it was."""
    while True:
        family |= _descendants(pid)
        await anyio.sleep(_PERIOD_S)


async def _watch_output(booth: Booth, heard: Heard, over: anyio.CancelScope) -> None:
    first = None
    while heard.overrun is None:
        disk = await measure_folder(booth.output)
        first = first or disk
        if disk is not None and first is not None:
            heard.overrun = output_excess(disk, first, booth.output_bytes)
        await anyio.sleep(0 if heard.overrun else _PERIOD_S)
    over.cancel()


async def _end(process: Process, family: set[psutil.Process], folder: Path) -> None:
    """End a program, first by asking it, and all that it started."""
    family |= _descendants(process.pid)
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM)
        with anyio.move_on_after(GRACE_S):
            await process.wait()
    kill_group(process.pid)
    for each in family:
        with suppress(psutil.Error):
            each.kill()
    await anyio.to_thread.run_sync(partial(end_processes_in, folder))


def _descendants(pid: int) -> set[psutil.Process]:
    try:
        return set(psutil.Process(pid).children(recursive=True))
    except psutil.Error:
        return set()


async def _collect(stream: ByteReceiveStream | None, into: bytearray) -> None:
    if stream is not None:
        async for chunk in stream:
            into.extend(chunk[: ANSWER_BYTES + 1 - len(into)])


async def _keep_tail(stream: ByteReceiveStream | None, into: bytearray) -> None:
    if stream is not None:
        async for chunk in stream:
            into.extend(chunk)
            del into[:-TAIL_BYTES]
