"""The first look: reference agents on a small synthetic edition, without any model."""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from inspect_ai.log import EvalLog
    from inspect_ai.solver import Solver
    from rich.console import Console

SandboxKind = Literal["local", "docker"]


@dataclass(frozen=True)
class Settings:
    """What a demonstration runs, where, and where its logs go."""

    log_dir: Path
    tasks: tuple[str, ...] = ()
    seed: int = 0
    sandbox: SandboxKind = "local"


def agents() -> dict[str, Callable[[], Solver]]:
    """Return the agents of the demonstration: the ceiling, a classical pipeline, three floors."""
    from evals.harness.baseline import baseline
    from evals.harness.naive import naive
    from evals.harness.oracle import oracle

    return {
        "oracle": oracle,
        "baseline": baseline,
        "naive(blank)": lambda: naive("blank"),
        "naive(bluff)": lambda: naive("bluff"),
        "naive(empty)": lambda: naive("empty"),
    }


def run(settings: Settings, console: Console) -> list[EvalLog]:
    """Run every agent on every task and return the logs; progress goes to the console."""
    chosen = list(settings.tasks) or None
    begun = time.monotonic()
    from evals.data.recipe import Recipe
    from evals.edition import open_edition

    capsules = open_edition(tasks=chosen, recipe=Recipe(settings.seed))
    took = time.monotonic() - begun
    console.print(
        f"The synthetic edition, seed {settings.seed}: {_counted(capsules, 'task')}, {took:.1f} s"
    )
    if settings.sandbox == "local":
        console.print(
            "The local sandbox does not isolate: what runs in it can do what you can do. These "
            "agents are our own; give models --sandbox docker."
        )
    fixed = replace(settings, tasks=tuple(capsule.task_id for capsule in capsules))
    return [_run_agent(name, make, fixed, console) for name, make in agents().items()]


def _run_agent(
    name: str, make: Callable[[], Solver], settings: Settings, console: Console
) -> EvalLog:
    from inspect_ai import eval as inspect_eval

    from evals.biaa.task import biaa

    begun = time.monotonic()
    with console.status(f"{name} …"):
        task = biaa(
            tasks=list(settings.tasks),
            seed=settings.seed,
            sandbox=settings.sandbox,
            submissions=str(settings.log_dir / "submissions"),
            process=False,
        )
        logs = inspect_eval(
            task,
            model="none/none",
            solver=make(),
            log_dir=str(settings.log_dir),
            display="none",
        )
    # Inspect takes Ctrl-C for itself, tidies up and gives back what was finished: nothing.
    if not logs or logs[0].status == "cancelled":
        raise KeyboardInterrupt
    console.print(f"  {name}: {_told(logs[0])}, {time.monotonic() - begun:.1f} s", soft_wrap=True)
    return logs[0]


def _told(log: EvalLog) -> str:
    samples = log.samples or []
    failed = [sample for sample in samples if sample.error is not None]
    lines = [_counted(samples, "sample") + (f", {_counted(failed, 'error')}" if failed else "")]
    if log.status == "error" and log.error is not None:
        lines.append(f"    the run failed: {log.error.message}")
    lines += [f"    {sample.id}: {sample.error.message}" for sample in failed if sample.error]
    return "\n".join(lines)


def _counted(things: Sequence[object], name: str) -> str:
    return f"{len(things)} {name}" + ("" if len(things) == 1 else "s")


def failures(logs: Sequence[EvalLog]) -> int:
    """Count the samples that ended in an error, and the runs that did not end well."""
    errors = sum(sample.error is not None for log in logs for sample in log.samples or [])
    return errors + sum(log.status != "success" for log in logs)


def view_command(log_dir: Path) -> str:
    """Return the command that opens the logs, with a path if `inspect` cannot be found by name."""
    own = Path(sys.executable).with_name("inspect")
    named = shutil.which("inspect")
    program = "inspect" if named and Path(named).resolve() == own.resolve() else str(_near(own))
    return shlex.join([program, "view", "--log-dir", str(_near(log_dir))])


def _near(path: Path) -> Path:
    """Return the path as seen from the current folder, if it lies in it."""
    absolute = Path.cwd() / path
    here = Path.cwd()
    return absolute.relative_to(here) if absolute.is_relative_to(here) else absolute
