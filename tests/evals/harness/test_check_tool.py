"""The check of deliverables: the agent is told what is found, and nothing of what is private."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from evals.errors import GraderFailedError
from evals.harness.check_tool import words_of
from evals.harness.react import react
from evals.validation.told import read_check

if TYPE_CHECKING:
    from pathlib import Path

# Inspect passes it to a library that has renamed it.
pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")

CHECK: Any = ("check_deliverables", {})
SUBMIT = ("submit", {"answer": "done"})
LISTS: dict[str, list[str]] = {"found": [], "rejected": []}
TOLD = {
    "task_id": "dots",
    "complete": True,
    "deliverables": [{"id": "counts", "pattern": "*.csv", "required": True, "count": 0} | LISTS],
    "findings": [],
}


def write(text: str, output: str = "workspace/output") -> tuple[str, dict[str, Any]]:
    return ("bash", {"command": f"printf '{text}' > {output}/dots.csv"})


def checks(ran: Any) -> list[Any]:
    messages = [message for message in ran.sample.messages if message.role == "tool"]
    return [message for message in messages if message.function == "check_deliverables"]


def test_an_agent_learns_what_is_missing_and_mends_it(
    make_capsule: Any, tmp_path: Path, run: Any, scripted: Any
) -> None:
    model = scripted(CHECK, write("image,cuont\\n"), CHECK, write("image,count\\n"), CHECK, SUBMIT)
    ran = run(make_capsule(tmp_path), react(), model)
    missing, rejected, found = (message.text for message in checks(ran))
    assert "Not complete" in missing
    assert "expected a file whose name fits *.csv" in missing
    assert "'count' (did you mean 'cuont'?)" in rejected
    assert "1 found: dots.csv" in found
    assert "Not complete" not in found


def test_the_check_needs_no_rubric_and_no_reference(
    make_capsule: Any, tmp_path: Path, run: Any, scripted: Any
) -> None:
    capsule = make_capsule(tmp_path)
    # The agent's own command stands for anything that takes them away after the start.
    gone = f"rm -r {capsule}/evaluation {capsule}/evaluation_rubric.yaml"
    ran = run(capsule, react(), scripted(("bash", {"command": gone}), CHECK, SUBMIT))
    [told] = checks(ran)
    assert "counts (required, *.csv): 0 found" in told.text


def test_a_check_that_fails_tells_the_agent_no_more_than_that(
    make_capsule: Any, tmp_path: Path, run: Any, scripted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: Any, **__: Any) -> str:
        raise GraderFailedError("It wrote: /capsule/evaluation/secret.csv")

    monkeypatch.setattr("evals.harness.check_tool.ask_child", fails)
    ran = run(make_capsule(tmp_path), react(), scripted(CHECK, SUBMIT))
    [told] = checks(ran)
    assert told.error.message.startswith("The check did not finish.")
    assert all("secret" not in message.text for message in ran.sample.messages)
    assert ran.sample.error is None


def test_an_agent_may_be_left_without_the_check(
    make_capsule: Any, tmp_path: Path, run: Any, scripted: Any
) -> None:
    ran = run(make_capsule(tmp_path), react(check=False), scripted(SUBMIT))
    [model] = [event for event in ran.sample.events if event.event == "model"]
    assert "check_deliverables" not in [tool.name for tool in model.tools]


def test_a_long_list_is_shortened() -> None:
    finding = {"severity": "error", "where": "x", "expected": "y", "got": "z" * 400, "mend": "m"}
    told = words_of(read_check(json.dumps(TOLD | {"findings": [finding] * 500}), "dots"))
    assert len(told) < 8100
    assert told.endswith("… (shortened)")


@pytest.mark.docker
@pytest.mark.slow
def test_in_a_container_the_check_runs_beside_the_agent(
    make_capsule: Any, tmp_path: Path, run_on_docker: Any, scripted: Any
) -> None:
    good = write("image,count\\n", "/workspace/output")
    ran = run_on_docker(
        make_capsule(tmp_path), react(view=False), scripted(CHECK, good, CHECK, SUBMIT)
    )
    missing, found = (message.text for message in checks(ran))
    assert "Not complete" in missing
    assert "1 found: dots.csv" in found
