import pytest

from scorers.files.limits import Limits


def test_each_limit_can_be_set_apart() -> None:
    assert Limits().with_values({"rows": 5}) == Limits(rows=5)


def test_an_unknown_limit_is_told_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown limit 'row'; known: .*\brows\b"):
        Limits().with_values({"row": 5})


@pytest.mark.parametrize("value", [0, -1, True, 1.5])
def test_a_limit_is_a_whole_number_above_zero(value: int) -> None:
    with pytest.raises(ValueError, match="limit 'rows' must be a whole number above 0"):
        Limits(rows=value)


def test_narrow_limits_on_submissions_do_not_bind_references() -> None:
    limits = Limits(rows=5, pages=10**9)

    assert limits.for_references() == Limits(pages=10**9)


def test_one_array_is_bounded_by_the_memory_of_the_process() -> None:
    assert Limits(array_bytes=100, memory_bytes=400).at_once == 50
    assert Limits(array_bytes=10, memory_bytes=400).at_once == 10
