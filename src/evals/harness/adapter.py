"""A class of the user's as the harness. It runs on the host and is NOT isolated."""

from __future__ import annotations

import logging
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from inspect_ai.log import transcript
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import time_limit

from evals import options
from evals.harness.host_class import (
    environment,
    host_class,
    loggable,
    loggable_metadata,
    read_answer,
)
from evals.harness.hosting import Booth, Heard, host
from evals.harness.sandboxed import capsule_of, conclude, current_workspace
from evals.workspace.local import lay_out, mark_folder

if TYPE_CHECKING:
    from evals.harness.host_class import Answer, HostClass
    from evals.workspace.place import Workspace
    from evals.workspace.take import DroppedFile

_log = logging.getLogger(__name__)
_SHOWN = 10

WARNING = (
    "NOT ISOLATED: evals/adapter runs %s on this machine, as you, with your files, your network and"
    " your keys, whichever sandbox the task has. It could read the references. Use it with code"
    " that you trust, and say so beside the scores."
)


@solver
def adapter(
    cls: str,
    init: dict[str, Any] | str | None = None,
    python: str | None = None,
    timeout: int | None = None,
    output_limit_bytes: int | None = None,
) -> Solver:
    """Let a Python class work on the host, NOT ISOLATED: `run(instruction, input_dir, output_dir)`.

    This is BIABench's contract for agents. The class runs as you, with your files, network and
    environment, and brings its own model and keys: Inspect sees no model call, counts no token and
    enforces no token or cost limit, so use `--model none/none`. It gets a copy of the input without
    the reference beside it, an empty output folder, and a process of its own for each sample, which
    is ended with all that it started when the time is over. Its files are then put into the
    sandbox's output and graded as those of any other harness. A class that raises is told in the
    transcript and graded on what it left.

    Args:
        cls: `path/to/file.py@ClassName` or `package.module:ClassName`.
        init: Arguments of its constructor as a JSON object, or the path of a file with one. They
            are kept in the log, so keys belong in the environment.
        python: The Python that runs it, by default our own; it needs none of our packages.
        timeout: Seconds that one run may take; by default the sample's own limits alone count.
        output_limit_bytes: Size of the output at which the class is ended, by default the task's.
    """
    chosen = host_class(options.text("cls", cls, "my_agent.py@MyAgent"), init, python)
    if timeout is not None:
        options.whole_number("timeout", timeout, least=1)
    if output_limit_bytes is not None:
        options.whole_number("output_limit_bytes", output_limit_bytes, least=1)
    warn_once = cache(partial(_log.warning, WARNING, chosen.name))

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        warn_once()
        state.metadata["isolated"] = False
        workspace = current_workspace()
        most_bytes = output_limit_bytes or workspace.output_limit_bytes
        visit = Visit(chosen)
        with tempfile.TemporaryDirectory(prefix="evals-adapter-") as name:
            # Links in its path would hide from us who works in there.
            place = Path(name).resolve()
            await anyio.to_thread.run_sync(_lay_out, capsule_of(state).input_dir, place)
            booth = Booth(place / "work", _output(place), most_bytes, environment(place / "work"))
            try:
                with time_limit(timeout):
                    instruction = _in_place(state.user_prompt.text, workspace, place)
                    await visit.work(instruction, place, booth)
            finally:
                # A limit that ends the work must not lose what was done by then.
                with anyio.CancelScope(shield=True):
                    await visit.hand_in(place, workspace, most_bytes)
                transcript().info(visit.report(place), source="evals/adapter")
        if visit.heard.overrun is not None:
            workspace.limit = visit.heard.overrun.kind
            workspace.limit_reason = visit.heard.overrun.message
            raise visit.heard.overrun
        words = visit.words()
        if visit.failed:
            workspace.failure = words
        return conclude(state, words)

    return solve


@dataclass
class Visit:
    """One run of the class for one sample."""

    guest: HostClass
    heard: Heard = field(default_factory=Heard)
    files: int = 0
    left_out: tuple[DroppedFile, ...] = ()

    async def work(self, instruction: str, place: Path, booth: Booth) -> None:
        """Let the class work until it ends or is ended."""
        line = self.guest.line(
            instruction=instruction,
            input_dir=str(place / "workspace" / "input"),
            output_dir=str(_output(place)),
        )
        await host(self.guest.command, line, booth, self.heard)

    async def hand_in(self, place: Path, workspace: Workspace, cap_bytes: int) -> None:
        """Put the regular files that the class left into the sandbox's output."""
        from evals.workspace.export import take_folder
        from evals.workspace.take import Taker

        folder = place / "submission"
        folder.mkdir()
        taker = Taker(folder, None, cap_bytes)
        # The class may have removed its output folder.
        with suppress(FileNotFoundError):
            await anyio.to_thread.run_sync(partial(take_folder, _output(place), taker))
        await workspace.put_tree(folder)
        taken = taker.done()
        self.files, self.left_out = len(taken.kept), taken.dropped

    @property
    def answer(self) -> Answer | None:
        """What came of it, if that was told."""
        return read_answer(self.heard.answer)

    @property
    def failed(self) -> bool:
        """Whether the class raised, answered in no way that is known, or died."""
        answer = self.answer
        return answer is None or answer.unfit is not None or answer.raised is not None

    def words(self) -> str:
        """Return how it ended, or what the class says itself."""
        answer = self.answer
        if self.heard.code is None:
            return f"{self.guest.name} was ended; what it left is graded."
        if answer is None:
            code = self.heard.code
            how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
            return f"{self.guest.name} {how}; what it left is graded."
        for fault in (answer.unfit, answer.raised):
            if fault is not None:
                return f"{self.guest.name} failed: {loggable(fault)}\nWhat it left is graded."
        message = answer.result.message_or_log if answer.result else ""
        return loggable(message) or f"{self.guest.name} ran to its end."

    def report(self, place: Path) -> dict[str, Any]:
        """Return what goes into the transcript."""
        answer = self.answer
        report: dict[str, Any] = {
            "isolated": False,
            "words": self.words(),
            "exit_code": self.heard.code,
            "files": self.files,
            "left_out": [f"{one.path}: {one.reason}" for one in self.left_out[:_SHOWN]],
            "printed": self.heard.said.decode("utf-8", "replace"),
        }
        if answer is not None and answer.result is not None:
            result = answer.result
            report |= {
                "agent_id": answer.agent_id,
                "success": result.success,
                "error": result.error,
                "result_metadata": loggable_metadata(result.metadata),
            }
        hidden = str(place)
        return {
            name: loggable(value.replace(hidden, "")) if isinstance(value, str) else value
            for name, value in report.items()
        }


def _lay_out(input_dir: Path, place: Path) -> None:
    """Fill the class's own folder: nothing of the capsule but its input."""
    mark_folder(place)
    (place / "work").mkdir()
    (place / "workspace").mkdir()
    lay_out(input_dir, place / "workspace")


def _output(place: Path) -> Path:
    return place / "workspace" / "output"


def _in_place(instruction: str, workspace: Workspace, place: Path) -> str:
    """Return the instruction with the folders that the class works in."""
    root = str(PurePosixPath(workspace.input_dir).parent)
    return instruction.replace(root, str(place / "workspace"))
