"""Run the grader away from the agent: in the service `grader`, else in a limited child process."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from inspect_ai.util import SandboxEnvironment, concurrency, sandbox

import scorers
from evals.errors import GraderFailedError
from evals.scoring.child import ChildLimits, Finished, run_child
from evals.scoring.verdict import REPORT_BYTES, Report, read_report

GRADER_SERVICE = "grader"
GRADER_TIMEOUT = 900
_ERROR_TAIL = 2000
_MEANINGS = {
    2: "the grader was called wrongly",
    3: "the capsule is broken or its reference is missing",
    124: "the grader took too long",
    137: "the grader was killed, perhaps for want of memory",
}


def grader_service() -> SandboxEnvironment | None:
    """Return the sandbox service that grades, or None where the sandbox has none."""
    try:
        return sandbox(GRADER_SERVICE)
    except (ValueError, ProcessLookupError):
        return None


async def grade_in_service(
    service: SandboxEnvironment, task_id: str, *, timeout: int = GRADER_TIMEOUT
) -> Report:
    """Grade `/submission` against `/capsule` inside the service.

    Raises:
        GraderFailedError: The service is gone, or the grader failed, hung or told nonsense.
    """
    return read_report(await ask_service(service, ["grade"], task_id, timeout=timeout), task_id)


async def grade_in_child(
    capsule: Path, submission: Path, task_id: str, *, timeout: int = GRADER_TIMEOUT
) -> Report:
    """Grade a folder on this machine in a child process with limits.

    Raises:
        GraderFailedError: The grader failed, was killed, took too long or told nonsense.
    """
    told = await ask_child(
        ["grade"], capsule, submission, task_id, timeout=timeout, most_bytes=REPORT_BYTES
    )
    return read_report(told, task_id)


async def ask_service(
    service: SandboxEnvironment, words: list[str], task_id: str, *, timeout: int
) -> str:
    """Run a command of `scorers` on `/capsule` and `/submission` inside the service.

    Args:
        service: The grader.
        words: The command and its options.
        task_id: For messages.
        timeout: Seconds that it may take.

    Returns:
        What it printed.

    Raises:
        GraderFailedError: The service is gone, or the command failed or hung.
    """
    command = ["python3", "-m", "scorers", *words, "/capsule", "/submission", "--json"]
    try:
        result = await service.exec(
            command, timeout=timeout, timeout_retry=False, env={"PYTHONSAFEPATH": "1"}
        )
    except TimeoutError as error:
        raise GraderFailedError(
            f"The grader of {task_id} took longer than {timeout} s in its container."
        ) from error
    except (RuntimeError, OSError) as error:
        raise GraderFailedError(
            f"The grader's container of {task_id} is gone or does not answer: {error}"
        ) from error
    return _printed(Finished(result.returncode, result.stdout, result.stderr), task_id)


async def ask_child(
    words: list[str],
    capsule: Path,
    submission: Path,
    task_id: str,
    *,
    timeout: int,
    most_bytes: int,
) -> str:
    """Run a command of `scorers` on folders of this machine in a child process with limits.

    Args:
        words: The command and its options.
        capsule: Folder of the task.
        submission: Folder that an agent left.
        task_id: For messages.
        timeout: Seconds that it may take.
        most_bytes: What it may print.

    Returns:
        What it printed.

    Raises:
        GraderFailedError: It failed, was killed, took too long or printed too much.
    """
    # The child works in a folder of its own.
    capsule, submission = capsule.resolve(), submission.resolve()
    limits = ChildLimits(seconds=timeout, output_bytes=most_bytes)
    options = [str(capsule), str(submission), "--json"]
    command = [sys.executable, "-m", "scorers", *words, *options]
    async with concurrency("evals-grader", max(1, os.cpu_count() or 1), visible=False):
        finished = await run_child(command, limits, path=[_scorers_parent()])
    return _printed(finished, task_id, hide=(str(capsule), str(submission)))


def _scorers_parent() -> str:
    """The folder from which a child imports the very scorers that run here."""
    if scorers.__file__ is None:
        raise GraderFailedError("The package `scorers` has no files: install `evals` again.")
    return str(Path(scorers.__file__).resolve().parents[1])


def _printed(finished: Finished, task_id: str, hide: tuple[str, ...] = ()) -> str:
    if finished.code == 0:
        return finished.output
    complaint = finished.complaint[-_ERROR_TAIL:].strip() or "(it said nothing)"
    for path in hide:
        # Errors go into the log, which is shared; paths of this machine do not.
        complaint = complaint.replace(path, Path(path).name)
    raise GraderFailedError(
        f"The grader of {task_id} failed with code {finished.code}"
        f"{_meaning(finished.code)}. It wrote:\n{complaint}"
    )


def _meaning(code: int) -> str:
    if code < 0:
        return f" (killed by {signal.Signals(-code).name})"
    return f" ({_MEANINGS[code]})" if code in _MEANINGS else ""
