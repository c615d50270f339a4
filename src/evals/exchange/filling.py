"""Fill a leaderboard entry from a log, and from what only its submitter knows."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import multimode
from typing import TYPE_CHECKING, Any

from evals.exchange.reading import ExportRefused
from evals.exchange.telling import Maker, tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspect_ai.log import EvalLog

    from evals.exchange.entry import AgentClass, Source
    from evals.exchange.reading import RunRead

_LEVELS = {"basic": "brief", "expert": "detailed"}
_GIB = 2**30


@dataclass(frozen=True)
class Claims:
    """What an entry says and no log knows.

    Attributes
    ----------
    id
        By default made of the agent, the model and the day of the run.
    artifacts_url
        Where the submissions can be had; the community's entries need it.
    """

    submitter: str
    contact: str
    affiliation: str | None = None
    id: str | None = None
    source: Source = "community"
    agent_class: AgentClass | None = None
    agent_url: str | None = None
    artifacts_url: str | None = None
    hardware: str | None = None


def default_maker(log: EvalLog, agent: str | None, version: str | None) -> Maker:
    """Return who made a log's submissions, as far as the log tells and nobody says otherwise."""
    solver = (log.eval.solver or "react").rpartition("/")[2]
    ours = f"evals {log.eval.packages.get('evals', 'unknown')}"
    return Maker(agent or solver, version or ours, f"v{log.eval.task_version}", log.eval.model)


def entry_of(log: EvalLog, runs: Sequence[RunRead], maker: Maker, claims: Claims) -> dict[str, Any]:
    """Return an entry's content, not yet checked.

    Raises:
        ExportRefused: The log names no instruction level that the leaderboard knows.
    """
    tasks: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for run in runs:
        tasks[run.task_id].append(_run(run))
    submitter = {"name": claims.submitter, "contact": claims.contact}
    agent = {"name": maker.agent, "version": maker.version, "class": claims.agent_class}
    day = log.eval.created[:10]
    return {
        "schema_version": "1",
        "id": claims.id or _slug(maker.agent, maker.model, day),
        "source": claims.source,
        "submitted": datetime.now(UTC).date().isoformat(),
        "submitter": submitter | _given(affiliation=claims.affiliation),
        "agent": agent | _given(url=claims.agent_url),
        "model": _model(maker.model),
        "settings": _settings(log, runs, tasks, claims),
        "artifacts": {"url": claims.artifacts_url},
        "tasks": {name: {"runs": told} for name, told in tasks.items()},
    }


def _run(run: RunRead) -> dict[str, Any]:
    seen = run.telemetry
    read, written = tokens_of(run)
    seconds = seen.agent_time_s if seen else None
    return {
        "run_id": run.run_id,
        "status": run.status,
        "outcome": run.outcome,
        "process": run.process,
        "wall_min": None if seconds is None else round(seconds / 60, 3),
        "cost_usd": seen.cost_usd if seen else None,
        "input_tokens": read,
        "output_tokens": written,
    }


def _settings(
    log: EvalLog,
    runs: Sequence[RunRead],
    tasks: dict[str, list[dict[str, Any]]],
    claims: Claims,
) -> dict[str, Any]:
    facts = log.eval.metadata or {}
    level = str(facts.get("instruction_level"))
    if level not in _LEVELS:
        raise ExportRefused(
            f"The log's instruction level is {level!r}, expected one of: {', '.join(_LEVELS)}."
            " Mend: give a log of evals/biaa, or --submissions-only."
        )
    judges = {name for run in runs if run.process is not None for name in run.judges}
    costs = any(run.telemetry and run.telemetry.cost_usd is not None for run in runs)
    return {
        "dataset_revision": dataset_revision(log),
        "instruction_level": _LEVELS[level],
        "repeats": min(multimode(map(len, tasks.values()))),
        "judge_model": " + ".join(sorted(judges)) or None,
        "evaluator_commit": f"evals {log.eval.packages.get('evals', 'unknown')}",
        # Inspect multiplies the tokens with prices that it was given.
        "cost_provenance": "list_price" if costs else None,
        "hardware": claims.hardware or _hardware(facts),
    }


def dataset_revision(log: EvalLog) -> str:
    """Return which data a log is of; of the synthetic edition, with all that it was made by."""
    facts = log.eval.metadata or {}
    released = facts.get("data") or {}
    if released:
        commit = released.get("commit")
        return f"{released['revision']}{f' ({commit})' if commit else ''}"
    edition = str(facts.get("edition", "unknown"))
    if edition != "synthetic":
        return f"own data: {edition}"
    names = ("seed", "difficulty", "scale", "dims", "biology")
    told = [(name, log.eval.task_args.get(name)) for name in names]
    return " ".join(
        ["synthetic", *(f"{name}={value}" for name, value in told if value is not None)]
    )


def _hardware(facts: dict[str, Any]) -> str:
    gpus = ", ".join(map(str, facts.get("gpus") or [])) or "none"
    memory = int(facts.get("memory_bytes") or 0) / _GIB
    return f"CPUs: {facts.get('cpus')}, memory: {memory:.0f} GiB, GPUs: {gpus}"


def _model(name: str) -> dict[str, str]:
    provider, _, rest = name.partition("/")
    named = {"name": name.rpartition("/")[2], "identifier": name}
    return named | _given(provider=provider if rest else None)


def _given(**values: str | None) -> dict[str, str]:
    # Null is not allowed where the schema wants text.
    return {name: value for name, value in values.items() if value is not None}


def _slug(*parts: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", "-".join(parts).lower()).strip("-._")[:80]
