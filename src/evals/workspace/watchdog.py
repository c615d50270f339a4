"""Watch an agent's container from outside, and end the agent where it goes over a limit.

Docker's usual storage has no quota, and a container full of processes takes no more commands. So
the size of the output is measured through the grader's container, which the agent cannot touch, and
the processes are counted by the engine.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

import anyio
from inspect_ai.util import LimitExceededError

from evals.errors import SandboxError
from evals.workspace import docker

_PERIOD_S = 3.0
_CROWDED_PERIOD_S = 1.0
# Measuring the output takes at most this share of the time, however many files there are.
_BUSY_SHARE = 0.2
_FULL = 0.95
# Below this much space left on the engine's disk nobody's run is safe.
_DISK_RESERVE = 2**30
_PATIENCE = 20
_TIME_LIMIT_S = 60
_MEASURE = 'du -sk -- "$1" | cut -f1; stat -f -c "%a %S" -- "$1"'

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Watched:
    """The containers of a sample and the agent's limits: bytes of output, processes."""

    agent: str
    grader: str
    output_limit: int
    process_limit: int | None


@dataclass(frozen=True)
class Disk:
    """One look at the output: bytes that it takes, and bytes left on the disk that holds it."""

    taken: int
    free: int


async def watch_output(watched: Watched) -> None:
    """Measure the output again and again, until it is too large or the sample's agent ends.

    Raises:
        LimitExceededError: A limit of the kind `custom`. Inspect records it and scores the sample.
    """
    first: Disk | None = None
    failed = 0
    while True:
        started = time.monotonic()
        disk = await measure_output(watched)
        failed = 0 if disk else failed + 1
        if failed == _PATIENCE:
            _log.warning("The output of %s cannot be measured; trying on.", watched.agent)
        first = first or disk
        excess = output_excess(disk, first, watched) if disk and first else None
        if excess is not None:
            raise excess
        took = time.monotonic() - started
        await anyio.sleep(max(_PERIOD_S, took / _BUSY_SHARE))


async def watch_processes(watched: Watched) -> None:
    """Count the agent's processes again and again, until they fill its container or it stops.

    Raises:
        LimitExceededError: A limit of the kind `custom`. Inspect records it and scores the sample.
    """
    crowded = 0
    while True:
        count = await count_processes(watched.agent)
        if count == 0:
            raise _limit(0, 1, "The agent's container has stopped.")
        crowded = crowded + 1 if is_crowded(count, watched) else 0
        # One full moment is a busy agent; two in a row are a bomb.
        if crowded == 2:
            limit = watched.process_limit or 0
            raise _limit(
                count or 0, limit, f"{count} processes fill the agent's container of {limit}."
            )
        await anyio.sleep(_CROWDED_PERIOD_S if crowded else _PERIOD_S)


def output_excess(disk: Disk, first: Disk, watched: Watched) -> LimitExceededError | None:
    """Return the limit that the output broke, or None."""
    limit = watched.output_limit
    if disk.taken > limit:
        return _limit(
            disk.taken, limit, f"The output takes {disk.taken:,} bytes of at most {limit:,}."
        )
    # Files that are deleted but still open take space which no folder shows.
    lost = first.free - disk.free
    if disk.free < _DISK_RESERVE and lost > limit:
        return _limit(
            lost,
            limit,
            f"The disk of the Docker engine is nearly full ({disk.free:,} bytes left) and lost "
            f"{lost:,} bytes since the sample began.",
        )
    return None


def is_crowded(count: int | None, watched: Watched) -> bool:
    """Tell whether the agent's container is as good as full of processes."""
    if count is None or watched.process_limit is None:
        return False
    return count >= _FULL * watched.process_limit


async def measure_output(watched: Watched) -> Disk | None:
    """Measure the output once; None if it cannot be measured now."""
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


def _limit(value: float, limit: float, message: str) -> LimitExceededError:
    return LimitExceededError("custom", value=value, limit=limit, message=message)
