"""What an agent sees and can do in its container."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from inspect_ai.log import EvalSample

pytestmark = pytest.mark.docker

# The value of a cell in the reference, and words of the rubric.
SECRETS = "17[.]25,93[.]75|the rubric.s own words"
QUESTIONS = {
    "input": "cat /workspace/input/a.txt",
    "output": "touch /workspace/output/mine && ls /workspace/output",
    "secrets": (
        f"grep -rlsE '{SECRETS}' / --exclude-dir=proc --exclude-dir=sys --exclude-dir=dev "
        "--exclude-dir=venv --exclude-dir=usr; env | grep -E 'capsule|evals'; echo none"
    ),
    "private": "ls -d /capsule /submission /opt/evals /var/run/docker.sock 2>/dev/null; echo none",
    "write input": "touch /workspace/input/new; echo x >> /workspace/input/a.txt; echo tried",
    "write root": "touch /new /usr/new /opt/new /etc/new; echo tried",
    "network": (
        "cat /proc/net/route | wc -l; "
        "(exec 3<>/dev/tcp/192.0.2.1/80) 2>&1; getent hosts example.org; echo tried"
    ),
    "rights": "id -u; grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status",
    "program": (
        "cp /bin/true /tmp/run && /tmp/run && cp /bin/true ~/run && ~/run && echo ran; "
        "python -c 'import skimage, cv2, laptrack; print(skimage.__version__)'"
    ),
    "first process": "kill -9 1; kill -TERM 1; kill -INT 1; kill -HUP 1; sleep 0.5; echo alive",
    "all processes": "kill -9 -1; echo gone",
    "afterwards": "echo still here",
}


@pytest.fixture(scope="module")
def answers() -> dict[str, str]:
    return {}


@pytest.fixture
def ask(
    answers: dict[str, str], bench: Any, cells: Callable[..., Path], remaining: Callable[..., Any]
) -> Callable[[str], str]:
    """Ask an agent all questions in one sample, once for all tests of this file."""
    if not answers:
        sample = bench.shell(cells(), *QUESTIONS.values())
        assert sample.error is None
        answers.update(zip(QUESTIONS, tool_outputs(sample), strict=True))
        answers["left"] = " ".join(remaining(sample))
    return answers.__getitem__


def tool_outputs(sample: EvalSample) -> list[str]:
    return [
        message.error.message if message.error else message.text
        for message in sample.messages
        if message.role == "tool" and message.function == "bash"
    ]


def test_the_agent_reads_its_input(ask: Callable[[str], str]) -> None:
    assert "an image" in ask("input")


def test_the_agent_writes_its_output(ask: Callable[[str], str]) -> None:
    assert "mine" in ask("output")


def test_nothing_of_the_reference_or_the_rubric_is_in_the_agents_container(
    ask: Callable[[str], str],
) -> None:
    assert ask("secrets").split() == ["none"]


def test_the_graders_folders_and_the_engine_are_not_in_the_agents_container(
    ask: Callable[[str], str],
) -> None:
    assert ask("private").split() == ["none"]


def test_writing_into_the_input_fails(ask: Callable[[str], str]) -> None:
    assert ask("write input").count("Read-only file system") == 2


def test_the_root_filesystem_is_read_only(ask: Callable[[str], str]) -> None:
    assert ask("write root").count("Read-only file system") == 4


def test_no_network_is_reachable(ask: Callable[[str], str]) -> None:
    told = ask("network")
    assert "Network is unreachable" in told
    assert "example.org" not in told


def test_the_agent_is_an_ordinary_user_without_capabilities(ask: Callable[[str], str]) -> None:
    told = ask("rights")
    assert told.split()[0] == "1000"
    assert re.search(r"CapEff:\s+0+\n", told)
    assert re.search(r"CapBnd:\s+0+\n", told)
    assert re.search(r"NoNewPrivs:\s+1", told)


def test_programs_run_from_scratch_folders_and_the_libraries_are_there(
    ask: Callable[[str], str],
) -> None:
    assert re.search(r"ran\s+\d+[.]\d+", ask("program"))


def test_the_agent_cannot_end_its_own_container(ask: Callable[[str], str]) -> None:
    assert "alive" in ask("first process")
    assert "still here" in ask("afterwards")


def test_no_container_or_volume_remains_after_the_sample(ask: Callable[[str], str]) -> None:
    assert ask("left") == ""
