"""The size of the output over time, as the watchdog measures it."""

from __future__ import annotations

from inspect_ai.util import StoreModel
from pydantic import Field

MOST_LOOKS = 100


class OutputGrowth(StoreModel):
    """Looks at the output, evenly thinned: whenever there are too many, every other one goes.

    Attributes:
        looks: Pairs of a moment (seconds since 1970) and a size in bytes.
        stride: Of how many looks one is kept.
        taken: Looks so far.
    """

    looks: list[list[float]] = Field(default_factory=list)
    stride: int = 1
    taken: int = 0

    def note(self, when_s: float, size_bytes: int) -> None:
        """Keep a look, or not."""
        if self.taken % self.stride == 0:
            looks = [*self.looks, [round(when_s, 3), float(size_bytes)]]
            if len(looks) > MOST_LOOKS:
                looks, self.stride = looks[::2], self.stride * 2
            self.looks = looks
        self.taken += 1
