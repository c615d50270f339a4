"""`evals data`: released data on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from typing import Any

    from evals.data.hub.pulling import Pulled
    from evals.data.hub.sources import Source

app = typer.Typer(
    help="Released data on this machine: fetch, verify, find, remove; their licences.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Name = Annotated[str, typer.Argument(metavar="DATASET", help="Such as `biaa`; see `list`.")]
Revision = Annotated[
    str | None, typer.Option(help="Tag, branch or commit; by default the release's usual one.")
]
Tasks = Annotated[
    list[str] | None,
    typer.Option("--task", "--tasks", help="Task ids or patterns; may be repeated."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


@app.command(name="list")
def list_data(as_json: AsJson = False) -> None:
    """List what can be pulled, and what is on this machine."""
    from dataclasses import asdict

    from evals.data.hub.keeping import held_revisions
    from evals.data.hub.sources import SOURCES

    held = held_revisions()
    if as_json:
        sources = [asdict(source) for source in SOURCES.values()]
        here = [asdict(one) | {"path": str(one.path)} for one in held]
        _print_json({"sources": sources, "here": here})
        return
    for source in SOURCES.values():
        typer.echo(f"{source.name}  {source.repo or 'not to be pulled'}")
        if source.note:
            typer.echo(f"    {source.note}")
        for one in held:
            if one.source == source.name:
                commit = f"commit {one.commit[:12]}" if one.commit else "not pulled, but put there"
                typer.echo(
                    f"    {one.revision} ({commit}): {len(one.whole)} tasks, "
                    f"{len(one.inputs_only)} more without reference, {one.bytes / 1e9:.2f} GB"
                )
                typer.echo(f"        {one.path}")


@app.command()
def pull(
    name: Name,
    revision: Revision = None,
    tasks: Tasks = None,
    inputs_only: Annotated[
        bool,
        typer.Option("--inputs-only", help="Only what an agent sees: no references, no rubrics."),
    ] = False,
    workers: Annotated[int, typer.Option(min=1, max=16, help="Tasks fetched side by side.")] = 4,
) -> None:
    """Fetch a release, or what is still missing of it.

    What was fetched is checked against the release's digests, unpacked aside and moved to its
    place, so that a task is there as a whole or not at all. A call that was stopped, or failed in
    part, is taken up by the next one. Ends with 1 if something could not be had.
    """
    from evals.data.hub.client import FetchFailedError
    from evals.data.hub.sources import source_of

    source = source_of(name)
    source.needs_repo()
    wanted = revision or source.revision
    try:
        import huggingface_hub  # noqa: F401
    except ImportError:
        raise FetchFailedError(
            "Pulling needs the package huggingface_hub, which is not installed. Mend: "
            "pip install 'evals[data]'."
        ) from None
    from evals.data.hub.pulling import pull as fetch_missing

    try:
        done = fetch_missing(source, wanted, tasks=tasks, inputs_only=inputs_only, workers=workers)
    except KeyboardInterrupt:
        typer.echo("Stopped. What has arrived is kept; the same command goes on.", err=True)
        raise typer.Exit(130) from None
    _tell(source, wanted, done)
    if done.failed:
        raise typer.Exit(1)


@app.command()
def verify(
    name: Name, revision: Revision = None, tasks: Tasks = None, as_json: AsJson = False
) -> None:
    """Read what was pulled, and compare every file with its digest.

    Needs no network. Ends with 1 if something is missing, changed, or was not pulled.
    """
    from evals.data.hub.keeping import place_of
    from evals.data.hub.keeping import verify as compare
    from evals.data.hub.sources import source_of

    source = source_of(name)
    wanted = revision or source.revision
    verified, faults = compare(place_of(source, wanted), tasks)
    if as_json:
        _print_json({"revision": wanted, "verified": verified, "faults": faults})
    else:
        for task, found in faults.items():
            for fault in found:
                typer.echo(f"{task}: {fault}")
        bad = len(faults.keys() & set(verified))
        typer.echo(f"{len(verified) - bad} of {len(verified)} tasks are as they were pulled.")
        if faults:
            typer.echo(
                f"Mend: `evals data rm {name} --revision {wanted} --task …`, then pull again.",
                err=True,
            )
    if faults:
        raise typer.Exit(1)


@app.command()
def path(
    name: Name,
    revision: Revision = None,
    task: Annotated[str | None, typer.Option(help="Id of one task.")] = None,
) -> None:
    """Print the folder of a revision, or of one of its tasks."""
    from evals.data.hub.keeping import place_of
    from evals.data.hub.sources import source_of
    from evals.names import unknown

    source = source_of(name)
    place = place_of(source, revision or source.revision)
    if task is not None:
        here = sorted(one.name for one in place.iterdir() if one.is_dir() and one.name[0] != ".")
        if task not in here:
            raise unknown("task id on this machine", task, here)
        place /= task
    typer.echo(str(place))


@app.command()
def rm(
    name: Name,
    revision: Annotated[str, typer.Option(help="The revision.")],
    tasks: Tasks = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove a revision, or some of its tasks, from this machine."""
    from evals.data.hub.keeping import place_of, remove
    from evals.data.hub.sources import source_of

    place = place_of(source_of(name), revision)
    what = f"{', '.join(tasks)} of {place}" if tasks else str(place)
    if not yes:
        typer.confirm(f"Remove {what}?", abort=True)
    for one in remove(place, tasks):
        typer.echo(f"removed {one}")


@app.command()
def licenses(
    name: Annotated[
        str | None, typer.Argument(metavar="DATASET", help="Such as `biaa`; by default all.")
    ] = None,
    edition: Annotated[
        str | None, typer.Option(help="A pulled revision, or a folder of capsules.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell the licences of released data, whom to name, and what is not allowed."""
    from dataclasses import asdict

    from evals.data.hub.licences import released_terms, terms_of
    from evals.data.hub.sources import SOURCES, source_of
    from evals.edition import open_edition

    if edition is not None:
        told = terms_of(open_edition(edition))
    else:
        names = list(SOURCES) if name is None else [source_of(name).name]
        told = [terms for one in names for terms in released_terms(one)]
    if as_json:
        _print_json([asdict(terms) for terms in told])
        return
    for terms in told:
        typer.echo(f"{terms.task}  {terms.licence}{'  RESTRICTED' if terms.restricted else ''}")
        for line in (terms.attribution, terms.asks, terms.restricted):
            if line:
                typer.echo(f"    {line}")


def _tell(source: Source, revision: str, done: Pulled) -> None:
    for task in done.fetched:
        typer.echo(f"pulled {task}")
    if done.moved_to is not None:
        typer.echo(
            f"Note: on the hub {revision} is now commit {done.moved_to}. What is here stays at "
            f"{done.commit}, so that its tasks belong together. For the other, pull --revision "
            f"{done.moved_to}, or remove this one first.",
            err=True,
        )
    for task, reason in done.failed.items():
        typer.echo(f"failed {task}: {reason}", err=True)
    whole = len(done.fetched) + len(done.kept)
    typer.echo(
        f"{source.name} {revision} (commit {done.commit[:12]}): {whole} of "
        f"{whole + len(done.failed)} tasks are here, {len(done.kept)} of them from before."
    )


def _print_json(value: Any) -> None:
    import json

    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))
