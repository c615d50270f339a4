"""Running a command as a process of its own and asking the system what it took."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Run:
    """One run: seconds of wall time and of all cores, peak of resident memory, what it printed."""

    seconds: float
    cpu_seconds: float
    peak_mib: float
    printed: dict[str, Any]


def run(*arguments: str) -> Run:
    """Run `python -m ARGUMENTS`, which prints one JSON object.

    The peak is that of the largest process; neither side starts others.

    Raises
    ------
    RuntimeError
        The process ended with another exit code than 0.
    """
    with tempfile.TemporaryFile() as output:
        began = time.perf_counter()
        process = subprocess.Popen([sys.executable, "-m", *arguments], stdout=output, cwd=ROOT)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{' '.join(arguments)} ended with {process.returncode}")
        output.seek(0)
        printed = json.load(output)
    kib = usage.ru_maxrss if sys.platform != "darwin" else usage.ru_maxrss / 1024
    return Run(seconds, usage.ru_utime + usage.ru_stime, kib / 1024, printed)
