"""Limits on the process that grades, for processes that do nothing else."""

from __future__ import annotations

import faulthandler
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scorers.files.limits import Limits

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def limit_memory(limits: Limits) -> None:
    """Bound this process's address space for good; beyond it Python raises `MemoryError`.

    To be called before numerical libraries are loaded: each of their threads, as many as the
    machine has cores, reserves address space. Systems that do not know the limit go without.
    """
    for name in _ONE_THREAD:
        os.environ.setdefault(name, "1")
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        unlimited = hard == resource.RLIM_INFINITY
        wanted = limits.memory_bytes if unlimited else min(limits.memory_bytes, hard)
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def limit_time(limits: Limits) -> None:
    """End this process with exit code 1 after `limits.seconds`, whatever it is at by then."""
    faulthandler.dump_traceback_later(limits.seconds, exit=True, file=sys.stderr)


def exhausted(limits: Limits) -> str:
    """Say that memory ran out, and how to give more."""
    return (
        f"memory ran out (limit memory_bytes={limits.memory_bytes}): this is no score; allow more "
        "with --limit memory_bytes=…, or read less with a lower array_bytes"
    )
