"""Numbers of puncta of matched nuclei, most of which have none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.metrics.completion import concordance_at_worst
from scorers.metrics.points import f1_score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorers.metrics.points import Pairs

    Values = NDArray[np.float64]


@dataclass(frozen=True)
class Counts:
    """Numbers of puncta of the nuclei of an image, or of several.

    Attributes
    ----------
    known
        Of the reference's nuclei, finite and at least 0, float64, shape (n,).
    own
        Of their partners, shape (n,): at least 0, may be infinite, `nan` where a nucleus has no
        partner or its partner no number.
    extra
        Of predicted nuclei without partner, shape (m,); `nan` where one has no number.
    n_matched
        Number of nuclei with a partner.
    """

    known: Values
    own: Values
    extra: Values
    n_matched: int

    @classmethod
    def of(cls, known: Values, predicted: Values, pairs: Pairs) -> Counts:
        """Order counts by the pairs of a matching; what is below 0 counts as no number."""
        predicted = np.where(predicted >= 0, predicted, np.nan)
        own = np.full(len(known), np.nan)
        own[pairs.reference] = predicted[pairs.predicted]
        return cls(known, own, np.delete(predicted, pairs.predicted), len(pairs))

    @classmethod
    def joined(cls, parts: Sequence[Counts]) -> Counts:
        """Take the nuclei of several images together."""
        return cls(
            np.concatenate([np.zeros(0), *(part.known for part in parts)]),
            np.concatenate([np.zeros(0), *(part.own for part in parts)]),
            np.concatenate([np.zeros(0), *(part.extra for part in parts)]),
            sum(part.n_matched for part in parts),
        )

    @property
    def nucleus_f1(self) -> float:
        """F1 of finding nuclei, in [0, 1], higher better; 1 if there are none on both sides."""
        return f1_score(self.n_matched, len(self.known), self.n_matched + len(self.extra))


def punctate_f1(counts: Counts) -> float:
    """Return F1 of telling nuclei with puncta from those without, in [0, 1], higher better.

    Hits are nuclei with puncta on both sides. A reference nucleus without partner, or whose partner
    has no number, counts as told wrongly whichever it is, so that leaving nuclei out is never
    better than guessing; a predicted nucleus without partner is false if it has puncta. 1 if no
    nucleus has puncta on either side and none is missing.
    """
    punctate, told = counts.known > 0, counts.own > 0
    missing = np.isnan(counts.own)
    hits = int((punctate & told).sum())
    false = int((~punctate & (told | missing)).sum()) + int((counts.extra > 0).sum())
    return f1_score(hits, int(punctate.sum()), hits + false)


def log_concordance(counts: Counts) -> float:
    """Return Lin's concordance of log(1 + number of puncta) over the reference's nuclei.

    The logarithm keeps few nuclei with many puncta from deciding alone. Numbers above twice the
    reference's largest count as that. A nucleus that is missing takes whichever number from 0 to
    there hurts most, see `concordance_at_worst`.

    Returns
    -------
    float
        In [0, 1], higher better; 1 without any nucleus in the reference.
    """
    if not len(counts.known):
        return 1.0
    most = max(2 * float(counts.known.max()), 1.0)
    own = np.log1p(np.minimum(counts.own, most))
    value = concordance_at_worst(own, np.log1p(counts.known), 0.0, float(np.log1p(most)))
    return 1.0 if value is None else value
