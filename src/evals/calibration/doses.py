"""Which items a perturbation hits at a dose: more at a higher one, and those of a lower one too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evals.simulation import stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

DOSES = (0.05, 0.1, 0.2)
WHOLE = 1.0

_ORDER, _VALUES = 0, 1


@dataclass(frozen=True)
class Pick:
    """Chooses items; the same seed and kind choose in the same order at every dose.

    Attributes
    ----------
    seed, kind
        Whole numbers, 0 or larger.
    dose
        Share of the items that is hit, in (0, 1]; at least one item is, if there is any.
    """

    seed: int
    kind: int
    dose: float

    def order(self, n: int) -> NDArray[np.int64]:
        """Return the items that are hit, in the order in which a rising dose comes to them."""
        count = min(n, max(1, round(self.dose * n)))
        return stream(self.seed, self.kind, _ORDER).permutation(n)[:count]

    def hits(self, n: int) -> NDArray[np.bool_]:
        """Return whether each of `n` items is hit."""
        hit = np.zeros(n, bool)
        hit[self.order(n)] = True
        return hit

    def hits_in(self, counts: Sequence[int]) -> list[NDArray[np.bool_]]:
        """Return the same for items that lie in groups of the given sizes."""
        ends = np.cumsum(np.asarray(counts, np.int64))
        total = int(ends[-1]) if len(ends) else 0
        return np.split(self.hits(total), ends[:-1])

    def values(self) -> np.random.Generator:
        """Open a stream of numbers for what is put in the place of what is hit.

        Draw them for all items, so that they do not depend on the dose.
        """
        return stream(self.seed, self.kind, _VALUES)

    def exchange(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return a permutation that exchanges items of unlike values in pairs.

        Partners lie half of all ranks apart. Pairs of equal values are left alone, for exchanging
        them changes nothing. The pairs of a low dose are among those of a high one, so that the
        sum of squared changes rises with the dose.
        """
        ranked = np.argsort(values, kind="stable")
        half = len(values) // 2
        one, other = ranked[:half], ranked[len(values) - half :]
        differ = values[one] != values[other]
        one, other = one[differ], other[differ]
        # Both partners of a pair are items that are hit.
        share = Pick(self.seed, self.kind, min(1.0, self.dose * half / max(1, len(one))))
        pairs = share.order(len(one))
        source = np.arange(len(values))
        source[one[pairs]], source[other[pairs]] = other[pairs], one[pairs]
        return source
