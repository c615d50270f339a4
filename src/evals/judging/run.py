"""Whether a run is judged, and how: what a task adds to itself for its process score."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from evals import options
from evals.judging.dossier import keeping_evidence
from evals.judging.process import process
from evals.judging.protocol import ITEMS_PER_CALL, ROLE, Images, is_bound
from evals.scoring.epochs import has_real_model

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from inspect_ai.scorer import Scorer
    from inspect_ai.solver import TaskState

    Cleanup = Callable[[TaskState], Awaitable[None]]

_NOT_JUDGED = f"not scored: no model in the role {ROLE}"


@dataclass(frozen=True)
class Asked:
    """The options of a task that have to do with its judge, as the user gave them.

    Attributes:
        process: Whether there is a process score; None if exactly then when there is a judge.
        evidence: Whether evidence is kept without a judge; None if then when a real model runs.
    """

    process: bool | None = None
    evidence: bool | None = None
    checklist: str | None = None
    panel: str | list[str] | None = None
    samples: int = 1
    images: Images = "plots"
    items_per_call: int = ITEMS_PER_CALL
    hybrid: bool = False
    cache: bool = True


@dataclass(frozen=True)
class Judging:
    """What a task adds to itself."""

    scorers: list[Scorer] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    keeps_evidence: bool = False

    def cleanup(self, own: Cleanup) -> Cleanup:
        """Return a task's `cleanup` that keeps the evidence too, if that is wanted."""
        return keeping_evidence(own) if self.keeps_evidence else own


def judging_for(asked: Asked) -> Judging:
    """Return what a task adds to itself; a run without a judge is told so.

    Raises:
        EvalsError: An option is not as it should be, or has no meaning without a judge.
    """
    options.flag("process", asked.process)
    options.flag("evidence", asked.evidence)
    judged = asked.process
    if judged is None:
        judged = is_bound() or bool(asked.panel)
    if not judged:
        return _without_judge(asked)
    scorer = process(
        checklist=asked.checklist,
        panel=asked.panel,
        samples=asked.samples,
        images=asked.images,
        items_per_call=asked.items_per_call,
        hybrid=asked.hybrid,
        cache=asked.cache,
    )
    return Judging([scorer], {"process": "scored"}, keeps_evidence=True)


def _without_judge(asked: Asked) -> Judging:
    default = Asked()
    options.only_default(
        f"runs with a judge (--model-role {ROLE}=PROVIDER/MODEL)",
        checklist=(asked.checklist, default.checklist),
        judge_samples=(asked.samples, default.samples),
        judge_images=(asked.images, default.images),
        judge_items_per_call=(asked.items_per_call, default.items_per_call),
        hybrid=(asked.hybrid, default.hybrid),
    )
    keeps = has_real_model() if asked.evidence is None else asked.evidence
    if asked.process is None:
        _say(keeps=keeps)
    return Judging(facts={"process": _NOT_JUDGED}, keeps_evidence=keeps)


@cache
def _say(*, keeps: bool) -> None:
    from rich.console import Console

    later = (
        f"The log keeps the evidence, so that it can be judged later: inspect score LOG --scorer "
        f"evals/process --model-role {ROLE}=PROVIDER/MODEL."
        if keeps
        else "With -T evidence=true the log keeps the evidence, so that it can be judged later."
    )
    Console(stderr=True).print(
        f"There is no process score: no judge is bound. Bind one with --model-role "
        f"{ROLE}=PROVIDER/MODEL. {later}",
        highlight=False,
    )
