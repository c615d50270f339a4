"""Grading many submissions over processes: JSON lines in, JSON lines out in the same order."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorers.confinement import exhausted, limit_memory
from scorers.errors import CapsuleFault
from scorers.pool import Lost, run_many
from scorers.show import progress

if TYPE_CHECKING:
    from scorers.files.limits import Limits

GRADED, INTERNAL, USAGE, BROKEN = 0, 1, 2, 3


@dataclass(frozen=True)
class Pair:
    """One line: which submission to grade against which capsule."""

    task_dir: str
    submission_dir: str
    limits: Limits
    draws: bool


def grade_many(pairs_file: Path, *, processes: int, limits: Limits, draws: bool = True) -> int:
    """Grade all pairs of a file and print one JSON object for each; return the exit code.

    A pair that cannot be graded for a fault of ours gets a line with `fault`; the others go on.
    """
    try:
        pairs = _read(pairs_file, limits, draws=draws)
    except (OSError, ValueError) as fault:
        print(f"scorers grade --many: {fault}", file=sys.stderr)
        return USAGE
    done: dict[int, dict[str, Any]] = {}
    following, worst = 0, GRADED
    with progress(len(pairs)) as advance:
        results = run_many(
            _grade, pairs, processes=min(processes, len(pairs) or 1), seconds=limits.seconds
        )
        for index, (code, line) in ((at, _coded(result)) for at, result in results):
            worst = INTERNAL if INTERNAL in {worst, code} else max(worst, code)
            pair = pairs[index]
            done[index] = {"task_dir": pair.task_dir, "submission_dir": pair.submission_dir} | line
            while following in done:
                print(json.dumps(done.pop(following), allow_nan=False), flush=True)
                following += 1
            advance()
    return worst


def _grade(pair: Pair) -> tuple[int, dict[str, Any]]:
    limit_memory(pair.limits)
    from scorers.grading import grade

    logging.getLogger("tifffile").setLevel(logging.CRITICAL)
    try:
        verdict = grade(
            Path(pair.task_dir), Path(pair.submission_dir), pair.limits, draws=pair.draws
        )
    except (CapsuleFault, NotADirectoryError) as fault:
        return BROKEN, {"fault": str(fault)}
    except MemoryError:
        return INTERNAL, {"fault": exhausted(pair.limits)}
    except Exception as fault:  # one pair never stops the others; the line tells it
        traceback.print_exc()
        return INTERNAL, {"fault": f"{type(fault).__name__}: {fault}"}
    if verdict.outcome is None:
        return BROKEN, verdict.to_json() | {"fault": verdict.error}
    return GRADED, verdict.to_json()


def _coded(result: Any) -> tuple[int, dict[str, Any]]:
    if isinstance(result, Lost):
        return INTERNAL, {"fault": result.reason}
    code, line = result
    return code, line


def _read(path: Path, limits: Limits, *, draws: bool) -> list[Pair]:
    pairs: list[Pair] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            folders = str(entry["task_dir"]), str(entry["submission_dir"])
            pairs.append(Pair(*folders, limits, draws))
        except (ValueError, KeyError, TypeError) as fault:
            raise ValueError(
                f'{path}, line {number}: expected {{"task_dir": …, "submission_dir": …}}, '
                f"got {line[:80]!r}"
            ) from fault
    return pairs
