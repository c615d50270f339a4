"""The tools `bash` and `python` of the default agent."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from inspect_ai.tool import Tool, bash, python, tool
from inspect_ai.util import ExecResult, sandbox


def shell_tools(kind: str, timeout: int) -> list[Tool]:
    """Return `bash` and `python` for a sandbox of this kind.

    Inspect's own tools start a login shell. Without isolation that shell is the user's, whose
    Python seldom has the imaging libraries, so there the commands run beside our own Python.
    """
    if kind != "local":
        return [bash(timeout=timeout), python(timeout=timeout)]
    return [local_bash(timeout), local_python(timeout)]


@tool(name="bash", parallel=True)
def local_bash(timeout: int) -> Tool:
    """Run shell commands with our own Python first on the path.

    Args:
        timeout: Seconds that one call may take.
    """

    async def execute(command: str) -> str:
        """Run a command in bash and return what it prints.

        Args:
            command: The command; each call starts in a new shell.
        """
        return await _run(["bash", "-c", command], None, timeout)

    return execute


@tool(name="python", parallel=True)
def local_python(timeout: int) -> Tool:
    """Run Python programs with our own Python.

    Args:
        timeout: Seconds that one call may take.
    """

    async def execute(code: str) -> str:
        """Run a Python program and return what it prints.

        Args:
            code: The program; it starts anew at each call, and only what it prints is seen.
        """
        return await _run([sys.executable, "-"], code, timeout)

    return execute


def own_python_first() -> dict[str, str]:
    """Return the environment in which a shell of this machine finds our own Python first."""
    path = os.environ.get("PATH", os.defpath)
    return {"PATH": os.pathsep.join([str(Path(sys.executable).parent), path])}


async def _run(command: list[str], code: str | None, timeout: int) -> str:
    result: ExecResult[str] = await sandbox().exec(
        command, input=code, env=own_python_first(), timeout=timeout, timeout_retry=False
    )
    return f"{result.stderr}\n{result.stdout}" if result.stderr else result.stdout
