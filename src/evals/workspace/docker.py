"""The `docker` command line: run it, and say how to mend it where it fails."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from functools import cache

import anyio

from evals.errors import SandboxError

_REMEDY = (
    "Start Docker Engine 25 or newer (`docker info` must work for this user), "
    "or run without isolation with `-T sandbox=local`."
)


@dataclass(frozen=True)
class Engine:
    """What a Docker engine offers: processors, and memory in bytes."""

    cpus: int
    memory: int


@dataclass(frozen=True)
class Finished:
    """How a `docker` command ended."""

    code: int
    stdout: str
    stderr: str


def run(*arguments: str, timeout: float = 120) -> Finished:
    """Run a `docker` command to its end; a code other than 0 is a result too.

    Raises:
        SandboxError: There is no `docker` command, or it took too long.
    """
    try:
        done = subprocess.run(
            ["docker", *arguments], capture_output=True, timeout=timeout, check=False
        )
    except FileNotFoundError as error:
        raise SandboxError(f"There is no `docker` command on this machine. {_REMEDY}") from error
    except subprocess.TimeoutExpired as error:
        raise SandboxError(_too_long(arguments, timeout)) from error
    return Finished(done.returncode, _text(done.stdout), _text(done.stderr))


async def arun(*arguments: str, timeout: float = 120) -> Finished:
    """Run a `docker` command as `run` does, while other work goes on."""
    try:
        with anyio.fail_after(timeout):
            done = await anyio.run_process(["docker", *arguments], check=False)
    except FileNotFoundError as error:
        raise SandboxError(f"There is no `docker` command on this machine. {_REMEDY}") from error
    except TimeoutError as error:
        raise SandboxError(_too_long(arguments, timeout)) from error
    return Finished(done.returncode, _text(done.stdout), _text(done.stderr))


@cache
def engine() -> Engine:
    """Return what the engine offers.

    Raises:
        SandboxError: No engine answers.
    """
    done = run("info", "--format", "{{json .}}", timeout=60)
    try:
        facts = json.loads(done.stdout)
        return Engine(int(facts["NCPU"]) or 1, int(facts["MemTotal"]))
    except (ValueError, KeyError, TypeError) as error:
        said = done.stderr.strip() or "nothing"
        raise SandboxError(
            f"No Docker engine answers; `docker info` said: {said}. {_REMEDY}"
        ) from error


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _too_long(arguments: tuple[str, ...], timeout: float) -> str:
    return (
        f"`docker {' '.join(arguments[:2])}` did not answer within {timeout:g} s. "
        "The engine is overloaded or hangs: look at `docker info`, and restart it if need be."
    )
