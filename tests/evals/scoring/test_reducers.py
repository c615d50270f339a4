from __future__ import annotations

import math
from statistics import stdev
from typing import Any

import pytest
from inspect_ai.scorer import Score

from evals.scoring.reducers import spread

NAN = math.nan


def spread_of(*values: Any) -> Any:
    return spread()([Score(value=value) for value in values]).value


def test_the_spread_is_the_sample_standard_deviation_key_by_key() -> None:
    told = spread_of({"a": 0.2, "b": 1}, {"a": 0.6, "b": 1}, {"a": 0.7, "b": 1})
    assert told == pytest.approx({"a": stdev([0.2, 0.6, 0.7]), "b": 0.0})


def test_epochs_without_a_value_are_left_out_of_the_spread() -> None:
    told = spread_of({"a": 0.2}, {"a": NAN}, NAN, {"a": 0.6})
    assert told == pytest.approx({"a": stdev([0.2, 0.6])})


@pytest.mark.parametrize("values", [[{"a": 0.2}], [{"a": 0.2}, {"a": NAN}], [{"a": 0.2}, NAN]])
def test_one_epoch_has_no_spread(values: list[Any]) -> None:
    assert math.isnan(spread_of(*values)["a"])


def test_scores_that_are_plain_have_a_plain_spread() -> None:
    assert spread_of(0.2, NAN, 0.6) == pytest.approx(stdev([0.2, 0.6]))
    assert spread_of("C", "I") == pytest.approx(stdev([1, 0]))
    assert math.isnan(spread_of(NAN, NAN))
