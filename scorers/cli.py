"""The command line of the graders: `python -m scorers grade …`, `… evidence …`, `… check …`.

Exit codes: 0 done (bad submissions included), 1 internal error (memory or time ran out among
them), 2 wrong usage, 3 broken capsule or missing reference, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorers.confinement import exhausted, limit_memory, limit_time
from scorers.errors import CapsuleFault
from scorers.files.limits import Limits
from scorers.linting.command import add_check, tell_check

if TYPE_CHECKING:
    from collections.abc import Sequence

GRADED, INTERNAL, USAGE, BROKEN, STOPPED = 0, 1, 2, 3, 130


def main(arguments: Sequence[str] | None = None, *, own_process: bool = False) -> int:
    """Run the command and return its exit code.

    Parameters
    ----------
    arguments
        By default those of the process.
    own_process
        Whether the process does nothing else, so that limits of memory and time may be set on it.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    # Libraries warn of odd files of a submission; its grade says what matters of that.
    logging.getLogger("tifffile").setLevel(logging.CRITICAL)
    try:
        limits = Limits().with_values(dict(options.limit))
    except ValueError as fault:
        parser.error(str(fault))
    if options.command in _TELLERS:
        return _told(options, limits, own_process=own_process)
    if options.many is not None:
        if options.task_dir is not None or options.objects is not None:
            parser.error("--many takes neither TASK_DIR SUBMISSION_DIR nor --objects")
        return _grade_pairs(options, limits)
    if options.submission_dir is None:
        parser.error("TASK_DIR and SUBMISSION_DIR are needed, or --many PAIRS.jsonl")
    return _told(options, limits, own_process=own_process)


def _told(options: argparse.Namespace, limits: Limits, *, own_process: bool) -> int:
    """Run a command on one task and submission, and say on standard error why it failed."""
    if own_process:
        limit_memory(limits)
        limit_time(limits)
    try:
        return _TELLERS.get(options.command, _grade_one)(options, limits)
    except NotADirectoryError as fault:
        code, words = USAGE, str(fault)
    except CapsuleFault as fault:
        code, words = BROKEN, str(fault)
    except MemoryError:
        code, words = INTERNAL, exhausted(limits)
    print(f"scorers {options.command}: {words}", file=sys.stderr)
    return code


def _tell_evidence(options: argparse.Namespace, limits: Limits) -> int:
    from scorers.rubric.figures import Wanted
    from scorers.rubric.gathering.building import evidence_of

    wanted = Wanted(options.images, options.side)
    evidence = evidence_of(
        options.task_dir, options.submission_dir, limits, wanted, options.input_after
    )
    if options.json:
        print(evidence.printed())
    else:
        from scorers.show import show_evidence

        show_evidence(evidence)
    return GRADED


def _check(options: argparse.Namespace, limits: Limits) -> int:
    return GRADED if tell_check(options, limits) else BROKEN


_TELLERS = {"evidence": _tell_evidence, "check": _check}


def _grade_pairs(options: argparse.Namespace, limits: Limits) -> int:
    from scorers.many import grade_many

    try:
        return grade_many(
            options.many,
            processes=options.processes,
            limits=limits,
            draws=not options.no_pictures,
        )
    except KeyboardInterrupt:
        print("scorers grade: stopped; the lines above are complete", file=sys.stderr)
        return STOPPED


def _grade_one(options: argparse.Namespace, limits: Limits) -> int:
    from scorers.grading import assess

    assessment = assess(
        options.task_dir,
        options.submission_dir,
        # Rows that nobody will see are not made.
        limits if options.objects is not None else replace(limits, objects=1),
        draws=not options.no_pictures,
    )
    grade = assessment.grade
    if options.objects is not None:
        from scorers.show import write_objects

        write_objects(options.objects, assessment.result.objects)
    if options.json:
        print(json.dumps(grade.to_json(), allow_nan=False))
    else:
        from scorers.show import show

        show(grade)
    if grade.outcome is None:
        print(f"scorers grade: {grade.error}", file=sys.stderr)
        return BROKEN
    return GRADED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scorers", description="Grade submissions.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    grade = commands.add_parser(
        "grade",
        help="grade one submission, or many",
        description="Grade the files of a submission against a task's reference.",
        epilog=f"Limits (--limit NAME=VALUE): {', '.join(Limits.names())}.",
    )
    grade.add_argument("task_dir", nargs="?", type=Path, metavar="TASK_DIR")
    grade.add_argument("submission_dir", nargs="?", type=Path, metavar="SUBMISSION_DIR")
    grade.add_argument("--json", action="store_true", help="print the grade as one JSON object")
    grade.add_argument(
        "--many",
        type=Path,
        metavar="PAIRS.jsonl",
        help='grade all pairs of a file with lines {"task_dir": …, "submission_dir": …} and '
        "print one JSON object a line in their order",
    )
    grade.add_argument(
        "--processes",
        type=_count,
        default=os.cpu_count() or 1,
        metavar="N",
        help="processes of --many (default: all cores)",
    )
    grade.add_argument("--no-pictures", action="store_true", help="draw nothing, which is quicker")
    grade.add_argument(
        "--objects", type=Path, metavar="FILE.csv", help="write what became of each object"
    )
    _add_limits(grade)
    evidence = commands.add_parser(
        "evidence",
        help="gather what a judge may see of one submission",
        description="Gather the files of a submission as evidence for a judge: text made "
        "harmless, figures drawn anew. Neither reference nor rubric is opened.",
        epilog=f"Limits (--limit NAME=VALUE): {', '.join(Limits.names())}.",
    )
    evidence.add_argument("task_dir", type=Path, metavar="TASK_DIR")
    evidence.add_argument("submission_dir", type=Path, metavar="SUBMISSION_DIR")
    evidence.add_argument("--json", action="store_true", help="print it as one JSON object")
    evidence.add_argument(
        "--images",
        choices=("none", "plots", "all"),
        default="plots",
        help="which figures: plots leaves TIFFs out (default: plots)",
    )
    evidence.add_argument(
        "--side",
        type=_side,
        default=1024,
        metavar="PIXELS",
        help="longer side of figures at most (default: 1024)",
    )
    evidence.add_argument(
        "--input-after",
        type=Path,
        metavar="DIR",
        help="the agent's own input folder after its work, to tell whether it is unchanged",
    )
    _add_limits(evidence)
    _add_limits(add_check(commands))
    return parser


def _add_limits(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--limit",
        type=_limit,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set one of the limits below; may be repeated",
    )


def _side(text: str) -> int:
    if not text.isdecimal() or not 64 <= int(text) <= 4096:
        raise argparse.ArgumentTypeError(f"expected pixels from 64 to 4096, got {text!r}")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number above 0, got {text!r}")
    return int(text)


def _limit(text: str) -> tuple[str, Any]:
    name, separator, value = text.partition("=")
    if not separator or not value.isdecimal():
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, as in rows=5000, got {text!r}")
    return name, int(value)
