"""Who started a sandbox: a mark on it that tells later whether that run still lives."""

from __future__ import annotations

import hashlib
import os
import platform

import psutil

# Process start times are read from a clock that may be adjusted by a second or so.
_TOLERANCE_S = 2.0


def owner_mark() -> str:
    """Return the mark of this process: machine, process id and start time.

    The machine's name is hashed, since the mark ends up in logs.
    """
    return f"{_machine()}-{os.getpid()}-{psutil.Process().create_time():.0f}"


def is_gone(mark: str) -> bool:
    """Tell whether the process of a mark surely lives no more.

    A mark of another machine, or one that is no mark, is never surely gone.
    """
    machine, _, rest = mark.partition("-")
    pid, _, started = rest.partition("-")
    if machine != _machine() or not (pid.isdigit() and started.isdigit()):
        return False
    try:
        alive_since = psutil.Process(int(pid)).create_time()
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False
    return abs(alive_since - int(started)) > _TOLERANCE_S


def _machine() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]
