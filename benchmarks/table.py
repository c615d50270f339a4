"""What was measured as tables in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.cases import GOAL_MIB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.compare import Growth, Outcome


def outcome_table(outcomes: Sequence[Outcome]) -> str:
    """Return the table of both sides."""
    rows = [
        (
            row.case,
            f"{row.plain_seconds:.1f}",
            f"{row.ours_seconds:.2f}",
            f"{row.times_less:.1f} (goal {row.goal:g})",
            f"{row.plain_cpu_seconds:.1f}",
            f"{row.ours_cpu_seconds:.2f}",
            f"{row.times_less_cpu:.1f}",
            f"{row.plain_mib:.0f}",
            f"{row.ours_mib:.0f}" + (f" (goal {GOAL_MIB})" if row.case != "vessels" else ""),
            f"{row.known_seconds:g} s, {row.known_mib:.0f} MiB",
            f"{row.equal} of {row.equal + len(row.unlike)}",
        )
        for row in outcomes
    ]
    heads = (
        "case",
        "plain, s",
        "ours, s",
        "times less",
        "plain CPU, s",
        "ours CPU, s",
        "times less CPU",
        "plain peak, MiB",
        "ours peak, MiB",
        "the original",
        "equal numbers",
    )
    return _table(heads, rows)


def growth_table(growths: Sequence[Growth]) -> str:
    """Return the table of our cost against the size of the input."""
    rows = [
        (
            row.case,
            ", ".join(f"{count / 1e6:.1f}" for count in row.voxels),
            ", ".join(f"{seconds:.2f}" for seconds in row.cpu_seconds),
            f"{row.start_seconds:.2f}",
            ", ".join(f"{peak:.0f}" for peak in row.peak_mib),
            "too small" if row.exponent is None else f"{row.exponent:.2f}",
        )
        for row in growths
    ]
    heads = (
        "case",
        "million voxels",
        "CPU, s",
        "of it to start, s",
        "peak, MiB",
        "CPU grows as voxels to the power of",
    )
    return _table(heads, rows) if rows else ""


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = [heads, ["-" * width for width in widths], *rows]
    return "\n".join(
        "| "
        + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        + " |"
        for line in lines
    )
