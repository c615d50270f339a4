"""What the strict values of filaments and of vessels have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.metrics.skeleton import harmonic_mean
from scorers.metrics.stretches import stretches

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorers.contract import Scalar
    from scorers.metrics.skeleton import LineAgreement


@dataclass
class Lengths:
    """Voxels of centre lines, summed over items."""

    predicted: int = 0
    right: int = 0
    reference: int = 0
    found: int = 0

    def add(self, lines: LineAgreement) -> None:
        """Add the lines of one item."""
        self.predicted += len(lines.predicted)
        self.right += int(np.count_nonzero(lines.right))
        self.reference += len(lines.reference)
        self.found += int(np.count_nonzero(lines.found))

    @property
    def cl_dice(self) -> float:
        """The strict clDice of all lines as if they were one item's; 1 if there are none."""
        if not self.predicted or not self.reference:
            return float(self.predicted == self.reference)
        sensitivity = min(self.found, self.right) / self.reference
        return harmonic_mean(self.right / self.predicted, sensitivity)


def strict_cl_dice(lines: LineAgreement) -> float:
    """Return clDice by lines that keep their ends and with bounded sensitivity, in [0, 1].

    1 where neither mask has anything, 0 where only one has. A piece removed that lies within the
    reference never raises it.
    """
    if not len(lines.predicted) or not len(lines.reference):
        return float(len(lines.predicted) == len(lines.reference))
    return harmonic_mean(lines.precision, lines.bounded_sensitivity)


def stretch_rows(
    item: str, lines: LineAgreement, shape: Sequence[int], edge: float
) -> Iterator[dict[str, Scalar]]:
    """Yield a row for each stretch of centre line that only one of the masks has.

    Parameters
    ----------
    item
        Name of the item.
    lines
        Both centre lines.
    shape
        Of the mask that the lines are positions of.
    edge
        Edge of its voxels; lengths (voxels along the line) and centres come in its unit.
    """
    sides = (
        ("reference", "miss", lines.reference[~lines.found]),
        ("prediction", "false hit", lines.predicted[~lines.right]),
    )
    names = ("z", "y", "x")[-len(shape) :]
    for side, kind, places in sides:
        found = stretches(places, shape)
        pairs = zip(found.lengths.tolist(), found.centres.tolist(), strict=True)
        for label, (length, centre) in enumerate(pairs, start=1):
            where = {name: round(at * edge, 3) for name, at in zip(names, centre, strict=True)}
            yield {
                "item": item,
                "side": side,
                "label": label,
                "kind": kind,
                "length": round(length * edge, 3),
                **where,
            }
