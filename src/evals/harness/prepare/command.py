"""`evals harness`: bring coding agents to this machine, list them, remove them."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003  # typer reads it at run time
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from evals.harness.prepare.store import Prepared

app = typer.Typer(
    help="Coding agents for sandboxes: prepared once, so that no sample downloads anything.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Name = Annotated[str, typer.Argument(help="Name of the solver, such as `claude_code`.")]


@app.command()
def prepare(
    name: Name,
    version: Annotated[
        str | None, typer.Option(help="Version; by default the one that is known to work.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="Program or prepared folder to copy instead of fetching."),
    ] = None,
    force: Annotated[bool, typer.Option(help="Make it anew if it is there.")] = False,
) -> None:
    """Bring a coding agent to this machine, where sandboxes see it.

    Its packages are fetched from the npm registry (the one that npm is set to) and checked. Runs
    that begin afterwards find it; no sample downloads anything.
    """
    from evals.harness.prepare.catalogue import harness_named
    from evals.harness.prepare.making import prepare as make

    harness = harness_named(name)
    try:
        place = make(harness, version, source=source, force=force)
    except KeyboardInterrupt:
        typer.echo("Stopped; nothing is left of it. The same command begins anew.", err=True)
        raise typer.Exit(130) from None
    typer.echo(f"{name} {place.name} is in {place}.")
    typer.echo(f"Licence: {harness.licence}. Run it: --solver evals/{name}")


@app.command(name="list")
def list_prepared(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")] = False,
) -> None:
    """List the coding agents, and which of their versions are prepared."""
    from evals.harness.prepare.catalogue import HARNESSES
    from evals.harness.prepare.store import prepared

    found = prepared()
    entries = [
        _entry(each.name, each.licence, each.version, [p for p in found if p.name == each.name])
        for each in HARNESSES.values()
    ]
    if as_json:
        typer.echo(json.dumps(entries, indent=2))
        return
    for entry in entries:
        typer.echo(f"{entry['name']}  ({entry['licence']})")
        for each in entry["prepared"]:
            typer.echo(f"    {each['version']}  {each['size'] / 1e6:.0f} MB  {each['source']}")
        if not entry["prepared"]:
            typer.echo(f"    not prepared: evals harness prepare {entry['name']}")


@app.command()
def rm(name: Name) -> None:
    """Remove all prepared versions of a coding agent."""
    from evals.harness.prepare.catalogue import harness_named
    from evals.harness.prepare.store import remove

    removed = remove(harness_named(name).name)
    for version in removed:
        typer.echo(f"removed {name} {version}")
    if not removed:
        typer.echo("Nothing to remove.")


def _entry(name: str, licence: str, default: str, found: list[Prepared]) -> dict[str, Any]:
    told = [{"version": e.version, "size": e.size, "source": e.source} for e in found]
    return {"name": name, "licence": licence, "default_version": default, "prepared": told}
