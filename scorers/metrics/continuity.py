"""Whether filaments are whole: broken, joined and invented pieces of a mask of lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Continuity:
    """How the pieces of a predicted image share out the reference's centre lines.

    Attributes
    ----------
    lengths
        Pixels of the centre line of each reference piece, shape (n,).
    covered
        Pixels of it that lie in any predicted piece, shape (n,).
    longest
        Pixels of it that lie in the one predicted piece that holds most, shape (n,).
    parts
        Number of predicted pieces that hold some of it, shape (n,).
    joined
        Number of reference pieces that each predicted piece holds some of, shape (m,).
    unbroken
        Expected share of its own filament that the predicted piece spans in which a pixel of a
        reference centre line lies, in [0, 1]; pixels of longer filaments count for more.
    false
        Number of predicted pieces without a pixel in the reference.
    """

    lengths: NDArray[np.int64]
    covered: NDArray[np.int64]
    longest: NDArray[np.int64]
    parts: NDArray[np.int64]
    joined: NDArray[np.int64]
    unbroken: float
    false: int

    @property
    def separate(self) -> float:
        """Predicted pieces that hold centre line, over reference pieces; at most 1."""
        n = len(self.lengths)
        return min(1.0, np.count_nonzero(self.joined) / n) if n else 1.0

    @property
    def genuine(self) -> float:
        """Reference pieces over themselves and the predicted pieces that lie beside them all."""
        n = len(self.lengths)
        return n / (n + self.false) if n + self.false else 1.0

    @property
    def ratio(self) -> float:
        """The component-count ratio, in [0, 1]: the least of unbroken, separate and genuine.

        Of filaments broken into k equal parts each it is 1 / k, of n joined into one 1 / n, and
        with as many false pieces as true ones 1 / 2: what the smaller over the larger number of
        pieces would be. Unlike that, it never rises when a piece within the reference is removed
        (which can bring a number that is too high closer to the right one).
        """
        return min(self.unbroken, self.separate, self.genuine)


def continuity(
    prediction: NDArray[np.bool_], reference: NDArray[np.bool_], line: NDArray[np.intp]
) -> Continuity:
    """Compare the pieces (8-connected) of two images.

    `unbroken` is the expected run length of connectomics (Januszewski et al. 2018, Nature Methods
    15, 605-610) over that of the reference itself: the sum over pairs of pieces of the squared
    length in common, over the sum of the squared lengths of the reference's.

    Parameters
    ----------
    prediction, reference
        Images of equal shape (rows, columns).
    line
        Positions of the reference's centre lines, of which no piece is without.
    """
    labels_p, n_p = _pieces(prediction)
    labels_g, n_g = _pieces(reference)
    of_p, of_g = labels_p.reshape(-1)[line], labels_g.reshape(-1)[line] - 1
    lengths = np.bincount(of_g, minlength=n_g)
    pairs, common = np.unique(of_g[of_p > 0] * n_p + of_p[of_p > 0] - 1, return_counts=True)
    owner, piece = np.divmod(pairs, max(n_p, 1))
    longest = np.zeros(n_g, np.int64)
    np.maximum.at(longest, owner, common)
    touching = np.unique(labels_p[reference])
    ideal = int((lengths.astype(np.int64) ** 2).sum())
    return Continuity(
        lengths=lengths,
        covered=np.bincount(owner, weights=common, minlength=n_g).astype(np.int64),
        longest=longest,
        parts=np.bincount(owner, minlength=n_g),
        joined=np.bincount(piece, minlength=n_p),
        unbroken=float((common.astype(np.int64) ** 2).sum() / ideal) if ideal else 1.0,
        false=n_p - int(np.count_nonzero(touching)),
    )


def connectedness(prediction: NDArray[np.int64], reference: NDArray[np.int64]) -> float:
    """Return how well what hangs together in a network is found to hang together.

    The harmonic mean of two shares of pairs of reference line voxels: of those that one piece of
    the reference holds, the share that one predicted piece holds, too (with the voxels that no
    predicted piece holds among them; it falls with gaps, and is the `unbroken` of `Continuity`);
    and of those that one predicted piece holds, the share that belongs together (it falls where
    separate vessels are joined). A voxel is paired with itself, too.

    Parameters
    ----------
    prediction, reference
        The piece that each voxel of the reference's centre line lies in on either side, shape (n,);
        negative where it lies in none.

    Returns
    -------
    float
        In [0, 1], higher is better; 1 without voxels, 0 if none of them is found.
    """
    if not len(reference):
        return 1.0
    found = prediction >= 0
    pairs = np.stack([prediction[found], reference[found]])
    common = _squares(np.unique(pairs, axis=1, return_counts=True)[1])
    of_reference = _squares(np.unique(reference, return_counts=True)[1])
    of_prediction = _squares(np.unique(prediction[found], return_counts=True)[1])
    return 2 * common / (of_reference + of_prediction)


def _squares(counts: NDArray[np.int64]) -> float:
    return float((counts.astype(np.float64) ** 2).sum())


def _pieces(mask: NDArray[np.bool_]) -> tuple[NDArray[np.int64], int]:
    from scipy import ndimage

    labels, count = ndimage.label(mask, np.ones((3, 3), bool))
    return labels.astype(np.int64), int(count)
