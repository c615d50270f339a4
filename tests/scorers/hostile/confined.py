"""Runs the command line of the graders in forked children with limits, one after the other.

Run by its path. Reads a JSON object a line from standard input and answers each with one. The
process loads what graders need once, so that a child costs milliseconds instead of seconds.

`{"warm": ARGUMENTS}` runs in this process itself, to load libraries; only for trusted files.
`{"run": ARGUMENTS, "seconds": S, "memory_bytes": N}` answers with `code` (None if it had to be
killed), `out`, `err`, `seconds` and `peak_bytes` (resident, shared libraries included).
"""

import contextlib
import io
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from typing import IO, Any

from scorers.cli import main

_TICK = 0.002


def _warm(arguments: list[str]) -> dict[str, Any]:
    with contextlib.redirect_stdout(io.StringIO()):
        return {"code": main(arguments)}


def _child(arguments: list[str], memory_bytes: int, out: int, err: int) -> None:
    code = 1
    try:
        os.setsid()
        os.dup2(out, 1)
        os.dup2(err, 2)
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        code = main(arguments)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _run(arguments: list[str], seconds: float, memory_bytes: int) -> dict[str, Any]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.monotonic()
        child = os.fork()
        if not child:
            _child(arguments, memory_bytes, out.fileno(), err.fileno())
        status, usage = _wait(child, began + seconds)
        return {
            "code": None if status is None else os.waitstatus_to_exitcode(status),
            "seconds": time.monotonic() - began,
            "peak_bytes": usage.ru_maxrss * 1024,
            "out": _text(out),
            "err": _text(err)[-4000:],
        }


def _wait(child: int, deadline: float) -> tuple[int | None, resource.struct_rusage]:
    while time.monotonic() < deadline:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            return status, usage
        time.sleep(_TICK)
    os.killpg(child, signal.SIGKILL)
    _, _, usage = os.wait4(child, 0)
    return None, usage


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


for line in sys.stdin:
    asked = json.loads(line)
    if "warm" in asked:
        answer = _warm(asked["warm"])
    else:
        answer = _run(asked["run"], asked["seconds"], asked["memory_bytes"])
    print(json.dumps(answer), flush=True)
