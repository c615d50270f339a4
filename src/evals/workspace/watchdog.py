"""Watch an agent from outside, and end it where it goes over a limit.

Docker's usual storage has no quota, and a container full of processes takes no more commands. So
the size of the output is measured through the grader's container, which the agent cannot touch, and
the processes are counted by the engine. Locally only the output is measured, as the folder it is.
"""

from __future__ import annotations

import logging
import os
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import anyio
from inspect_ai.util import LimitExceededError, store_as

from evals.errors import SandboxError
from evals.telemetry.growth import OutputGrowth
from evals.workspace import docker

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    Measure = Callable[[], Awaitable["Disk | None"]]

Kind = Literal["output", "processes", "container"]

_PERIOD_S = 3.0
_CROWDED_PERIOD_S = 1.0
# Measuring the output takes at most this share of the time, however many files there are.
_BUSY_SHARE = 0.2
_FULL = 0.95
# Below this much space left on the engine's disk nobody's run is safe.
_DISK_RESERVE = 2**30
_PATIENCE = 20
_TIME_LIMIT_S = 60
_BLOCK = 512  # bytes, whatever the file system's own block
_MEASURE = 'du -sk -- "$1" | cut -f1; stat -f -c "%a %S" -- "$1"'

_log = logging.getLogger(__name__)


class OverrunError(LimitExceededError):
    """A limit that the watchdog keeps. Inspect records it as `custom` and scores the sample.

    Attributes:
        kind: What went over its limit.
    """

    def __init__(self, kind: Kind, value: float, limit: float, message: str) -> None:
        super().__init__("custom", value=value, limit=limit, message=message)
        self.kind: Kind = kind


@dataclass(frozen=True)
class Watched:
    """The containers of a sample, and how many processes the agent may have."""

    agent: str
    grader: str
    process_limit: int | None


@dataclass(frozen=True)
class Disk:
    """One look at the output: bytes that it takes, and bytes left on the disk that holds it."""

    taken: int
    free: int


async def watch_output(measure: Measure, limit: int) -> None:
    """Measure the output again and again, until it is too large or the sample's agent ends.

    Args:
        measure: Measures the output once; None if that is not possible now.
        limit: Bytes that the output may take.

    Raises:
        OverrunError: The output takes more, or the disk is nearly full through the agent.
    """
    growth = store_as(OutputGrowth)
    first: Disk | None = None
    failed = 0
    while True:
        started = time.monotonic()
        disk = await measure()
        failed = 0 if disk else failed + 1
        if failed == _PATIENCE:
            _log.warning("The output of a sample cannot be measured; trying on.")
        first = first or disk
        if disk is not None:
            growth.note(time.time(), disk.taken)
        excess = output_excess(disk, first, limit) if disk and first else None
        if excess is not None:
            raise excess
        took = time.monotonic() - started
        await anyio.sleep(max(_PERIOD_S, took / _BUSY_SHARE))


async def watch_processes(watched: Watched) -> None:
    """Count the agent's processes again and again, until they fill its container or it stops.

    Raises:
        OverrunError: They fill it, or it has stopped.
    """
    crowded = 0
    while True:
        count = await count_processes(watched.agent)
        if count == 0:
            raise OverrunError("container", 0, 1, "The agent's container has stopped.")
        crowded = crowded + 1 if is_crowded(count, watched) else 0
        # One full moment is a busy agent; two in a row are a bomb.
        if crowded == 2:
            limit = watched.process_limit or 0
            told = f"{count} processes fill the agent's container of {limit}."
            raise OverrunError("processes", count or 0, limit, told)
        await anyio.sleep(_CROWDED_PERIOD_S if crowded else _PERIOD_S)


def output_excess(disk: Disk, first: Disk, limit: int) -> OverrunError | None:
    """Return the limit that the output broke, or None."""
    if disk.taken > limit:
        told = f"The output takes {disk.taken:,} bytes of at most {limit:,}."
        return OverrunError("output", disk.taken, limit, told)
    # Files that are deleted but still open take space which no folder shows.
    lost = first.free - disk.free
    if disk.free < _DISK_RESERVE and lost > limit:
        told = (
            f"The disk that holds the output is nearly full ({disk.free:,} bytes left) and lost "
            f"{lost:,} bytes since the sample began."
        )
        return OverrunError("output", lost, limit, told)
    return None


def is_crowded(count: int | None, watched: Watched) -> bool:
    """Tell whether the agent's container is as good as full of processes."""
    if count is None or watched.process_limit is None:
        return False
    return count >= _FULL * watched.process_limit


async def measure_output(watched: Watched) -> Disk | None:
    """Measure the output of a container once; None if it cannot be measured now."""
    container, folder = watched.agent, "/workspace/output"
    if watched.grader:
        container, folder = watched.grader, "/submission"
    try:
        # Not through Inspect, which would note each look in the transcript.
        told = await docker.arun(
            "exec", container, "sh", "-c", _MEASURE, "sh", folder, timeout=_TIME_LIMIT_S
        )
        kilobytes, blocks, block_size = told.stdout.split()
        return Disk(int(kilobytes) * 1024, int(blocks) * int(block_size))
    except (SandboxError, ValueError) as error:
        _log.debug("The watchdog could not measure %s in %s: %s", folder, container, error)
        return None


async def measure_folder(folder: Path) -> Disk | None:
    """Measure an output folder of this machine once; None if it cannot be measured now."""
    try:
        # A tree without end must not hold up the end of its sample.
        return await anyio.to_thread.run_sync(partial(_measure, folder), abandon_on_cancel=True)
    except OSError as error:
        _log.debug("The watchdog could not measure %s: %s", folder, error)
        return None


def _measure(folder: Path) -> Disk:
    room = os.statvfs(folder)
    taken = 0
    counted: set[tuple[int, int]] = set()
    for _, folders, files, descriptor in os.fwalk(folder, follow_symlinks=False):
        for name in (*folders, *files):
            try:
                status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            except OSError:
                continue  # The agent is at work: what was listed may be gone.
            identity = (status.st_dev, status.st_ino)
            if identity not in counted:
                counted.add(identity)
                taken += status.st_blocks * _BLOCK
    return Disk(taken, room.f_bavail * room.f_frsize)


async def count_processes(container: str) -> int | None:
    """Count processes and threads; 0 if the container does not run, None if it is not known."""
    form = "{{.PIDs}}"
    try:
        # As the kernel counts them: a listing misses those that start and end meanwhile.
        told = await docker.arun(
            "stats", "--no-stream", "--format", form, container, timeout=_TIME_LIMIT_S
        )
    except SandboxError as error:
        _log.debug("The watchdog could not count the processes of %s: %s", container, error)
        return None
    if "no such container" in told.stderr.lower():
        return 0
    text = told.stdout.strip()
    return int(text) if text.isdigit() else None
