"""The evidence on one sample, gathered while its sandbox lives and kept in its log.

With it a log can be judged again, and by others, without a sandbox. Nothing of the reference, the
outcome or the rubric's text is in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspect_ai.log import transcript
from inspect_ai.util import StoreModel
from pydantic import Field

from evals.edition import capsule_for
from evals.errors import EvalsError
from evals.judging.case import Case, chosen, told_numbers, uri_of
from evals.judging.gather import gather_evidence
from evals.judging.rubrics import selection_of
from evals.judging.transcript import REF, TRANSCRIPT_TOKENS, condensed
from evals.judging.turns import turns_of
from evals.scoring.outcome import has_sandbox
from evals.scoring.record import Graded
from evals.scoring.status import run_cancelled
from evals.telemetry.work import Work
from evals.workspace.place import INPUT, OUTPUT, Workspace
from evals.workspace.settle import settle
from scorers.canary import canaries_of
from scorers.rubric.checks.results import CheckResult
from scorers.rubric.copying import with_copies_flagged
from scorers.rubric.evidence import MOST_FLAGS, Evidence, Flag

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from inspect_ai.solver import TaskState

    from evals.judging.protocol import Images
    from scorers.rubric.items import Item

_MOST_SNIPPET = 300


class Dossier(StoreModel):
    """The evidence on one sample.

    Attributes:
        evidence: As `scorers.rubric.evidence.Evidence` has it, its pictures left out; None while
            there is none.
        pictures: The figures as data URIs, by their reference.
        transcript: The condensed transcript.
        selection: How the task selects items of a checklist.
        problem: Why there is no evidence. It is our fault, never the agent's.
    """

    evidence: dict[str, Any] | None = None
    pictures: dict[str, str] = Field(default_factory=dict)
    transcript: str = ""
    selection: dict[str, Any] = Field(default_factory=dict)
    problem: str | None = None


async def keep_dossier(state: TaskState) -> Dossier:
    """Return the sample's evidence, from its store if it is there, else gathered now.

    Evidence that cannot be gathered costs no other score: the dossier says why it is missing.
    """
    dossier = state.store_as(Dossier)
    workspace = state.store_as(Workspace)
    settled = dossier.evidence is not None or dossier.problem is not None
    if settled or not workspace.kind or not has_sandbox():
        return dossier
    try:
        await settle(workspace)
        evidence = await gather_evidence(state, workspace)
    except EvalsError as error:
        dossier.problem = error.message
        return dossier
    take_evidence(dossier, evidence)
    _take_transcript(dossier, state, workspace)
    dossier.selection = selection_of(capsule_for(state.metadata["data_hash"]).rubric)
    return dossier


def keeping_evidence(
    cleanup: Callable[[TaskState], Awaitable[None]],
) -> Callable[[TaskState], Awaitable[None]]:
    """Return a task's `cleanup` that keeps the evidence too, for a judge who may come later."""

    async def keep(state: TaskState) -> None:
        await cleanup(state)
        # Who stops a run does not want to wait.
        if not run_cancelled():
            await keep_dossier(state)

    return keep


def take_evidence(dossier: Dossier, evidence: Evidence) -> None:
    """Store evidence, each picture as one text of its own, which logs keep once."""
    told = evidence.model_dump(mode="json")
    for figure in told["figures"]:
        figure["data"] = ""
    dossier.pictures = {figure.ref: uri_of(figure) for figure in evidence.figures}
    dossier.evidence = told


def evidence_of(dossier: Dossier) -> Evidence:
    """Return the stored evidence, checked again: a log can be edited.

    Raises:
        ValueError: It does not hold to its form.
    """
    told = dict(dossier.evidence or {})
    told["figures"] = [
        figure | {"data": dossier.pictures.get(figure["ref"], "").partition(",")[2]}
        for figure in told.get("figures", [])
    ]
    return Evidence.model_validate(told)


def check_results(evidence: Evidence) -> list[CheckResult]:
    """Return what checks found out when the evidence was gathered."""
    return [
        CheckResult(each.check, each.verdict, each.says, tuple(each.refs))
        for each in evidence.checks
    ]


def case_of(
    state: TaskState,
    dossier: Dossier,
    items: Sequence[Item],
    images: Images,
    anchors: tuple[str, ...] = (),
) -> Case:
    """Return what a judge gets to see of a sample.

    Args:
        state: The sample.
        dossier: Its evidence.
        items: What the judge will be asked; evidence that repeats their wording is flagged.
        images: Which figures are shown.
        anchors: The task's own rules for judges.
    """
    evidence = with_copies_flagged(evidence_of(dossier), [item.text for item in items])
    return Case(
        instruction=state.input_text,
        evidence=evidence,
        transcript=dossier.transcript,
        telemetry=told_numbers(state.store_as(Graded).telemetry),
        figures=chosen(evidence.figures, images),
        anchors=anchors,
    )


def _take_transcript(dossier: Dossier, state: TaskState, workspace: Workspace) -> None:
    turns = turns_of(Work(list(transcript().events)), state.messages)
    # Who read the private part is told by the outcome; its canary goes into no prompt.
    canaries = canaries_of(capsule_for(state.metadata["data_hash"]).path)
    names = dict.fromkeys(canaries, "[canary]")
    if workspace.kind == "local":
        # Paths of this machine say nothing to a judge, and change with each run.
        names |= {workspace.input_dir: INPUT, workspace.output_dir: OUTPUT}
    told = condensed(turns, TRANSCRIPT_TOKENS, names)
    dossier.transcript = told.text
    found = [
        Flag(where=REF, kind=each.kind, snippet=each.snippet[:_MOST_SNIPPET]).model_dump()
        for each in told.found
    ]
    flags = (dossier.evidence or {}).get("flags", [])
    dossier.evidence = (dossier.evidence or {}) | {"flags": [*flags, *found][:MOST_FLAGS]}
