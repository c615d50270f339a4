"""The command `evals validate`."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  # typer reads it at run time
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evals.validation.checking import Report


def validate(
    path: Annotated[
        Path, typer.Argument(help="A capsule, a folder of capsules, or a submission's folder.")
    ],
    task: Annotated[
        str | None,
        typer.Option(help="Task id, or folder of the task, that PATH is a submission to."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")] = False,
) -> None:
    """Tell what is wrong with task folders or a submission, and how to mend it.

    Nothing is run and nothing is scored. Ends with 1 if there is an error.
    """
    import json

    from evals.validation.checking import validate as check

    reports = check(path, task)
    if as_json:
        typer.echo(json.dumps([report.to_json() for report in reports], indent=2))
    else:
        _print(reports)
    if not all(report.sound for report in reports):
        raise typer.Exit(1)


def _print(reports: list[Report]) -> None:
    from scorers.linting.command import lines_of, sentences

    for report in reports:
        if report.checked is not None or report.findings:
            typer.echo(report.name)
        told = lines_of(report.checked) if report.checked is not None else []
        rest = [
            finding
            for finding in report.findings
            if report.checked is None or finding not in report.checked.findings
        ]
        for line in [*told, *sentences(rest)]:
            typer.echo(f"  {line}")
    counts = [
        sum(finding.severity == severity for report in reports for finding in report.findings)
        for severity in ("error", "warning")
    ]
    typer.echo(f"{len(reports)} checked: {counts[0]} errors, {counts[1]} warnings.")
