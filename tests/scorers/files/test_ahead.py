from collections.abc import Iterator

import pytest

from scorers.files.ahead import ahead


def test_items_come_in_their_order() -> None:
    assert list(ahead(iter(range(20)))) == list(range(20))


def test_nothing_comes_of_nothing() -> None:
    assert list(ahead(iter(()))) == []


def test_what_goes_wrong_is_raised_after_the_items_before_it() -> None:
    def items() -> Iterator[int]:
        yield 1
        yield 2
        raise ValueError("broken")

    coming = ahead(items())
    assert [next(coming), next(coming)] == [1, 2]
    with pytest.raises(ValueError, match="broken"):
        next(coming)


def test_no_more_than_one_item_is_made_before_it_is_wanted() -> None:
    made = []

    def items() -> Iterator[int]:
        for index in range(10):
            made.append(index)
            yield index

    coming = ahead(items())
    next(coming)
    coming.close()  # type: ignore[attr-defined]  # a generator

    assert made == [0, 1]
