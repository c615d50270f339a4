"""Running a capsule's solution: one thread, a time limit, and no process that outlives its starter.

The processes are started by workers that may be killed at any time. Each start is therefore written
down in a ledger first: the program waits for a line on its standard input and ends if that is
closed instead, so none runs that the ledger does not name.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from evals.capsule import Capsule

PROGRAM = "solve.py"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

_LEDGER = "running"
_KEPT = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "SYSTEMROOT")
_WAIT = "import os, sys; sys.stdin.readline() or sys.exit(1); os.execv(sys.argv[1], sys.argv[1:])"
_TOLD_CHARS = 300


def solve(capsule: Capsule, folder: Path, workshop: Path, seconds: float) -> str:
    """Run a capsule's `solution/solve.py` into a folder; return how it went wrong, if it did.

    Args:
        capsule: One with a solution.
        folder: Where it is to write.
        workshop: Folder of the run, with the ledger of what is running.
        seconds: Wall time that it may take; what it left by then stays.
    """
    assert capsule.solution_dir is not None
    script = capsule.solution_dir / PROGRAM
    program = [sys.executable, "-B", str(script), str(capsule.input_dir), str(folder)]
    with tempfile.TemporaryDirectory(dir=workshop) as scratch, tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _WAIT, *program],
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=subprocess.STDOUT,
            cwd=scratch,
            env=_environment(scratch),
            start_new_session=True,
        )
        entry = workshop / _LEDGER / str(process.pid)
        entry.parent.mkdir(exist_ok=True)
        entry.touch()
        try:
            process.communicate(b"go\n", timeout=seconds)
        except subprocess.TimeoutExpired:
            return f"the solution did not end within {seconds:g} s"
        finally:
            _end(process.pid)
            process.wait()
            entry.unlink(missing_ok=True)
        said.seek(0)
        lines = said.read().decode("utf-8", "replace").strip().splitlines()
    if process.returncode:
        last = lines[-1] if lines else "no output"
        return f"the solution failed with exit code {process.returncode}: {last}"[:_TOLD_CHARS]
    return ""


def end_solutions(workshop: Path) -> None:
    """End every solution of a run that is still running."""
    for entry in (workshop / _LEDGER).glob("*"):
        _end(int(entry.name))


def _end(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _environment(scratch: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return kept | dict.fromkeys(THREADS, "1") | {"TMPDIR": scratch, "MPLBACKEND": "Agg"}
