"""What decides the content of a synthetic edition, beside its sources."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Literal

from evals.data.salt import user_salt

Scale = Literal["quick", "standard", "paper"]
Dims = Literal["2d", "3d", "2dt", "3dt"]
Biology = Literal["canonical", "randomised"]

_ENTROPY_BYTES = 7  # below 2**63, which is what readers of JSON keep exactly


@dataclass(frozen=True)
class Recipe:
    """How to make one instance of each task.

    Attributes:
        seed: The instance's number, as its user gives it.
        difficulty: 0 (easy) to 1 (hard).
        scale: Size.
        dims: The lower-dimensional sibling to make instead of the task, None for the task.
        biology: Whether effects are the published ones or drawn anew.
        salt: A secret that is mixed into the seed, so that nobody else can make the instance; the
            user's own by default.
    """

    seed: int = 0
    difficulty: float = 0.5
    scale: Scale = "quick"
    dims: Dims | None = None
    biology: Biology = "canonical"
    salt: str = field(default_factory=user_salt, repr=False)

    @property
    def entropy(self) -> int:
        """The number that simulators start from: the seed itself, or the seed and the salt."""
        if not self.salt:
            return self.seed
        digest = hashlib.sha256(f"{self.salt}\0{self.seed}".encode()).digest()
        return int.from_bytes(digest[:_ENTROPY_BYTES], "big")

    def options(self) -> dict[str, Any]:
        """Return the keyword arguments of `simulate`; the salt itself is none of them."""
        return {
            "seed": self.entropy,
            "difficulty": self.difficulty,
            "scale": self.scale,
            "dims": self.dims,
            "biology": self.biology,
        }
