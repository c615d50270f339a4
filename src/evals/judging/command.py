"""`evals judge`: how far the judge can be trusted."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  # typer reads it at run time
from typing import Annotated, cast

import typer

app = typer.Typer(
    help="How far the judge of the process score can be trusted.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


@app.callback()
def _judge() -> None:
    """Keep verbs verbs: with a single one, typer would leave its name out."""


@app.command()
def agree(
    first: Annotated[
        Path, typer.Argument(help="Decisions: a log (.eval), or a CSV, such as of people.")
    ],
    second: Annotated[Path, typer.Argument(help="Decisions to compare with, likewise.")],
    levels: Annotated[
        str | None,
        typer.Option(help="Levels in their order, such as A,B,C; by default pass, fail, unknown."),
    ] = None,
    by: Annotated[str, typer.Option(help="Parts: `item`, `severity` or `task`.")] = "item",
    resamples: Annotated[int, typer.Option(min=100, help="Bootstrap draws.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws.")] = 0,
    output: Annotated[
        Path | None, typer.Option(help="Folder for tables (JSON, CSV) and a picture (PNG, SVG).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare decisions of people, of a judge, or of two judges.

    A CSV has the columns item_id and status (pass, fail, unknown or a level; empty: no answer),
    and of task_id, sample_id, epoch, rater, severity those that there are. Decisions belong
    together if sample and item are the same. No model is called.
    """
    import json

    from rich.console import Console

    from evals import options
    from evals.judging.agreeing import By, compare, scale_of
    from evals.judging.agreement_report import render, write
    from evals.judging.decision_files import read_decisions
    from scorers.rubric.bootstrap import Bootstrap

    found = compare(
        read_decisions(first),
        read_decisions(second),
        scale_of(options.names("levels", levels, "A,B,C")),
        options.one_of("by", cast("By", by), By),
        Bootstrap(resamples, seed),
    )
    if output is not None:
        write(found, output)
    if as_json:
        typer.echo(json.dumps(found.to_json(), indent=2, ensure_ascii=False, allow_nan=False))
        return
    render(found, Console(highlight=False, markup=False, soft_wrap=True))
    if output is not None:
        typer.echo(f"Wrote tables and a picture in {output}.")
