"""What becomes of a sample's epochs, beside their mean: their spread."""

from __future__ import annotations

import math
from statistics import stdev
from typing import TYPE_CHECKING

from inspect_ai.scorer import Score, ScoreReducer, score_reducer, value_to_float

if TYPE_CHECKING:
    from collections.abc import Iterable

_to_float = value_to_float()


@score_reducer
def spread() -> ScoreReducer:
    r"""Sample standard deviation over a sample's epochs, for `--epochs-reducer mean,evals/spread`.

    $s = \sqrt{\frac{1}{n - 1} \sum_e (x_e - \bar x)^2}$, key by key. Epochs that are NaN, as
    refused ones are, are left out. NaN for fewer than two: one run says nothing of its spread.
    """

    def reduce(scores: list[Score]) -> Score:
        tables = [score.value for score in scores if isinstance(score.value, dict)]
        if not tables:
            # Plain values, or nothing but scores that Inspect calls unscored, which are NaN.
            return Score(value=spread_of(_to_float(score.value) for score in scores))
        spreads = {key: spread_of(_to_float(table[key]) for table in tables) for key in tables[0]}
        return Score(value=spreads)

    return reduce


def spread_of(values: Iterable[float]) -> float:
    """Return the sample standard deviation of the values that are known, NaN for fewer than two."""
    known = [value for value in values if not math.isnan(value)]
    return stdev(known) if len(known) > 1 else math.nan
