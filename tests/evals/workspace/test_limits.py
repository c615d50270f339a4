"""A run that goes too far ends by a recorded limit, and what lies there is graded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from inspect_ai.model import ModelCost, ModelInfo, set_model_info

from evals.harness.command import command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TWO_OF_FOUR = "printf 'X,Y\\n1,1\\n2,2\\n' > {output}/a.csv"
HERE, THERE = (TWO_OF_FOUR.format(output=f"{at}workspace/output") for at in ("", "/"))
FLOOD = "cd {output}; i=0; while :; do i=$((i+1)); head -c 1M /dev/zero > $i; sleep .02; done"

# A harness of its own: leaves two of four cells, then asks the model again and again.
ENDLESS = """
import json, os, pathlib, sys, urllib.request

pathlib.Path(sys.argv[1], "a.csv").write_text("X,Y\\n1,1\\n2,2\\n")
messages = [{"role": "user", "content": "Go on."}]
while True:
    body = json.dumps({"model": os.environ["EVALS_MODEL"], "messages": messages}).encode()
    headers = {"Content-Type": "application/json", "Authorization": "Bearer none"}
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        said = json.load(answer)["choices"][0]["message"]
    messages += [said, {"role": "user", "content": "Go on."}]
"""


def check(sample: Any, kind: str, status: str = "limit", recorded: str | None = None) -> None:
    """Check that a limit ended the sample, that its score says so, and that two cells count."""
    assert sample.error is None, sample.error.traceback
    assert sample.limit is not None
    assert sample.limit.type == (recorded or kind)
    score = sample.scores["grade"]
    assert score.value["outcome"] == 0.5
    assert (score.metadata["limit"], score.metadata["status"]) == (kind, status)
    assert score.metadata["limit_reason"]
    assert f"limit: {kind}" in score.explanation


@pytest.fixture
def price() -> Iterator[None]:
    """Give the scripted model a price: each of its calls takes two tokens and costs $0.002."""
    cost = ModelCost(input=1000, output=1000, input_cache_write=0, input_cache_read=0)
    set_model_info("mockllm/model", ModelInfo(cost=cost))
    yield
    set_model_info("mockllm/model", ModelInfo())


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("token", {"token_limit": 20}),
        ("message", {"message_limit": 8}),
        ("cost", {"cost_limit": 0.01}),
    ],
)
def test_a_limit_of_the_task_ends_the_agent_and_what_is_there_is_graded(
    run_here: Callable[..., Any],
    cells: Callable[..., Path],
    price: None,
    kind: str,
    options: dict[str, Any],
) -> None:
    check(run_here(cells(), HERE, options=options), kind)


def test_inspects_own_limit_takes_the_place_of_the_tasks(
    run_here: Callable[..., Any], cells: Callable[..., Path]
) -> None:
    sample = run_here(cells(), HERE, options={"token_limit": 10**9}, token_limit=20)
    check(sample, "token")
    assert "20" in sample.limit.reason


def test_the_working_limit_of_inspect_counts_as_time(
    run_here: Callable[..., Any], cells: Callable[..., Path]
) -> None:
    sample = run_here(cells(), f"{HERE}; sleep 0.2", working_limit=2)
    check(sample, "working", "timed_out")


@pytest.mark.slow
def test_the_time_limit_ends_a_command_that_never_ends(
    run_here: Callable[..., Any], cells: Callable[..., Path]
) -> None:
    check(run_here(cells(), HERE, "sleep infinity", time_limit=12), "time", "timed_out")


def test_an_output_over_its_limit_ends_the_agent_without_isolation_too(
    run_here: Callable[..., Any], cells: Callable[..., Path]
) -> None:
    flood = FLOOD.format(output="workspace/output")
    sample = run_here(cells(), HERE, flood, options={"output_limit": "5 MB"}, time_limit=120)
    check(sample, "output", recorded="custom")
    assert "5,000,000" in sample.limit.reason


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "options"), [("token", {"token_limit": 20}), ("message", {"message_limit": 8})]
)
def test_a_limit_ends_a_program_that_asks_the_model_through_the_bridge(
    run_here: Callable[..., Any],
    cells: Callable[..., Path],
    tmp_path: Path,
    kind: str,
    options: dict[str, Any],
) -> None:
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS, encoding="utf-8")
    harness = command("python endless.py {output_dir}", files=str(script))
    check(run_here(cells(), solver=harness, options=options, time_limit=120), kind)


@pytest.mark.docker
@pytest.mark.slow
def test_a_fork_bomb_ends_the_agent_and_what_is_there_is_graded(
    bench: Any, cells: Callable[..., Path], remaining: Callable[..., list[str]]
) -> None:
    bomb = "bomb() { bomb | bomb & }; bomb"
    sample = bench.shell(cells(), THERE, bomb, forever=True, process_limit=128, time_limit=240)
    check(sample, "processes", recorded="custom")
    assert "processes" in sample.limit.reason
    assert remaining(sample) == []


@pytest.mark.docker
@pytest.mark.slow
def test_an_output_over_its_limit_ends_the_agent_and_what_is_there_is_graded(
    bench: Any, cells: Callable[..., Path], remaining: Callable[..., list[str]]
) -> None:
    flood = FLOOD.format(output="/workspace/output").replace("1M", "20M")
    sample = bench.shell(
        cells(), THERE, flood, forever=True, options={"output_limit": "100MB"}, time_limit=240
    )
    check(sample, "output", recorded="custom")
    assert "100,000,000" in sample.limit.reason
    assert remaining(sample) == []


@pytest.mark.docker
@pytest.mark.slow
def test_an_endless_process_ends_by_the_time_limit_and_what_is_there_is_graded(
    bench: Any, cells: Callable[..., Path], remaining: Callable[..., list[str]]
) -> None:
    endless = "nohup sh -c 'while :; do :; done' & sleep infinity"
    sample = bench.shell(cells(), THERE, endless, forever=True, time_limit=40)
    check(sample, "time", "timed_out")
    assert remaining(sample) == []
