"""How well the centre lines of two masks lie in one another's mask (clDice)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.metrics.thinning import thin

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from scorers.metrics.packed import PackedMask

    Places = NDArray[np.intp]


@dataclass(frozen=True)
class LineAgreement:
    """Two centre lines, and which of their voxels lie in the other mask.

    Attributes
    ----------
    predicted, reference
        Positions in the flattened mask, ascending, shapes (n,) and (m,).
    right
        Which of `predicted` lie in the reference mask.
    found
        Which of `reference` lie in the predicted mask.
    """

    predicted: Places
    reference: Places
    right: NDArray[np.bool_]
    found: NDArray[np.bool_]

    @property
    def precision(self) -> float:
        """Share of the predicted line in the reference, as published: 0 if either line is empty."""
        return _share(self.right) if len(self.reference) else 0.0

    @property
    def sensitivity(self) -> float:
        """Share of the reference line in the prediction, as published: 0 if either is empty."""
        return _share(self.found) if len(self.predicted) else 0.0

    @property
    def cl_dice(self) -> float:
        """Harmonic mean of the two, in [0, 1] (Shit et al. 2021, CVPR, pp. 16560-16569)."""
        return harmonic_mean(self.precision, self.sensitivity)

    @property
    def bounded_sensitivity(self) -> float:
        """Sensitivity, but at most the right predicted length over the length of the reference.

        A mask so thick that hardly any line is left of it contains every reference line; it has
        not found them.
        """
        if not len(self.reference):
            return 0.0
        length = int(np.count_nonzero(self.right)) / len(self.reference)
        return min(self.sensitivity, length)


def agree(
    prediction: PackedMask, reference: PackedMask, line: Callable[[PackedMask], Places]
) -> LineAgreement:
    """Compare the lines of two masks of equal shape.

    Parameters
    ----------
    prediction, reference
        The masks.
    line
        `skeleton` for the published values, `centre_line` for the strict ones.
    """
    if np.array_equal(prediction.bits, reference.bits):
        predicted = referenced = line(reference)
    else:
        # Most of the work is done outside of the interpreter's lock.
        with ThreadPoolExecutor(2) as pool:
            predicted, referenced = pool.map(line, (prediction, reference))
    return LineAgreement(
        predicted, referenced, reference.holds(predicted), prediction.holds(referenced)
    )


def skeleton(mask: PackedMask) -> Places:
    """Return the positions of scikit-image's `skeletonize(mask)`, all and no others.

    Images are thinned by its default for two axes (Zhang and Suen 1984), cut to what is there;
    volumes by its default for three (Lee et al. 1994), done anew in `thin`.

    Raises
    ------
    ValueError
        The mask has neither two nor three axes.
    """
    if len(mask.shape) == 3:
        planes, rows, columns = mask.shape
        return thin(mask.planes(), (planes, rows, columns), keep_ends=False)
    if len(mask.shape) != 2:
        raise ValueError(f"expected 2 or 3 axes, got the shape {mask.shape}")
    return _flat_skeleton(mask.array())


def centre_line(mask: PackedMask) -> Places:
    """Return centre lines of which no piece of the mask is without; positions, ascending.

    scikit-image's skeletons can lose a line of even width and, in images, diagonal ones.

    Raises
    ------
    ValueError
        The mask has neither two nor three axes.
    """
    if len(mask.shape) not in {2, 3}:
        raise ValueError(f"expected 2 or 3 axes, got the shape {mask.shape}")
    rows, columns = mask.shape[-2:]
    return thin(mask.planes(), (mask.depth, rows, columns), keep_ends=True)


def harmonic_mean(one: float, other: float) -> float:
    """Return the harmonic mean of two numbers of at least 0; 0 if both are."""
    total = one + other
    return 2 * one * other / total if total else 0.0


def _flat_skeleton(mask: NDArray[np.bool_]) -> Places:
    from skimage.morphology import skeletonize

    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return np.zeros(0, np.intp)
    # A pixel is taken off for what its eight neighbours are, so what is empty changes nothing.
    part = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    row, column = np.nonzero(skeletonize(part))  # type: ignore[no-untyped-call]  # no types
    places: Places = (row + rows[0]) * mask.shape[1] + column + columns[0]
    return places


def _share(values: NDArray[np.bool_]) -> float:
    return float(np.mean(values)) if len(values) else 0.0
