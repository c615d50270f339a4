"""`evals judge`: how far the judge can be trusted."""

from __future__ import annotations

from pathlib import Path  # typer reads it at run time
from typing import Annotated, cast

import typer

app = typer.Typer(
    help="How far the judge of the process score can be trusted.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
Model = Annotated[str, typer.Option(help="The judge's model, as PROVIDER/MODEL.")]
Checklist = Annotated[
    str | None, typer.Option(help="A checklist in BIABench's form; by default the one that ships.")
]
Submission = Annotated[
    Path | None, typer.Option(help="Folder that an agent left, or a packed submission.")
]
Edition = Annotated[str, typer.Option(help="`synthetic`, a released revision, or a folder.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the synthetic edition.")]
Samples = Annotated[int, typer.Option(min=1, help="Answers to each item, put to the vote.")]
Figures = Annotated[str, typer.Option("--images", help="`none`, `plots` or `all`.")]
PerCall = Annotated[int, typer.Option("--items-per-call", min=1, help="Items in one call.")]
Cached = Annotated[bool, typer.Option(help="Whether answers are kept and used again.")]


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


@app.command()
def attack(
    model: Model,
    tasks: Annotated[
        list[str] | None,
        typer.Option("--tasks", "--task", help="Task ids or patterns; may be repeated."),
    ] = None,
    submission: Submission = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Doctorings by name or pattern. All by default.")
    ] = None,
    checklist: Checklist = None,
    hybrid: Annotated[bool, typer.Option(help="Whether code decides what it can decide.")] = False,
    edition: Edition = "synthetic",
    seed: Seed = 0,
    samples: Samples = 1,
    images: Figures = "plots",
    items_per_call: PerCall = 2,
    cache: Cached = True,
    output: Annotated[
        Path | None, typer.Option(help="Folder for attack.json and attack.csv.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Try to win a judge over with doctored submissions.

    Doctors copies of an honest submission (by default what the task's own solution leaves),
    judges each beside its honest counterpart, and tells what it gained. Without --tasks one task
    is used; each takes some twenty judgements. Ends with 1 if an item moved that code decides.
    """
    from functools import partial

    from evals.judging.attack_report import faults, render, to_json, write
    from evals.judging.doctoring import DOCTORINGS
    from evals.judging.rubrics import open_checklist
    from evals.judging.subjects import items_of
    from evals.judging.trial import named_judge
    from evals.judging.verbs import (
        DEFAULT_TASK,
        attack_tasks,
        capsules_of,
        protocol_of,
        stoppable,
        submitted_to,
        tell,
    )
    from evals.names import select

    chosen = open_checklist(checklist)
    protocol = protocol_of(samples, images, items_per_call, cache=cache)
    names = select("doctoring", only, [one.name for one in DOCTORINGS])
    who = named_judge(model)
    capsules = capsules_of(edition, tasks or [DEFAULT_TASK], seed)
    submitted_to(capsules, submission)
    work = partial(attack_tasks, who, capsules, submission, chosen, protocol, names, hybrid=hybrid)
    attempts = stoppable(work, cached=cache)
    settings = {
        "judge": who.name,
        "hybrid": hybrid,
        "checklist": chosen.name,
        "samples": samples,
        "items": {one.task_id: len(items_of(one, chosen)) for one in capsules},
    }
    told = to_json(attempts, settings)
    if output is not None:
        write(told, output)
    tell(told, partial(render, attempts, settings), as_json=as_json)
    if faulty := faults(attempts):
        typer.echo("\n".join(["This must not be:", *faulty]), err=True)
        raise typer.Exit(1)


@app.command()
def stability(
    model: Model,
    log: Annotated[Path | None, typer.Argument(help="A log (.eval) that keeps evidence.")] = None,
    sample: Annotated[
        str | None, typer.Option(help="Sample of the log: its id, or id and epoch as ID:2.")
    ] = None,
    submission: Submission = None,
    task: Annotated[str | None, typer.Option(help="Id of the submission's task.")] = None,
    repeats: Annotated[int, typer.Option(min=2, help="How often it is judged.")] = 5,
    shuffle: Annotated[
        bool, typer.Option("--shuffle", help="Judge it as often again with its items shuffled.")
    ] = False,
    checklist: Checklist = None,
    edition: Edition = "synthetic",
    seed: Seed = 0,
    samples: Samples = 1,
    images: Figures = "plots",
    items_per_call: PerCall = 2,
    cache: Cached = True,
    output: Annotated[
        Path | None, typer.Option(help="Folder for stability.json and stability.csv.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Judge one sample several times, and tell which answers change.

    Takes a sample of a log, or a folder with --submission and --task. No repeat is answered by
    what the cache keeps of another; a command that was stopped goes on where it was.
    """
    from functools import partial

    from evals.judging.rubrics import open_checklist
    from evals.judging.stability_report import render, write
    from evals.judging.trial import named_judge
    from evals.judging.verbs import protocol_of, repeat_judging, stoppable, subject_for, tell

    chosen = open_checklist(checklist)
    protocol = protocol_of(samples, images, items_per_call, cache=cache)
    who = named_judge(model)
    subject = subject_for(log, sample, submission, task, (edition, seed), chosen, protocol)
    work = partial(repeat_judging, who, subject, chosen, protocol, repeats, shuffle=shuffle)
    found = stoppable(work, cached=cache)
    told = {"judge": who.name, "checklist": chosen.name, "samples": samples} | found.to_json()
    if output is not None:
        write(told, output)
    tell(told, partial(render, found, who.name), as_json=as_json)
