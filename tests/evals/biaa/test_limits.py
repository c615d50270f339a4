from __future__ import annotations

from typing import Any

import pytest

from evals.biaa.limits import checked_limits
from evals.options import OptionInvalidError
from evals.workspace.compose import DEFAULT_OUTPUT_LIMIT

NONE: dict[str, Any] = {
    "time_limit": None,
    "token_limit": None,
    "cost_limit": None,
    "message_limit": None,
    "output_limit": DEFAULT_OUTPUT_LIMIT,
}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"time_limit": 1799}, "Option time_limit: expected a whole number of at least 1800"),
        ({"token_limit": "many"}, "Option token_limit: expected a whole number of at least 1"),
        ({"token_limit": 0}, "Option token_limit: expected a whole number of at least 1, got 0"),
        ({"message_limit": 2.5}, "Option message_limit: expected a whole number"),
        ({"cost_limit": 0}, "Option cost_limit: expected a number above 0, got 0"),
        ({"cost_limit": "$3"}, "Option cost_limit: expected a number above 0"),
        ({"output_limit": "20 gallons"}, "Option output_limit: expected bytes, as a number or"),
        ({"output_limit": True}, "Option output_limit: expected bytes"),
        ({"output_limit": "20k"}, "Option output_limit: expected at least 1,000,000 bytes"),
    ],
)
def test_a_wrong_limit_is_told_with_what_was_expected(given: dict[str, Any], expected: str) -> None:
    with pytest.raises(OptionInvalidError) as caught:
        checked_limits(**{**NONE, **given})
    assert expected in str(caught.value)
    assert "Mend:" in str(caught.value)


@pytest.mark.parametrize(
    ("told", "size"),
    [
        (3_000_000, 3_000_000),
        ("3000000", 3_000_000),
        ("20GiB", 20 * 2**30),
        ("1.5 gb", 1_500_000_000),
        ("500M", 500_000_000),
        ("64 MiB", 64 * 2**20),
    ],
)
def test_a_size_is_a_number_or_has_a_unit(told: int | str, size: int) -> None:
    assert checked_limits(**{**NONE, "output_limit": told}).output_bytes == size


def test_null_is_no_limit() -> None:
    assert set(checked_limits(**NONE).inspect.values()) == {None}
