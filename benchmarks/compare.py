"""Both sides of a case, in turn, and whether they say the same."""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.measure import ROOT, Run, run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from benchmarks.cases import Case, Shape


@dataclass(frozen=True)
class Outcome:
    """What was measured of one case: medians over runs, and of the ratios within each run."""

    case: str
    plain_seconds: float
    ours_seconds: float
    times_less: float
    plain_cpu_seconds: float
    ours_cpu_seconds: float
    times_less_cpu: float
    plain_mib: float
    ours_mib: float
    runs: int
    equal: int
    unlike: dict[str, tuple[float, float]]
    known_seconds: float
    known_mib: float
    goal: float

    def to_json(self) -> dict[str, Any]:
        """Return all as a mapping."""
        return asdict(self)


@dataclass(frozen=True)
class Growth:
    """What we take for a quarter, a half and the whole of an input.

    `exponent` is the slope of log(CPU seconds) over log(voxels), without what an input of next to
    nothing takes: 1 is linear. None if it is too small to tell.
    """

    case: str
    voxels: list[int]
    cpu_seconds: list[float]
    peak_mib: list[float]
    start_seconds: float
    exponent: float | None

    def to_json(self) -> dict[str, Any]:
        """Return all as a mapping."""
        return asdict(self)


def make(name: str, folder: Path, seed: int, shape: Shape) -> int:
    """Make an input in a process of its own; return the number of its voxels."""
    lengths = map(str, shape)
    command = [sys.executable, "-m", "benchmarks.inputs", name, str(folder), str(seed), *lengths]
    made = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return int(made.stdout)


def ours(folder: Path) -> Run:
    """Grade as the command line does, strict values included, without pictures."""
    return run(
        "scorers", "grade", f"{folder}/task", f"{folder}/submission", "--json", "--no-pictures"
    )


def plain(name: str, folder: Path) -> Run:
    """Score in the plain way."""
    return run("benchmarks.plain", name, f"{folder}/task", f"{folder}/submission")


def compare(name: str, case: Case, folder: Path, runs: int, tell: Callable[[str], None]) -> Outcome:
    """Run both sides in turn, several times."""
    pairs: list[tuple[Run, Run]] = []
    for index in range(runs):
        tell(f"{name}: run {index + 1} of {runs}, plain")
        slow = plain(name, folder)
        tell(f"{name}: run {index + 1} of {runs}, ours")
        pairs.append((slow, ours(folder)))
    wanted, got = pairs[0][0].printed, pairs[0][1].printed["metrics"]
    unlike = {
        key: (value, got.get(key, math.nan))
        for key, value in wanted.items()
        if not abs(value - got.get(key, math.nan)) < 0.5e-4 + 1e-9
    }
    return Outcome(
        case=name,
        plain_seconds=_median([one.seconds for one, _ in pairs]),
        ours_seconds=_median([other.seconds for _, other in pairs]),
        times_less=_median([one.seconds / other.seconds for one, other in pairs]),
        plain_cpu_seconds=_median([one.cpu_seconds for one, _ in pairs]),
        ours_cpu_seconds=_median([other.cpu_seconds for _, other in pairs]),
        times_less_cpu=_median([one.cpu_seconds / other.cpu_seconds for one, other in pairs]),
        plain_mib=max(one.peak_mib for one, _ in pairs),
        ours_mib=max(other.peak_mib for _, other in pairs),
        runs=runs,
        equal=len(wanted) - len(unlike),
        unlike=unlike,
        known_seconds=case.known_seconds,
        known_mib=case.known_mib,
        goal=case.goal,
    )


def growth(
    name: str, folders: Sequence[Path], voxels: Sequence[int], tiny: Path, runs: int
) -> Growth:
    """Measure our side on inputs of growing size."""
    start = statistics.median(ours(tiny).cpu_seconds for _ in range(runs))
    measured = [[ours(folder) for _ in range(runs)] for folder in folders]
    seconds = [_median([one.cpu_seconds for one in row]) for row in measured]
    return Growth(
        case=name,
        voxels=list(voxels),
        cpu_seconds=seconds,
        peak_mib=[max(one.peak_mib for one in row) for row in measured],
        start_seconds=round(start, 3),
        exponent=_slope(voxels, [value - start for value in seconds]),
    )


def _slope(x: Sequence[float], y: Sequence[float]) -> float | None:
    if min(y) <= 0:
        return None
    return statistics.linear_regression(list(map(math.log, x)), list(map(math.log, y))).slope


def _median(values: Sequence[float]) -> float:
    return round(statistics.median(values), 3)
