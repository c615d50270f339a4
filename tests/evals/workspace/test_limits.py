"""An agent that goes too far ends by a recorded limit, and what lies there is graded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.docker, pytest.mark.slow]

TWO_OF_FOUR = "printf 'X,Y\\n1,1\\n2,2\\n' > /workspace/output/a.csv"


def check(sample: Any, kind: str, left: list[str]) -> None:
    assert sample.error is None
    assert sample.limit is not None
    assert sample.limit.type == kind
    assert sample.scores["grade"].value["outcome"] == 0.5
    assert left == []


def test_a_fork_bomb_ends_the_agent_and_what_is_there_is_graded(
    bench: Any, cells: Callable[..., Path], remaining: Callable[..., list[str]]
) -> None:
    bomb = "bomb() { bomb | bomb & }; bomb"
    sample = bench.shell(
        cells(), TWO_OF_FOUR, bomb, forever=True, process_limit=128, time_limit=240
    )
    check(sample, "custom", remaining(sample))
    assert "processes" in sample.limit.reason


def test_an_output_over_its_limit_ends_the_agent_and_what_is_there_is_graded(
    bench: Any, cells: Callable[..., Path], remaining: Callable[..., list[str]]
) -> None:
    flood = "cd /workspace/output; i=0; while :; do i=$((i+1)); head -c 20M /dev/zero > $i; done"
    sample = bench.shell(
        cells(), TWO_OF_FOUR, flood, forever=True, output_limit=100 * 10**6, time_limit=240
    )
    check(sample, "custom", remaining(sample))
    assert "100,000,000" in sample.limit.reason


def test_an_endless_process_ends_by_the_time_limit_and_what_is_there_is_graded(
    bench: Any, cells: Callable[..., Path], remaining: Callable[..., list[str]]
) -> None:
    endless = "nohup sh -c 'while :; do :; done' & sleep infinity"
    sample = bench.shell(cells(), TWO_OF_FOUR, endless, forever=True, time_limit=40)
    check(sample, "time", remaining(sample))
