"""How far a simulator has come, told to whoever started it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Item = TypeVar("Item")

DESCRIPTOR = "EVALS_PROGRESS_FD"


def tracked(items: Sequence[Item]) -> Iterator[Item]:
    """Yield the items of a simulator's outer loop and tell how many of them are done.

    Each step is one line `done total` on the file descriptor that the environment variable
    `EVALS_PROGRESS_FD` names; without it nothing is told.

    Parameters
    ----------
    items
        What the loop goes over: images, planes, frames.
    """
    for done, item in enumerate(items):
        _tell(done, len(items))
        yield item
    _tell(len(items), len(items))


def _tell(done: int, total: int) -> None:
    descriptor = os.environ.get(DESCRIPTOR, "")
    if descriptor.isdecimal():
        os.write(int(descriptor), f"{done} {total}\n".encode())
