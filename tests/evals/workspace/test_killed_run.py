"""A run that is killed can be taken up again, and one command removes what it left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from inspect_ai.log import read_eval_log

from evals.workspace.leftovers import Leftovers, find_leftovers, remove_leftovers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [pytest.mark.docker, pytest.mark.slow]

# The second sample waits for as long as a file of the test is missing.
SOLVER = """
import os
import anyio
from inspect_ai.solver import solver
from inspect_ai.util import sandbox

@solver
def patient():
    async def solve(state, generate):
        text = "printf 'X,Y\\\\n1,1\\\\n2,2\\\\n' > /workspace/output/a.csv"
        await sandbox().exec(["sh", "-c", text])
        if state.sample_id == "second":
            open(os.environ["WAITING"], "w").close()
            while not os.path.exists(os.environ["GO_ON"]):
                await anyio.sleep(0.2)
        return state
    return solve
"""


class Runner:
    """Runs the `inspect` command in a folder of the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.logs = folder / "logs"
        self.waiting = folder / "waiting"
        self.go_on = folder / "go-on"
        self.started: list[subprocess.Popen[str]] = []
        self.before = find_leftovers().projects
        (folder / "patient.py").write_text(SOLVER, encoding="utf-8")

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start `inspect` with these arguments."""
        names = {"WAITING": str(self.waiting), "GO_ON": str(self.go_on)}
        process = subprocess.Popen(
            [sys.executable, "-m", "inspect_ai", *arguments, "--display", "plain"],
            cwd=self.folder,
            env={**os.environ, **names, "INSPECT_LOG_DIR": str(self.logs)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.started.append(process)
        return process

    def run(self, *arguments: str) -> None:
        """Run `inspect` with these arguments to its end."""
        process = self.start(*arguments)
        told, _ = process.communicate(timeout=200)
        assert process.returncode == 0, told

    def left(self) -> tuple[str, ...]:
        """Return the leftovers that were not there before."""
        return tuple(name for name in find_leftovers().projects if name not in self.before)

    def newest_log(self) -> Path:
        """Return the log that was written last."""
        return max(self.logs.glob("*.eval"), key=lambda path: path.stat().st_mtime)


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    made = Runner(tmp_path)
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
            process.communicate()
    # Whatever the test came to, nothing of it stays: its runs are over.
    remove_leftovers(Leftovers(projects=made.left()))


def wait_for(path: Path, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path.name} did not appear"
        time.sleep(0.2)


@pytest.mark.usefixtures("images")
def test_a_killed_run_is_completed_by_a_retry_and_its_leftovers_go_with_one_command(
    runner: Runner, cells: Callable[..., Path], things_of: Callable[[str], list[str]]
) -> None:
    edition = cells("first", "second")
    run = runner.start(
        *("eval", "evals/biaa", "-T", f"edition={edition}", "--model", "none/none"),
        *("--solver", "patient.py@patient", "--max-samples", "1"),
    )
    wait_for(runner.waiting)
    assert not runner.left(), "the sandbox of a running evaluation is no leftover"
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    left = runner.left()
    assert len(left) == 1

    runner.go_on.touch()
    runner.run("eval-retry", str(runner.newest_log()))
    log = read_eval_log(str(runner.newest_log()))
    assert log.status == "success"
    assert scores(log) == {"first": 0.5, "second": 0.5}

    command = Path(sys.executable).with_name("evals")
    done = subprocess.run([command, "clean"], check=True, capture_output=True, text=True)
    assert left[0] in done.stdout
    assert things_of(left[0]) == []
    assert not runner.left()


def scores(log: Any) -> dict[str, float]:
    return {sample.id: sample.scores["grade"].value["outcome"] for sample in log.samples}
