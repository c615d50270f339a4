from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import anyio
import pytest

from evals.errors import GraderFailedError
from evals.scoring.child import ChildLimits, Finished, run_child


def run(code: str, **limits: float) -> Finished:
    settings = ChildLimits(**limits)
    return anyio.run(lambda: run_child([sys.executable, "-c", code], settings, path=[]))


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_child_tells_its_output_its_code_and_the_end_of_its_complaint() -> None:
    finished = run("import sys; print('out'); sys.stderr.write('x' * 9000 + 'end'); sys.exit(3)")
    assert (finished.code, finished.output) == (3, "out\n")
    assert finished.complaint.endswith("end")
    assert len(finished.complaint) <= 4000


def test_a_child_sees_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    output = run("import os; print(sorted(os.environ), os.listdir('.'))").output
    assert "SOME_API_KEY" not in output
    assert output.endswith("[]\n")


def test_a_child_that_is_too_slow_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    code = (
        "import subprocess, sys, time; "
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); "
        f"open({str(note)!r}, 'w').write(str(p.pid)); time.sleep(60)"
    )
    begun = time.monotonic()
    with pytest.raises(GraderFailedError, match="longer than 8 s"):
        run(code, seconds=8)
    assert time.monotonic() - begun < 40
    assert not alive(int(note.read_text(encoding="utf-8")))


def test_a_child_that_prints_without_end_is_ended() -> None:
    with pytest.raises(GraderFailedError, match="printed more than 100000 bytes"):
        run("while True: print('x' * 1000)", output_bytes=100_000)


def test_a_child_that_wants_too_much_memory_fails_by_itself() -> None:
    finished = run("x = bytearray(2**30)", memory_bytes=2**29)
    assert finished.code == 1
    assert "MemoryError" in finished.complaint


def test_a_child_cannot_write_large_files() -> None:
    finished = run(
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "open('f', 'wb').write(b'x' * 2**21)",
        file_bytes=2**20,
    )
    assert "File too large" in finished.complaint


def test_a_killed_child_tells_the_signal() -> None:
    assert run("import os; os.kill(os.getpid(), 9)").code == -9


def test_the_scratch_folder_of_a_child_is_removed() -> None:
    place = run("import os; open('x', 'w').close(); print(os.getcwd())").output.strip()
    assert place
    assert not os.path.exists(place)


def test_cancelling_ends_the_child(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    code = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(60)"

    async def cancel_soon() -> None:
        with anyio.move_on_after(1):
            await run_child([sys.executable, "-c", code], ChildLimits(), path=[])

    anyio.run(cancel_soon)
    assert not alive(int(note.read_text(encoding="utf-8")))
