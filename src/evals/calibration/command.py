"""`evals calibrate`: what the scores of the synthetic edition are worth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

if TYPE_CHECKING:
    from evals.calibration.running import Plan

_OWN = "own"
_MIDDLE = 0.5


def calibrate(
    tasks: Annotated[
        list[str] | None,
        typer.Option("--tasks", help="Task ids or patterns; may be repeated. All by default."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds, from 0 on.")] = 5,
    steps: Annotated[
        int, typer.Option(min=1, help="How many difficulties, evenly from 0 to 1.")
    ] = 5,
    dims: Annotated[
        list[str] | None,
        typer.Option(help="`own`, `2d`, `3d`, `2dt`, `3dt`; may be repeated. `own` by default."),
    ] = None,
    scale: Annotated[str, typer.Option(help="`quick`, `standard` or `paper`.")] = "quick",
    damaged: Annotated[
        str,
        typer.Option(help="Damage references at `every` difficulty, the `middle` one, or `none`."),
    ] = "every",
    output: Annotated[
        Path, typer.Option(help="Folder of tables and figure; what is in it is not run again.")
    ] = Path("calibration"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")] = False,
) -> None:
    """Score reference agents and damaged references over seeds and difficulties.

    Runs the oracle, the naive agents, each task's own pipeline, and references damaged in many
    ways. Writes every score, means and slopes with their intervals, what sets agents apart, and a
    figure. No model is called.
    """
    from evals.calibration import report
    from evals.calibration.records import unscored
    from evals.calibration.running import RECORDS, calibrate
    from evals.calibration.summary import summarise

    plan = _plan(tasks, seeds, steps, dims, scale, damaged)
    try:
        records = calibrate(plan, output)
    except KeyboardInterrupt:
        told = f"Stopped. What was scored is in {output / RECORDS}; the same command goes on there."
        typer.echo(told, err=True)
        raise typer.Exit(130) from None
    summary = summarise(records)
    report.write(summary, output)
    if as_json:
        typer.echo(json.dumps(summary.tables(), indent=2, allow_nan=False))
    else:
        typer.echo(report.render(summary))
        typer.echo(f"\nThe scores are in {output / RECORDS}, tables and a figure beside it.")
    if failed := len(unscored(records)):
        typer.echo(f"{failed} submissions were not scored; the column `note` says why.", err=True)
        raise typer.Exit(1)


def _plan(
    tasks: list[str] | None,
    seeds: int,
    steps: int,
    dims: list[str] | None,
    scale: str,
    damaged: str,
) -> Plan:
    from evals.calibration.running import Damaged, Plan
    from evals.data.recipe import Dims, Scale
    from evals.options import one_of

    return Plan(
        tasks=tasks,
        seeds=seeds,
        difficulties=[at / (steps - 1) for at in range(steps)] if steps > 1 else [_MIDDLE],
        dims=[
            None if name == _OWN else one_of("dims", cast("Dims", name), Dims)
            for name in dims or [_OWN]
        ],
        scale=one_of("scale", cast("Scale", scale), Scale),
        damaged=one_of("damaged", cast("Damaged", damaged), Damaged),
    )
