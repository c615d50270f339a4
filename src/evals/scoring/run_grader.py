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
    command = ["python3", "-m", "scorers", "grade", "/capsule", "/submission", "--json"]
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
    return _verdict(Finished(result.returncode, result.stdout, result.stderr), task_id)


async def grade_in_child(
    capsule: Path, submission: Path, task_id: str, *, timeout: int = GRADER_TIMEOUT
) -> Report:
    """Grade a folder on this machine in a child process with limits.

    Raises:
        GraderFailedError: The grader failed, was killed, took too long or told nonsense.
    """
    # The child works in a folder of its own.
    capsule, submission = capsule.resolve(), submission.resolve()
    limits = ChildLimits(seconds=timeout, output_bytes=REPORT_BYTES)
    command = [sys.executable, "-m", "scorers", "grade", str(capsule), str(submission), "--json"]
    async with concurrency("evals-grader", max(1, os.cpu_count() or 1), visible=False):
        finished = await run_child(command, limits, path=[_scorers_parent()])
    return _verdict(finished, task_id, hide=(str(capsule), str(submission)))


def _scorers_parent() -> str:
    """The folder from which a child imports the very scorers that run here."""
    if scorers.__file__ is None:
        raise GraderFailedError("The package `scorers` has no files: install `evals` again.")
    return str(Path(scorers.__file__).resolve().parents[1])


def _verdict(finished: Finished, task_id: str, hide: tuple[str, ...] = ()) -> Report:
    if finished.code == 0:
        return read_report(finished.output, task_id)
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
