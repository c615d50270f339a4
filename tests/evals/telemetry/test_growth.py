from __future__ import annotations

from itertools import pairwise

from inspect_ai.util import Store

from evals.telemetry.growth import MOST_LOOKS, OutputGrowth


def growth_after(looks: int) -> OutputGrowth:
    growth = OutputGrowth(store=Store())
    for index in range(looks):
        growth.note(float(index), index * 10)
    return growth


def test_few_looks_are_all_kept() -> None:
    assert growth_after(3).looks == [[0.0, 0.0], [1.0, 10.0], [2.0, 20.0]]


def test_many_looks_are_thinned_evenly() -> None:
    looks = growth_after(1000).looks
    assert MOST_LOOKS / 2 <= len(looks) <= MOST_LOOKS
    steps = {after[0] - before[0] for before, after in pairwise(looks)}
    assert steps == {16.0}
    assert looks[0] == [0.0, 0.0]
