"""The strict value of vessels: whether the network is found, whatever the width of its walls.

`strict_cl_dice_connected`, in [0, 1], higher is better, is for each volume the geometric mean of
clDice and of how connected the network is found (`connectedness`), both on cubes, and their mean
over all volumes. clDice alone hardly sees gaps: one through every tenth vessel costs it 0.01.

* Voxels are resampled to cubes first, so that a stretch of vessel counts for its length and not for
  the axis it runs along. Without a known voxel size they are taken for cubes.
* Centre lines keep their ends: scikit-image's skeleton of a tube of even width along an axis can be
  empty, and a perfect copy then gets the published clDice 0.
* Sensitivity is bounded by length, so that a filled volume finds nothing.

A missing or unreadable mask or one of another shape counts as 0, nothing drawn where nothing is as
1. Beside it: the mean absolute errors of the Betti numbers b0 (pieces), b1 (loops) and b2 (hollows)
of the masks as they were submitted, where a mask that is not there has nothing of each.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorers.graders.line_strict import Lengths, stretch_rows, strict_cl_dice
from scorers.graders.mask_pairs import REFERENCE_UNREADABLE, SCORED, mean
from scorers.metrics.continuity import connectedness
from scorers.metrics.resampling import cube_edge, isotropic
from scorers.metrics.skeleton import LineAgreement, agree, centre_line
from scorers.metrics.topology import Betti, betti, pieces_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Sized

    import numpy as np
    from numpy.typing import NDArray

    from scorers.contract import Result, Scalar
    from scorers.graders.mask_pairs import Comparison, Target
    from scorers.graders.spacing import Spacing
    from scorers.metrics.packed import PackedMask


@dataclass(frozen=True)
class Verdict:
    """The strict view of one volume; no lines where the reference cannot be read.

    Attributes
    ----------
    scored
        Whether there was a mask to compare.
    original, shape
        Of the volume in voxels, and of that in cubes of which the lines are positions.
    edge
        Of a cube in µm, None where the size of a voxel is not known.
    connected
        How connected the reference's network is found, in [0, 1].
    predicted, reference
        Betti numbers; None for a mask too fragmented to count.
    """

    target: Target
    scored: bool
    original: tuple[int, ...]
    shape: tuple[int, ...]
    edge: float | None
    lines: LineAgreement | None
    connected: float
    predicted: Betti | None
    reference: Betti | None

    @property
    def cl_dice(self) -> float:
        """Strict clDice, 0 unless scored."""
        return strict_cl_dice(self.lines) if self.scored and self.lines else 0.0

    @property
    def score(self) -> float:
        """Geometric mean of clDice and connectedness."""
        return math.sqrt(self.cl_dice * self.connected)

    @property
    def betti_errors(self) -> tuple[int, int, int] | None:
        """Absolute differences in pieces, loops and hollows."""
        one, other = self.predicted, self.reference
        if one is None or other is None:
            return None
        return (
            abs(one.pieces - other.pieces),
            abs(one.tunnels - other.tunnels),
            abs(one.cavities - other.cavities),
        )

    def row(self) -> dict[str, Scalar]:
        """Return what the item's row says of it."""
        one, other = self.predicted, self.reference
        return {
            "strict_cl_dice_connected": round(self.score, 6),
            "strict_cl_dice": round(self.cl_dice, 6),
            "strict_connected": round(self.connected, 6),
            "reference_pieces": other.pieces if other else None,
            "predicted_pieces": one.pieces if one else None,
            "reference_loops": other.tunnels if other else None,
            "predicted_loops": one.tunnels if one else None,
            "reference_hollows": other.cavities if other else None,
            "predicted_hollows": one.cavities if one else None,
            "reference_length_um": self._length(self.lines.reference if self.lines else None),
            "predicted_length_um": self._length(self.lines.predicted if self.lines else None),
        }

    def _length(self, line: Sized | None) -> float | None:
        if line is None or self.edge is None:
            return None
        return round(len(line) * self.edge, 3)


def judge(comparison: Comparison, spacing: Spacing | None) -> Verdict:
    """Return the strict view of a comparison."""
    prediction, reference = comparison.prediction, comparison.reference
    if comparison.status == REFERENCE_UNREADABLE or prediction is None or reference is None:
        return Verdict(comparison.target, False, (), (), None, None, 0.0, None, None)
    cubes = [isotropic(mask, spacing or (1.0, 1.0, 1.0)) for mask in (prediction, reference)]
    with ThreadPoolExecutor(2) as pool:
        of_prediction, of_reference = pool.map(betti, (prediction, reference))
    lines = agree(cubes[0], cubes[1], centre_line)
    scored = comparison.status == SCORED
    return Verdict(
        target=comparison.target,
        scored=scored,
        original=reference.shape,
        shape=cubes[1].shape,
        edge=cube_edge(spacing) if spacing else None,
        lines=lines,
        connected=_connected(cubes[0], cubes[1], lines.reference) if scored else 0.0,
        predicted=of_prediction,
        reference=of_reference,
    )


def _connected(prediction: PackedMask, reference: PackedMask, line: NDArray[np.intp]) -> float:
    """Return how connected the reference's line is found; 0 for a mask that is mere noise."""
    of_prediction, of_reference = pieces_at(prediction, line), pieces_at(reference, line)
    if of_prediction is None or of_reference is None:
        return 0.0
    return connectedness(of_prediction, of_reference)


def summarise(verdicts: Sequence[Verdict], unpaired: int, result: Result) -> None:
    """Add the strict value and its metrics to a result."""
    judged = [(verdict, verdict.lines) for verdict in verdicts if verdict.lines]
    if not judged:
        return
    lengths = Lengths()
    for _, lines in judged:
        lengths.add(lines)
    errors = [v.betti_errors for v in verdicts if v.betti_errors is not None]
    edge = judged[0][0].edge
    result.strict = mean([verdict.score for verdict in verdicts])
    result.strict_metrics = {
        "strict_cl_dice_connected": result.strict,
        "strict_n": len(verdicts),
        "strict_cl_dice": mean([verdict.cl_dice for verdict in verdicts]),
        "strict_connected": mean([verdict.connected for verdict in verdicts]),
        "strict_cl_dice_pooled": round(lengths.cl_dice, 6),
        "strict_pooled_n": lengths.reference,
        "strict_t_prec": mean([_precision(verdict) for verdict in verdicts]),
        "strict_t_sens": mean([_sensitivity(verdict) for verdict in verdicts]),
        **{
            f"strict_betti_{index}_error": mean([e[index] for e in errors]) if errors else None
            for index in range(3)
        },
        "strict_betti_n": len(errors),
        "strict_cube_edge_um": edge,
        "strict_reference_length_um": _um(lengths.reference, edge),
        "strict_missed_length_um": _um(lengths.reference - lengths.found, edge),
        "strict_false_length_um": _um(lengths.predicted - lengths.right, edge),
        "strict_unpaired_files": unpaired,
    }


def object_rows(verdicts: Sequence[Verdict]) -> Iterator[dict[str, Scalar]]:
    """Yield a row for each stretch of vessel that only one side has.

    Lengths and places are in µm, in voxels where the size of a voxel is not known.
    """
    for verdict in verdicts:
        if verdict.lines is not None:
            unit = "voxel" if verdict.edge is None else "µm"
            edge = verdict.edge or 1.0
            for row in stretch_rows(verdict.target.item, verdict.lines, verdict.shape, edge):
                yield row | {"unit": unit}


def _precision(verdict: Verdict) -> float:
    return verdict.lines.precision if verdict.scored and verdict.lines else 0.0


def _sensitivity(verdict: Verdict) -> float:
    return verdict.lines.bounded_sensitivity if verdict.scored and verdict.lines else 0.0


def _um(length: int, edge: float | None) -> float | None:
    return None if edge is None else round(length * edge, 3)
