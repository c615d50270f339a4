"""Measure the graders beside a plain implementation: `python -m benchmarks`."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from benchmarks.cases import CASES, Case, Size
from benchmarks.compare import Growth, Outcome, compare, growth, make
from benchmarks.table import growth_table, outcome_table

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; exit code 1 if a number differs."""
    options = _parser().parse_args(arguments)
    outcomes: list[Outcome] = []
    growths: list[Growth] = []
    with tempfile.TemporaryDirectory(prefix="benchmarks-", dir=options.folder) as kept:
        for name in options.only or CASES:
            case = CASES[name]
            if not options.no_comparison:
                outcomes.append(_compared(name, case, Path(kept), options))
            if not options.no_growth:
                growths.append(_grown(name, case, Path(kept), options))
    if options.json:
        told: dict[str, Sequence[Outcome | Growth]] = {"comparison": outcomes, "growth": growths}
        print(json.dumps({key: [row.to_json() for row in rows] for key, rows in told.items()}))
    else:
        print("\n\n".join([outcome_table(outcomes)] * bool(outcomes) + [growth_table(growths)]))
    return int(any(outcome.unlike for outcome in outcomes))


def _compared(name: str, case: Case, kept: Path, options: argparse.Namespace) -> Outcome:
    shape = case.shape(options.size)
    _tell(f"{name}: making the input")
    with tempfile.TemporaryDirectory(dir=kept) as folder:
        make(name, Path(folder), options.seed, shape)
        return compare(name, case, Path(folder), options.runs, _tell)


def _grown(name: str, case: Case, kept: Path, options: argparse.Namespace) -> Growth:
    with tempfile.TemporaryDirectory(dir=kept) as folder:
        shapes = [_least(case), *case.parts(options.size)]
        folders = [Path(folder, str(index)) for index in range(len(shapes))]
        _tell(f"{name}: making inputs of three sizes")
        voxels = [
            make(name, place, options.seed, shape)
            for place, shape in zip(folders, shapes, strict=True)
        ]
        _tell(f"{name}: measuring the growth of the cost")
        return growth(name, folders[1:], voxels[1:], folders[0], options.runs)


def _least(case: Case) -> tuple[int, ...]:
    """Return the lengths of an input that takes next to nothing to grade."""
    frames = 16 if len(case.small) == 3 else 1
    return (frames, *(max(8, length // 10) for length in case.small[1:]))


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--size", choices=get_args(Size), default="paper", help="of the inputs")
    parser.add_argument("--runs", type=int, default=3, help="of either side, in turn (default 3)")
    parser.add_argument("--only", nargs="+", choices=CASES, metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--seed", type=int, default=0, help="of the inputs")
    parser.add_argument("--folder", type=Path, help="where inputs lie while they are needed")
    parser.add_argument("--no-comparison", action="store_true", help="only the growth of the cost")
    parser.add_argument("--no-growth", action="store_true", help="only the comparison")
    parser.add_argument("--json", action="store_true", help="print all numbers as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
