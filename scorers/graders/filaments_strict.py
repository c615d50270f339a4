"""The strict value of filaments: whether each is found whole, and nothing beside them.

`strict_cl_dice_components`, in [0, 1], higher is better, is for each image clDice times the
component-count ratio, and their mean over all images.

* clDice is that of `strict_cl_dice`: by centre lines that keep their ends, where the published
  skeletons lose filaments of even width and diagonal ones (a perfect copy then gets 0), and with a
  sensitivity bounded by length, where the published one takes a filled image for a good answer.
* The ratio is that of `Continuity`: the least of how unbroken, how separate and how genuine the
  pieces are. One gap of two pixels halves it and leaves Dice at 0.99.

A missing or unreadable mask or one of another shape counts as 0, nothing drawn where nothing is as
1. A pixel is the unit throughout, as the images have no scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorers.graders.line_strict import Lengths, stretch_rows, strict_cl_dice
from scorers.graders.mask_pairs import REFERENCE_UNREADABLE, SCORED, mean
from scorers.metrics.continuity import Continuity, continuity
from scorers.metrics.skeleton import LineAgreement, agree, centre_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorers.contract import Result, Scalar
    from scorers.graders.mask_pairs import Comparison, Target


@dataclass(frozen=True)
class Verdict:
    """The strict view of one image; no lines and pieces where the reference cannot be read.

    Attributes
    ----------
    scored
        Whether there was a mask to compare.
    shape
        Of the image.
    n_predicted
        Number of predicted pieces.
    """

    target: Target
    scored: bool
    shape: tuple[int, ...]
    lines: LineAgreement | None
    pieces: Continuity | None
    n_predicted: int

    @property
    def cl_dice(self) -> float:
        """Strict clDice, 0 unless scored."""
        return strict_cl_dice(self.lines) if self.scored and self.lines else 0.0

    @property
    def ratio(self) -> float:
        """Component-count ratio, 0 unless scored."""
        return self.pieces.ratio if self.scored and self.pieces else 0.0

    @property
    def score(self) -> float:
        """Their product."""
        return self.cl_dice * self.ratio

    def row(self) -> dict[str, Scalar]:
        """Return what the item's row says of it."""
        pieces = self.pieces
        return {
            "strict_cl_dice_components": round(self.score, 6),
            "strict_cl_dice": round(self.cl_dice, 6),
            "strict_component_ratio": round(self.ratio, 6),
            "reference_pieces": len(pieces.lengths) if pieces else None,
            "predicted_pieces": self.n_predicted if self.scored else None,
            "breaks": _breaks(pieces) if pieces else None,
            "joins": _joins(pieces) if pieces else None,
            "false_pieces": pieces.false if pieces else None,
        }


def judge(comparison: Comparison) -> Verdict:
    """Return the strict view of a comparison."""
    prediction, reference = comparison.prediction, comparison.reference
    if comparison.status == REFERENCE_UNREADABLE or prediction is None or reference is None:
        return Verdict(comparison.target, False, (0, 0), None, None, 0)
    lines = agree(prediction, reference, centre_line)
    pieces = continuity(prediction.array(), reference.array(), lines.reference)
    scored = comparison.status == SCORED
    n_predicted = len(pieces.joined)
    return Verdict(comparison.target, scored, reference.shape, lines, pieces, n_predicted)


def summarise(verdicts: Sequence[Verdict], unpaired: int, result: Result) -> None:
    """Add the strict value and its metrics to a result."""
    judged = [(v, v.lines, v.pieces) for v in verdicts if v.lines and v.pieces]
    if not judged:
        return
    lengths = Lengths()
    for _, lines, _ in judged:
        lengths.add(lines)
    result.strict = mean([verdict.score for verdict in verdicts])
    result.strict_metrics = {
        "strict_cl_dice_components": result.strict,
        "strict_n": len(verdicts),
        "strict_cl_dice": mean([verdict.cl_dice for verdict in verdicts]),
        "strict_component_ratio": mean([verdict.ratio for verdict in verdicts]),
        "strict_unbroken": mean([p.unbroken if v.scored else 0.0 for v, _, p in judged]),
        "strict_separate": mean([p.separate if v.scored else 0.0 for v, _, p in judged]),
        "strict_genuine": mean([p.genuine if v.scored else 0.0 for v, _, p in judged]),
        "strict_cl_dice_pooled": round(lengths.cl_dice, 6),
        "strict_pooled_n": lengths.reference,
        "strict_reference_pieces": sum(len(p.lengths) for _, _, p in judged),
        "strict_predicted_pieces": sum(v.n_predicted for v, _, _ in judged),
        "strict_breaks": sum(_breaks(p) for _, _, p in judged),
        "strict_joins": sum(_joins(p) for _, _, p in judged),
        "strict_misses": sum(int((p.parts == 0).sum()) for _, _, p in judged),
        "strict_false_pieces": sum(p.false for _, _, p in judged),
        "strict_unpaired_files": unpaired,
    }


def object_rows(verdicts: Sequence[Verdict]) -> Iterator[dict[str, Scalar]]:
    """Yield a row for each reference piece and for each stretch that only one side has."""
    for verdict in verdicts:
        if verdict.lines is None or verdict.pieces is None:
            continue
        item, pieces = verdict.target.item, verdict.pieces
        columns = (pieces.lengths, pieces.covered, pieces.longest, pieces.parts)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for label, (length, covered, longest, parts) in enumerate(rows, start=1):
            yield {
                "item": item,
                "side": "reference",
                "label": label,
                "kind": _kind(parts),
                "length": length,
                "covered": covered,
                "longest_part": longest,
                "parts": parts,
                "y": None,
                "x": None,
            }
        for row in stretch_rows(item, verdict.lines, verdict.shape, 1.0):
            nothing = {"covered": None, "longest_part": None, "parts": None}
            yield {**row, "kind": f"{row['kind']} stretch", **nothing}


def _kind(parts: int) -> str:
    return "miss" if not parts else "hit" if parts == 1 else "split"


def _breaks(pieces: Continuity) -> int:
    """Return by how many the parts of found reference pieces exceed one each."""
    return int(np.maximum(pieces.parts - 1, 0).sum())


def _joins(pieces: Continuity) -> int:
    """Return by how many the reference pieces of predicted ones exceed one each."""
    return int(np.maximum(pieces.joined - 1, 0).sum())
