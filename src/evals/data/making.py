"""Running simulators: two at a time, each in a process of its own, with progress, stoppable."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from evals.errors import CapsuleInvalidError, EvalsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from rich.progress import Progress

    Advance = Callable[[float], None]
    Job = Callable[["Workshop", Advance], None]

_PROCESSES = 2


class StoppedError(EvalsError):
    """The making was stopped; the reason is raised elsewhere."""


def run_all(jobs: Sequence[tuple[str, Job]]) -> None:
    """Run jobs side by side, and stop them all when one fails or Ctrl-C comes.

    Args:
        jobs: For each the name that the progress display shows, and what is given the workshop
            to run simulators in and a function that takes how much of it is done (0 to 1).
    """
    workshop = Workshop()
    pool = ThreadPoolExecutor(min(_PROCESSES, len(jobs)))
    try:
        with _display(len(jobs)) as shown:
            started = [pool.submit(shown.follow, name, workshop, job) for name, job in jobs]
            for done in as_completed(started):
                done.result()
    except BaseException:
        # Ctrl-C reaches the main thread only: end the workers' processes before leaving.
        workshop.stop()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class Workshop:
    """Runs simulators and can be stopped from another thread."""

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()

    def stop(self) -> None:
        """End what is running; nothing new starts."""
        self.stopped.set()
        with self._lock:
            for process in self._running:
                process.kill()

    def simulate(
        self, script: Path, out: Path, options: Mapping[str, Any], advance: Advance
    ) -> None:
        """Run one `simulate.py` into an existing folder.

        Raises:
            CapsuleInvalidError: It is missing, fails or leaves no input.
        """
        if not script.is_file():
            raise CapsuleInvalidError(
                f"{script}: expected the task's simulator, got nothing. Mend: add it, or choose "
                "other tasks, or another edition."
            )
        request = {"script": str(script), "out": str(out), "options": dict(options)}
        with tempfile.TemporaryFile() as said:
            command = [sys.executable, "-m", __package__ + ".simulate_one"]
            code = self._run(command, request, said, advance)
            said.seek(0)
            text = said.read().decode(errors="replace").strip()
        if code:
            raise CapsuleInvalidError(
                f"{script} failed with exit code {code}; expected it to write input/ and "
                f"evaluation/. It said:\n{text[-3000:] or '(nothing)'}\nMend: correct the script."
            )
        if not any((out / "input").glob("**/*")):
            raise CapsuleInvalidError(
                f"{script} ended well but wrote no input/. Mend: let simulate(out, …) write "
                "out/input and out/evaluation."
            )

    def _run(
        self, command: list[str], request: Mapping[str, Any], said: IO[bytes], advance: Advance
    ) -> int:
        from evals.simulation.progress import DESCRIPTOR

        # One core each, so that two at a time are two, and no library's threads change the sums.
        # A session of its own keeps Ctrl-C for the parent, which then ends it in order.
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        reading, writing = os.pipe()
        with open(reading, encoding="ascii") as steps:
            with self._lock:
                if self.stopped.is_set():
                    os.close(writing)
                    raise StoppedError("The making of the edition was stopped.")
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=said,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, **threads, DESCRIPTOR: str(writing)},
                    pass_fds=(writing,),
                    start_new_session=True,
                )
                os.close(writing)
                self._running.add(process)
            _hand_over(process, request)
            for line in steps:
                done, total = map(int, line.split())
                advance(done / max(total, 1))
        code = process.wait()
        with self._lock:
            self._running.discard(process)
        if self.stopped.is_set():
            raise StoppedError("The making of the edition was stopped.")
        return code


def _hand_over(process: subprocess.Popen[bytes], request: Mapping[str, Any]) -> None:
    """Write the request to standard input: on the command line everybody could read the seed."""
    assert process.stdin is not None
    try:
        with process.stdin as pipe:
            pipe.write(json.dumps(request).encode())
    except BrokenPipeError:
        return  # It ended before it read, which its exit code tells.


class _Display:
    """One bar for all jobs, and one for each that is running."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._all = progress.add_task("Making the synthetic edition", total=total)

    def follow(self, name: str, workshop: Workshop, job: Job) -> None:
        bar = self._progress.add_task(f"  {name}", total=1.0)
        try:
            job(workshop, lambda done: self._progress.update(bar, completed=done))
        finally:
            self._progress.remove_task(bar)
        self._progress.advance(self._all)


@contextmanager
def _display(total: int) -> Iterator[_Display]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeElapsedColumn as Elapsed

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), Elapsed())
    with Progress(*columns, console=console) as progress:
        yield _Display(progress, total)
