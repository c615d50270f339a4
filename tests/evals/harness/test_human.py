"""A person at work, played by `docker exec`."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from evals.harness.human import human
from evals.options import OptionInvalidError

if TYPE_CHECKING:
    from pathlib import Path

WAIT_S = 120
# What is waited for on the screen, and what is typed then.
DIALOGUE = (
    ("$ ", "tr a-z A-Z < /workspace/input/a.txt > /workspace/output/work.txt"),
    ("$ ", "task submit"),
    ("No (n): ", "y"),
)
READY = "cat /var/tmp/sandbox-services/human_agent/human_agent.py"  # written last of all


def docker(*arguments: str) -> str:
    """Run a `docker` command, and return what it says."""
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, timeout=WAIT_S)
    return done.stdout


class Person(threading.Thread):
    """Logs in to the container that sees a capsule's input, works, and submits."""

    def __init__(self, capsule: Path) -> None:
        super().__init__(daemon=True)
        self.input = str(capsule / "input")
        self.seen = ""

    def run(self) -> None:
        """Work in a terminal, as the command that Inspect shows opens it."""
        command = ["docker", "exec", "-it", self._container(), "bash", "-l"]
        mine, theirs = pty.openpty()
        with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as shell:
            os.close(theirs)
            # The container goes when the work is handed in, and the terminal with it.
            with contextlib.suppress(OSError):
                for prompt, typed in DIALOGUE:
                    self._look(mine, until=prompt)
                    os.write(mine, f"{typed}\n".encode())
                self._look(mine, until=None)
            shell.wait(WAIT_S)
        os.close(mine)

    def _look(self, screen: int, until: str | None) -> None:
        start = len(self.seen)
        while until is None or until not in self.seen[start:]:
            shown = os.read(screen, 4096)
            if not shown:
                break
            self.seen += shown.decode(errors="replace")

    def _container(self) -> str:
        end = time.monotonic() + WAIT_S
        service = ["--filter", "label=com.docker.compose.service=default"]
        while time.monotonic() < end:
            for container in docker("ps", "--quiet", *service).split():
                mounts = docker("inspect", "--format", "{{json .Mounts}}", container)
                ready = self.input in mounts and docker("exec", container, *READY.split())
                if ready:
                    return container
            time.sleep(1)
        raise TimeoutError("no container with the commands of a person came up")


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")
def test_a_person_logs_in_works_and_submits(
    make_capsule: Any, run_on_docker: Any, tmp_path: Path
) -> None:
    capsule = make_capsule(tmp_path)
    person = Person(capsule)
    person.start()
    ran = run_on_docker(capsule, human())
    person.join(WAIT_S)
    assert "Input: /workspace/input" in person.seen
    assert "Thank you for working on this task" in person.seen
    assert ran.sample.error is None
    assert ran.files == {"work.txt": "INPUT OF DOTS"}
    assert not [event for event in ran.sample.events if event.event == "model"]


def test_a_person_needs_docker(make_capsule: Any, run: Any, tmp_path: Path) -> None:
    ran = run(make_capsule(tmp_path), human())
    assert "opens a terminal in a container" in ran.sample.error.message


def test_a_wrong_option_is_refused() -> None:
    with pytest.raises(OptionInvalidError, match="Option record"):
        human(record="yes")  # type: ignore[arg-type]  # a mistake of the command line
