"""What the rubric expects of conditions: which differ significantly, which is the greater."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorers.errors import CapsuleFault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scorers.contract import Job
    from scorers.graders.golgi_tables import Pair


@dataclass(frozen=True)
class Comparison:
    """Two conditions that ought to differ significantly at `alpha`, or not."""

    left: str
    right: str
    significant: bool
    alpha: float

    @property
    def label(self) -> str:
        """As it is told."""
        return f"{self.left} vs {self.right}"

    def passed(self, p: float | None) -> bool:
        """Return whether a p-value is as expected; an unknown one never is, `nan` is no effect."""
        return p is not None and (p < self.alpha) == self.significant


def comparisons(job: Job) -> list[Comparison]:
    """Return the comparisons of the rubric, or raise `CapsuleFault` if it has none."""
    rows = _mappings(job, "comparisons", ("left", "right"))
    if not rows:
        raise CapsuleFault(
            "evaluation_rubric.yaml: metric_config.comparisons: expected a list of pairs of "
            "conditions (left, right, expect_significant, alpha), got nothing; write at least one"
        )
    found = []
    for row in rows:
        alpha = row.get("alpha", 0.05)
        if isinstance(alpha, bool) or not isinstance(alpha, float | int):
            raise CapsuleFault(
                "evaluation_rubric.yaml: metric_config.comparisons: alpha: expected a number, got "
                f"{alpha!r}"
            )
        found.append(
            Comparison(
                str(row["left"]), str(row["right"]), bool(row.get("expect_significant")), alpha
            )
        )
    return found


def orderings(job: Job) -> list[Pair]:
    """Return the pairs (greater, less) of conditions that the rubric expects of medians."""
    rows = _mappings(job, "expect_greater", ("greater", "less"))
    return [(str(row["greater"]), str(row["less"])) for row in rows]


def _mappings(job: Job, name: str, keys: tuple[str, str]) -> list[Mapping[str, object]]:
    rows = job.rubric.metric_config.get(name) or []
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and all(str(row.get(key) or "").strip() for key in keys)
        for row in rows
    ):
        raise CapsuleFault(
            f"evaluation_rubric.yaml: metric_config.{name}: expected a list of mappings with the "
            f"keys {' and '.join(keys)}, got {rows!r}"
        )
    return rows
