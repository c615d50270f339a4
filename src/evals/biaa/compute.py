"""What the agent has to work with, measured, so that the instruction tells nothing untrue."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evals.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evals.biaa.metadata import SandboxKind

_PATIENCE_S = 20


@dataclass(frozen=True)
class Compute:
    """What an agent has to work with.

    Attributes:
        cpus: Cores.
        memory_bytes: Main memory, None where it cannot be known.
        gpus: Names of the CUDA devices that the instruction tells of.
        network: Whether a network can be reached.
        time_limit_s: Wall-clock limit, None where there is none.
    """

    cpus: float
    memory_bytes: int | None
    gpus: tuple[str, ...] = ()
    network: bool = False
    time_limit_s: int | None = None


def gpus_for_hint(hint: bool | None, sandbox: SandboxKind) -> tuple[str, ...]:
    """Return the GPUs that the agent gets and is told of.

    Args:
        hint: None: those that are there. False: none. True: there must be one.
        sandbox: Where the agent runs.

    Raises:
        SandboxError: A GPU was asked for where there is none.
    """
    if hint is False:
        return ()
    found, why = _gpus(sandbox)
    if hint and not found:
        raise SandboxError(
            f"Option environment_hint=true: expected a CUDA GPU for the {sandbox} sandbox, got "
            f"none: {why}. Mend: leave the option out, so that the instruction tells what is "
            "there, or run where a GPU is."
        )
    return found


def host_cpus() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def host_memory() -> int | None:
    """Return the bytes of main memory of this machine, or None where it does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _gpus(sandbox: SandboxKind) -> tuple[tuple[str, ...], str]:
    listed = _said(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"])
    names = tuple(line.strip() for line in (listed or "").splitlines() if line.strip())
    if not names:
        return (), "nvidia-smi lists none on this machine"
    if sandbox == "docker" and not _docker_passes_gpus():
        return (), "the Docker engine has no 'nvidia' runtime (NVIDIA Container Toolkit)"
    return names, ""


def _docker_passes_gpus() -> bool:
    try:
        runtimes = json.loads(_said(["docker", "info", "--format", "{{json .Runtimes}}"]) or "{}")
    except ValueError:
        return False
    return "nvidia" in (runtimes or {})


def _said(command: Sequence[str]) -> str | None:
    """Return what a command printed, or None if it is missing, fails or hangs."""
    if shutil.which(command[0]) is None:
        return None
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout
