"""Lists of a report, which a submission may make long, cut where their room is used up."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

Entry = TypeVar("Entry")


class Listing:
    """Takes entries of lists as long as there is room.

    Parameters
    ----------
    room
        Bytes that all entries may have as JSON.

    Attributes
    ----------
    left_out
        How many entries found no room.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self.left_out = 0

    def take(self, entries: Iterable[Entry]) -> list[Entry]:
        """Return the first entries, as many as there is room for."""
        taken: list[Entry] = []
        for entry in entries:
            if self._room >= 0:
                self._room -= len(json.dumps(entry))
            if self._room < 0:
                self.left_out += 1
            else:
                taken.append(entry)
        return taken
