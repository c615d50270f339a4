"""What is measured: tasks, sizes, and what is known of the original."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Size = Literal["small", "paper"]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """One kind of input.

    Attributes
    ----------
    task_id
        Whose specification and rubric are used.
    paper, small
        Lengths of the axes; the first counts images, volumes or frames.
    grows
        Which axis is cut to a half and a quarter to see how the cost grows.
    known_seconds, known_mib
        What the original takes for the paper's size on two cores.
    goal
        How many times less time is wanted.
    """

    task_id: str
    paper: Shape
    small: Shape
    grows: int
    known_seconds: float
    known_mib: float
    goal: float

    def shape(self, size: Size) -> Shape:
        """Return the lengths for a size."""
        return self.paper if size == "paper" else self.small

    def parts(self, size: Size) -> list[Shape]:
        """Return the lengths of a quarter, a half and the whole."""
        whole = self.shape(size)
        return [
            tuple(max(1, n // cut) if axis == self.grows else n for axis, n in enumerate(whole))
            for cut in (4, 2, 1)
        ]


CASES = {
    "compartments": Case(
        "fluo-helacytonuc-cell-segmentation", (265, 520, 696), (8, 520, 696), 0, 36, 140, 8
    ),
    "volumes": Case(
        "3d-fluo-cell-segmentation-lateral-line-idr0079",
        (3, 120, 1024, 1590),
        (1, 24, 256, 400),
        1,
        89,
        11.6 * 1024,
        8,
    ),
    "tracking": Case(
        "phase-contrast-bacteria-tracking-toiam",
        (800, 938, 1094),
        (40, 469, 547),
        0,
        38,
        1.7 * 1024,
        8,
    ),
    "vessels": Case(
        "3d-light-sheet-brain-vessels", (1, 500, 500, 500), (1, 100, 100, 100), 1, 22, 1024, 2
    ),
}
# Peak that the first three must stay below.
GOAL_MIB = 600
