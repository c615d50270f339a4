"""The process scorer: how an agent worked, judged item by item on the evidence of its work."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from inspect_ai.scorer import Score, Scorer, Target, scorer

from evals import options
from evals.judging.account import decision_rows, explanation, show_figures
from evals.judging.dossier import case_of, check_results, keep_dossier
from evals.judging.judge import Judgement, judge
from evals.judging.protocol import ITEMS_PER_CALL, Images, Protocol, judges
from evals.judging.rubrics import ChosenChecklist, anchors_for, open_checklist
from evals.scoring.markdown import escaped
from evals.scoring.metrics import mean, spread, stderr
from evals.scoring.record import Graded
from scorers.rubric.arithmetic import checklist_score
from scorers.rubric.checks.combining import combine
from scorers.rubric.checks.mapping import decide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspect_ai.solver import TaskState

    from evals.judging.case import Case
    from scorers.rubric.decisions import Decision
    from scorers.rubric.items import Item

_KEYS = ("checklist", "checklist_strict", "decided")


@scorer(
    metrics={
        "checklist": [mean(), stderr(), spread()],
        "checklist_strict": [mean(), stderr(), spread()],
        "decided": [mean()],
    }
)
def process(
    checklist: str | None = None,
    panel: str | list[str] | None = None,
    samples: int = 1,
    images: Images = "plots",
    items_per_call: int = ITEMS_PER_CALL,
    hybrid: bool = False,
    cache: bool = True,
) -> Scorer:
    """Judge how the agent worked against a checklist, with the model in the role `grader`.

    The evidence is gathered once, while the sandbox lives, and kept in the sample's store; a log
    that has it can be judged again with `inspect score`. What the judge fails to answer is left
    out, never a zero.

    Args:
        checklist: Path of a checklist in BIABench's form; by default the one that ships.
        panel: Models that judge together, in place of the role's; the majority of them counts.
        samples: Answers to each item from each judge, of which the majority counts.
        images: Figures that the judge sees: `none`, `plots`, or `all`.
        items_per_call: Items that one call asks for.
        hybrid: Whether code decides the items that it can decide; what the judge says of them is
            told beside it.
        cache: Whether answers are kept on this machine, so that none is paid for twice.

    Returns:
        Scorer whose value has the keys `checklist` (published: passed weight of what is decided),
        `checklist_strict` (of all that was asked), both 0 to 1, and `decided` (share of the weight
        that was decided). The first two are NaN where nothing is decided.

    Raises:
        EvalsError: An option is not as it should be, or the checklist cannot be read.
    """
    chosen = open_checklist(checklist)
    protocol = Protocol(samples, images, items_per_call, cache)
    names = options.names("panel", panel, "openai/gpt-5,anthropic/claude-opus-4-8")
    options.flag("hybrid", hybrid)

    async def score(state: TaskState, target: Target) -> Score:
        if state.store_as(Graded).status == "refused":
            # There is no work to judge, as there is none to grade.
            return Score(value=dict.fromkeys(_KEYS, math.nan), reason="refusal")
        dossier = await keep_dossier(state)
        if dossier.evidence is None:
            why = dossier.problem or "The log keeps no evidence on this sample."
            return Score.unscored(reason="grader_failed", explanation=escaped(why, 1000))
        items = chosen.items_for(dossier.selection)
        case = case_of(state, dossier, items, protocol.images, anchors_for(state.metadata))
        await show_figures(case)
        judgement = await judge(judges(names), case, items, protocol)
        checked = decide(items, check_results(case.evidence)) if hybrid else ()
        settings = asdict(protocol) | {"hybrid": hybrid}
        return _score(chosen, case, items, checked, judgement, settings)

    return score


def _score(
    chosen: ChosenChecklist,
    case: Case,
    items: Sequence[Item],
    checked: Sequence[Decision],
    judgement: Judgement,
    settings: dict[str, Any],
) -> Score:
    combined = combine(checked, judgement.decisions)
    summed = checklist_score(items, combined.decisions, chosen.checklist)
    told = explanation(items, summed, combined, judgement, case.evidence.flags)
    metadata = {
        "decisions": decision_rows(items, combined.decisions, judgement.by_judge),
        "breakdown": summed.breakdown(chosen.checklist),
        "passed": summed.passed,
        "failed_criticals": list(summed.failed_criticals),
        "strict_lower": summed.strict_lower,
        "disagreements": [asdict(each) for each in combined.disagreements],
        "judges": {name: tally.to_json() for name, tally in judgement.tallies.items()},
        "protocol": settings,
        "agreement": judgement.agreement,
        "checklist": {"name": chosen.name, "sha256": chosen.sha256, "items": len(items)},
        "figures": [figure.ref for figure in case.figures],
        "anchors": len(case.anchors),
        "flags": [flag.model_dump(mode="json") for flag in case.evidence.flags],
    }
    if items and all(decision.status is None for decision in judgement.decisions):
        return Score.unscored(reason="grader_failed", explanation=told, metadata=metadata)
    return Score(
        value={
            "checklist": math.nan if summed.score is None else summed.score,
            "checklist_strict": math.nan if summed.strict is None else summed.strict,
            "decided": summed.share_decided,
        },
        explanation=told,
        metadata=metadata,
    )
