"""`evals export` and `evals import`: results in other benchmarks' layouts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evals.exchange.entry import Entry
    from evals.exchange.filling import Claims

export_app = typer.Typer(
    help="Write results in other benchmarks' layouts.", no_args_is_help=True, rich_markup_mode=None
)
import_app = typer.Typer(
    help="Bring in what other benchmarks wrote.", no_args_is_help=True, rich_markup_mode=None
)


@export_app.callback()
def _export() -> None:
    """Keep the verbs, however few there are."""


@import_app.callback()
def _import() -> None:
    """Keep the verbs, however few there are."""


Out = Annotated[Path, typer.Argument(help="A folder that is not there yet, or empty.")]
Text = str | None


@export_app.command(name="biabench")
def export_biabench(
    log: Annotated[Path, typer.Argument(help="The log (.eval) of a run that kept its files.")],
    out: Out,
    submissions: Annotated[Path, typer.Option(help="The folder of kept submissions.")] = Path(
        "logs/submissions"
    ),
    submissions_only: Annotated[
        bool, typer.Option("--submissions-only", help="Write no leaderboard entry.")
    ] = False,
    submitter: Annotated[Text, typer.Option(help="Who answers for the entry.")] = None,
    contact: Annotated[Text, typer.Option(help="How to reach them.")] = None,
    affiliation: Annotated[Text, typer.Option(help="Where they work.")] = None,
    artifacts_url: Annotated[
        Text,
        typer.Option(help="Where the submissions will be had; the community's entries need it."),
    ] = None,
    entry_id: Annotated[
        Text, typer.Option("--id", help="Id of the entry; by default agent, model and day.")
    ] = None,
    source: Annotated[str, typer.Option(help="`community` or `paper`.")] = "community",
    agent_name: Annotated[Text, typer.Option(help="By default the solver's name.")] = None,
    agent_version: Annotated[Text, typer.Option(help="By default this package's.")] = None,
    agent_class: Annotated[Text, typer.Option(help="`general` or `biology`.")] = None,
    agent_url: Annotated[Text, typer.Option(help="Page of the agent.")] = None,
    hardware: Annotated[Text, typer.Option(help="By default as the log tells it.")] = None,
    allow_oracle: Annotated[
        bool,
        typer.Option(
            "--allow-oracle", help="Write even what was made from the reference, marked as such."
        ),
    ] = False,
) -> None:
    """Write submissions as BIABench packs them, and an entry for its leaderboard.

    The submissions go to OUT/submissions, the entry to OUT/leaderboard/entries. Nothing is written
    unless all is in order: the kept files are those of the run, the entry has all tasks.
    """
    from evals.exchange.entry import AgentClass, Source
    from evals.exchange.exporting import export_biabench as export
    from evals.exchange.filling import Claims
    from evals.options import OptionInvalidError, one_of

    claims: Claims | None = None
    if not submissions_only:
        if submitter is None or contact is None:
            raise OptionInvalidError(
                "A leaderboard entry needs --submitter and --contact. Mend: give both, or write"
                " the submissions alone with --submissions-only."
            )
        claims = Claims(
            submitter=submitter,
            contact=contact,
            affiliation=affiliation,
            id=entry_id,
            source=one_of("source", cast("Source", source), Source),
            agent_class=None
            if agent_class is None
            else one_of("agent-class", cast("AgentClass", agent_class), AgentClass),
            agent_url=agent_url,
            artifacts_url=artifacts_url,
            hardware=hardware,
        )
    done = export(
        log,
        submissions,
        out,
        claims=claims,
        agent_name=agent_name,
        agent_version=agent_version,
        allow_oracle=allow_oracle,
    )
    _tell(done.warnings)
    typer.echo(f"Wrote {len(done.submissions)} submissions to {out / 'submissions'}.")
    if done.entry is not None:
        _tell_row(done.entry, out)


@import_app.command(name="biabench")
def import_biabench(
    source: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder or zip with submissions, at any depth.")
    ],
    out: Out,
    agent: Annotated[
        Text, typer.Option(help="Which agent's, where there are several: its name or a pattern.")
    ] = None,
) -> None:
    """Bring submissions in BIABench's layout in, checked, each in its newest state.

    Ends with 1 if one of them was refused.
    """
    from evals.exchange.importing import import_biabench as bring_in

    done = bring_in(source, out, agent)
    _tell(done.warnings)
    for name, why in done.refused:
        typer.echo(f"Refused {name}: {why}.", err=True)
    typer.echo(f"Brought {len(done.submissions)} submissions to {out}. Score them with:")
    typer.echo(
        f"  inspect eval evals/biaa --model none/none --solver evals/ready -S path={out} --epochs N"
    )
    if done.refused:
        raise typer.Exit(1)


def _tell(warnings: Iterable[str]) -> None:
    for words in warnings:
        typer.echo(f"Note: {words}.", err=True)


def _tell_row(entry: Entry, out: Path) -> None:
    from evals.exchange.exporting import ENTRIES
    from evals.exchange.row import row_of

    row = row_of(entry)
    typer.echo(f"Wrote the entry {out / ENTRIES / entry.id}.json:")
    typer.echo(f"  outcome  {_figure(row.outcome_mean)} (mean of {row.tasks_scored} tasks)")
    typer.echo(f"  process  {_figure(row.process_mean)}")
    typer.echo(f"  runs     {row.runs}, of them refused: {row.refused}")
    if not _is_released(entry):
        typer.echo(
            f"Note: the data are {entry.settings.dataset_revision!r}, no released revision: the"
            " entry has the published form but is not for the public leaderboard.",
            err=True,
        )


def _is_released(entry: Entry) -> bool:
    return not entry.settings.dataset_revision.startswith(("synthetic", "own data"))


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
