"""Run a program in the sandbox to its end, and say in words how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inspect_ai.util import OutputLimitExceededError, sandbox

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evals.workspace.place import Workspace

TAIL = 4000  # characters kept in the log of what a program prints
_MOST_OF_A_LINE = 300


@dataclass(frozen=True)
class Ended:
    """How a program ended, and what it printed.

    Attributes:
        exit_code: None where it was stopped.
        stopped: Why it was stopped; empty where it ended by itself.
        timed_out: Whether it was stopped because its time was over.
        stdout: What it printed, or where it was stopped both streams in one.
        stderr: What it complained of.
    """

    exit_code: int | None
    stopped: str = ""
    timed_out: bool = False
    stdout: str = ""
    stderr: str = ""

    @property
    def success(self) -> bool:
        """Whether it ended by itself and with code 0."""
        return self.exit_code == 0

    @property
    def complaints(self) -> str:
        """What it complained of; where it was stopped, all that it printed."""
        return self.stderr or (self.stdout if self.stopped else "")

    def words(self, name: str) -> str:
        """Return how it ended.

        Args:
            name: What the program is called, such as "The solution".
        """
        if self.success:
            return f"{name} ran to its end."
        if self.stopped:
            return f"{name} {self.stopped}; what it left is graded."
        lines = (self.stderr or self.stdout).strip().splitlines() or ["no output"]
        return (
            f"{name} failed with exit code {self.exit_code}: {lines[-1][:_MOST_OF_A_LINE]}\n"
            "What it left is graded."
        )

    def report(self, name: str) -> dict[str, Any]:
        """Return what goes into the log: the words, and the ends of what was printed."""
        return {
            "words": self.words(name),
            "exit_code": self.exit_code,
            "timed_out": self.timed_out,
            "stdout": self.stdout[-TAIL:],
            "stderr": self.stderr[-TAIL:],
        }

    def tell(self, workspace: Workspace, words: str) -> None:
        """Note in the sample's workspace that its agent ran out of time or failed, if so.

        Args:
            workspace: The sample's workspace.
            words: How it ended.
        """
        if self.timed_out:
            workspace.limit, workspace.limit_reason = "time", words
        elif not self.success:
            workspace.failure = words


async def run_program(
    command: Sequence[str],
    *,
    input: str | None = None,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    timeout: int | None = None,
    waits: bool = False,
) -> Ended:
    """Run a program in the sandbox; a failure, too much time and too much talk are results.

    Args:
        command: The program and its arguments.
        input: What it reads from its standard input.
        cwd: Folder that it runs in; by default the sandbox's own.
        env: Environment variables beside those of the sandbox.
        timeout: Seconds that it may take, or None for no limit of its own.
        waits: Whether it mostly waits, for a model say, so that it takes none of the places which
            Inspect gives to programs at work.
    """
    try:
        result = await sandbox().exec(
            list(command),
            input=input,
            cwd=cwd,
            env=dict(env or {}),
            timeout=timeout,
            timeout_retry=False,
            concurrency=not waits,
        )
    except TimeoutError as error:
        printed = getattr(error, "truncated_output", None) or ""
        why = f"did not end within {timeout} s"
        return Ended(None, stopped=why, timed_out=True, stdout=printed)
    except OutputLimitExceededError as error:
        return Ended(None, stopped="printed too much", stdout=error.truncated_output or "")
    return Ended(result.returncode, stdout=result.stdout, stderr=result.stderr)
