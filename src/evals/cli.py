"""The `evals` command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer.core import TyperGroup

from evals.calibration.command import calibrate
from evals.data.hub.command import app as data_app
from evals.errors import EvalsError
from evals.exchange.command import export_app, import_app
from evals.harness.prepare.command import app as harness_app
from evals.judging.command import app as judge_app
from evals.validation.command import validate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from evals.capsule import Capsule


class _Commands(TyperGroup):
    """Tell our own errors in their own words; a traceback would hide what to mend."""

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command."""
        try:
            return super().invoke(ctx)
        except EvalsError as error:
            typer.echo(f"Error: {error.message}", err=True)
            raise typer.Exit(1) from error


app = typer.Typer(
    cls=_Commands,
    help=(
        "Biomedical-science benchmarks for AI agents. `evals demo` is a first look; "
        "`inspect eval evals/biaa --model …` runs a model."
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)

Tasks = Annotated[
    list[str] | None,
    typer.Option("--tasks", help="Task ids or patterns; may be repeated. All by default."),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the synthetic edition.")]
Difficulty = Annotated[float, typer.Option(min=0, max=1, help="0 easy to 1 hard.")]
Scaled = Annotated[str, typer.Option("--scale", help="`quick`, `standard` or `paper`.")]
Dimensions = Annotated[
    str | None,
    typer.Option("--dims", help="Siblings with these dimensions: `2d`, `3d`, `2dt`, `3dt`."),
]
Effects = Annotated[
    str, typer.Option("--biology", help="`canonical`, or `randomised`: drawn from the seed.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


@app.command()
def demo(
    tasks: Tasks = None,
    seed: Seed = 0,
    log_dir: Annotated[Path, typer.Option(help="Where the logs go.")] = Path("logs"),
    sandbox: Annotated[
        str, typer.Option(help="`local` (no isolation, no engine needed) or `docker`.")
    ] = "local",
    as_json: AsJson = False,
) -> None:
    """Run reference agents on a small synthetic edition.

    Makes the edition, runs the agents in a sandbox, scores what they left, writes Inspect logs and
    tells how to look at them. No model is called.
    """
    from evals.demo import SandboxKind, Settings, failures, run, view_command
    from evals.names import unknown
    from evals.report.summary import readings, render, rows, to_json

    if sandbox not in ("local", "docker"):
        raise unknown("sandbox", sandbox, ("local", "docker"))
    settings = Settings(log_dir, tuple(tasks or ()), seed, cast("SandboxKind", sandbox))
    progress = _console(stderr=as_json)
    try:
        logs = run(settings, progress)
    except KeyboardInterrupt:
        progress.print("Stopped. The logs of finished runs are kept; nothing else is left.")
        raise typer.Exit(130) from None
    table = rows(reading for log in logs for reading in readings(log))
    failed = failures(logs)
    if as_json:
        _print_json({"rows": to_json(table), "log_dir": str(log_dir), "failed": failed})
    else:
        progress.print()
        progress.print(render(table), markup=False, soft_wrap=True)
        progress.print()
    count = sum(len(log.samples or []) for log in logs)
    progress.print(
        f"Scored {count - failed} of {count} samples of evals/biaa with {len(logs)} agents; no "
        f"model was called. The logs are in {log_dir}.",
        soft_wrap=True,
    )
    progress.print("Look at them in the browser:", soft_wrap=True)
    progress.print(f"  {view_command(log_dir)}", soft_wrap=True, highlight=False)
    if failed:
        raise typer.Exit(1)


@app.command(name="tasks")
def list_tasks(as_json: AsJson = False) -> None:
    """List the tasks that ship with the package."""
    from evals.assets import assets
    from scorers.specification import SPEC_FILE, load_spec

    folders = sorted(path.parent for path in (assets() / "tasks").glob(f"*/*/{SPEC_FILE}"))
    listed = [_task_entry(folder.parent.name, load_spec(folder)) for folder in folders]
    if as_json:
        _print_json(listed)
        return
    for entry in listed:
        typer.echo(f"{entry['suite']}  {entry['task_id']}")
        typer.echo(f"    {entry['dimensions']}, {entry['modality']}: {entry['primary_task']}")


@app.command()
def make(
    tasks: Tasks = None,
    seed: Seed = 0,
    difficulty: Difficulty = 0.5,
    scale: Scaled = "quick",
    dims: Dimensions = None,
    biology: Effects = "canonical",
    replicas: Annotated[int, typer.Option(min=1, help="Instances of each task.")] = 1,
    output: Annotated[
        Path | None, typer.Option(help="Folder for a copy; by default only the cache is filled.")
    ] = None,
) -> None:
    """Make a synthetic edition, for runs or to look at."""
    import shutil

    from evals.errors import DataMissingError

    capsules = _synthetic(
        tasks,
        seed=seed,
        difficulty=difficulty,
        scale=scale,
        dims=dims,
        biology=biology,
        replicas=replicas,
    )
    for capsule in capsules:
        place = capsule.path
        if output is not None:
            name = capsule.task_id if replicas == 1 else f"{capsule.task_id}-s{capsule.seed}"
            place = output / name
            if place.exists():
                raise DataMissingError(f"{place} exists already. Give an --output without it.")
            shutil.copytree(capsule.path, place)
        typer.echo(str(place))


@app.command()
def preview(
    task: Annotated[list[str], typer.Argument(help="Task ids or patterns.")],
    seed: Seed = 0,
    difficulty: Difficulty = 0.5,
    scale: Scaled = "quick",
    dims: Dimensions = None,
    biology: Effects = "canonical",
    output: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("previews"),
) -> None:
    """Draw tasks of the synthetic edition: the input above, the reference over it below.

    The pictures tell the answers: they are for people, not for agents that sit the exam.
    """
    from evals.preview import preview as draw

    capsules = _synthetic(
        task, seed=seed, difficulty=difficulty, scale=scale, dims=dims, biology=biology
    )
    for capsule in capsules:
        name = capsule.task_id if dims is None else f"{capsule.task_id}-{dims}"
        path = output / f"{name}.jpg"
        draw(capsule, path)
        typer.echo(str(path))


app.command()(calibrate)
app.add_typer(data_app, name="data")
app.command()(validate)
app.add_typer(harness_app, name="harness")
app.add_typer(judge_app, name="judge")
app.add_typer(export_app, name="export")
app.add_typer(import_app, name="import")


@app.command()
def regrade(
    log: Annotated[Path, typer.Argument(help="The log (.eval) of a run that kept its files.")],
    submissions: Annotated[Path, typer.Option(help="The folder of kept submissions.")] = Path(
        "logs/submissions"
    ),
    output: Annotated[
        Path | None, typer.Option(help="The log to write; by default in `regraded/` beside it.")
    ] = None,
    edition: Annotated[
        str | None, typer.Option(help="Where the run's capsules are now, if they have moved.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Grade kept submissions again with the present graders.

    Writes a new log with the new scores. Submissions that are missing or were changed are told and
    keep their old score.
    """
    from dataclasses import asdict

    import anyio

    from evals.scoring.regrade import regrade as run_again

    target = output or log.parent / "regraded" / log.name
    told = anyio.run(lambda: run_again(log, submissions, target, edition=edition))
    if as_json:
        _print_json({"log": str(target), "samples": [asdict(entry) for entry in told]})
    else:
        _print_regraded(told)
        typer.echo(f"Wrote {target}.")
    if any(entry.after is None for entry in told):
        raise typer.Exit(1)


@app.command()
def clean(
    everything: Annotated[
        bool, typer.Option("--all", help="Also sandboxes of runs that are still going on.")
    ] = False,
) -> None:
    """Remove what killed runs left: containers, volumes, folders."""
    from evals.workspace.leftovers import find_leftovers, remove_leftovers

    found = find_leftovers(everything=everything)
    remove_leftovers(found)
    for name in [*found.projects, *found.folders]:
        typer.echo(f"removed {name}")
    if not found.projects and not found.folders:
        typer.echo("Nothing to remove.")


def _synthetic(
    tasks: list[str] | None,
    *,
    seed: int,
    difficulty: float,
    scale: str,
    dims: str | None,
    biology: str,
    replicas: int = 1,
) -> list[Capsule]:
    """Open the synthetic edition with options as they were typed."""
    from evals.data.recipe import Biology, Dims, Recipe, Scale
    from evals.edition import open_edition
    from evals.options import one_of

    recipe = Recipe(
        seed,
        difficulty,
        scale=one_of("scale", cast("Scale", scale), Scale),
        dims=None if dims is None else one_of("dims", cast("Dims", dims), Dims),
        biology=one_of("biology", cast("Biology", biology), Biology),
    )
    return open_edition(tasks=tasks, recipe=recipe, replicas=replicas)


def _task_entry(suite: str, spec: Any) -> dict[str, Any]:
    return {
        "suite": suite,
        "task_id": spec.task_id,
        "modality": str(spec.input.get("modality", "")),
        "dimensions": str(spec.input.get("spatial_dimensions", "")),
        "primary_task": str(spec.task_logic.primary_task),
        "deliverables": [deliverable.id for deliverable in spec.deliverables],
    }


def _print_regraded(told: Sequence[Any]) -> None:
    typer.echo(f"{'before':>8}{'after':>8}  sample")
    for entry in told:
        epoch = f" (epoch {entry.epoch})" if entry.epoch > 1 else ""
        figures = f"{_figure(entry.before):>8}{_figure(entry.after):>8}"
        typer.echo(f"{figures}  {entry.sample}{epoch}")
        if entry.note:
            typer.echo(f"{'':18}not graded: {entry.note}")


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _print_json(value: Any) -> None:
    import json

    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    return Console(stderr=stderr, highlight=False)
