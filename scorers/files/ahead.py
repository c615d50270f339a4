"""Reading the next plane while the last one is worked on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

Item = TypeVar("Item")


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the same items, each made by a thread while its user has the one before it.

    Decoding and arithmetic on planes leave the interpreter to others, so both go on at once. One
    item is waiting at most. What making an item raises is raised where it would have been yielded.
    """
    end: Any = object()
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, end)
        while (item := coming.result()) is not end:
            coming = pool.submit(next, items, end)
            yield cast("Item", item)
