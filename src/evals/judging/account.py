"""The account of a process score that people read: what was decided of each item, and why."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from anyio import to_thread
from inspect_ai.log import transcript

from evals.judging.case import uri_of
from evals.scoring.markdown import escaped, shown, table
from scorers.errors import SubmissionFault
from scorers.rubric.items import FAIL, NOT_APPLICABLE, PASS, UNKNOWN
from scorers.rubric.rendering.drawing import smaller

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evals.judging.case import Case
    from evals.judging.judge import Judgement
    from scorers.rubric.arithmetic import ChecklistScore
    from scorers.rubric.checks.combining import Combined
    from scorers.rubric.decisions import Decision
    from scorers.rubric.evidence import Figure, Flag
    from scorers.rubric.items import Item

FIGURE_SOURCE = "evals/judged-figure"

# The log viewer cuts texts at 250,000 characters, pictures inside them too.
_SHOWN_BYTES, _SHOWN_SIDE = 180_000, 800

_ORDER = (FAIL, None, UNKNOWN, PASS, NOT_APPLICABLE)
_SEVERITIES = ("critical", "major", "minor")
_MOST_FLAGS = 12
_MOST_REFS = 4


def explanation(
    items: Sequence[Item],
    score: ChecklistScore,
    combined: Combined,
    judgement: Judgement,
    flags: Sequence[Flag],
) -> str:
    """Return the Markdown account: sums, what is odd, and a table with failures first."""
    asked = {item.id: item for item in items}
    ranked = sorted(combined.decisions, key=lambda one: _rank(one, asked[one.item_id]))
    rows = [_row(one, asked[one.item_id]) for one in ranked]
    parts = [
        _summary(score),
        _who(judgement),
        _flags(flags),
        _checks(combined),
        table(("Item", "Decision", "Why", "Evidence"), rows),
    ]
    return "\n\n".join(part for part in parts if part)


async def show_figures(case: Case) -> None:
    """Put the figures that a judge gets to see into the transcript, the large ones smaller."""
    for figure in case.figures:
        caption = escaped(f"{figure.ref}: {figure.path}")
        picture = await to_thread.run_sync(_picture, figure)
        shown_as = f"![{caption}]({picture})" if picture else "It is too large to be shown here."
        transcript().info(f"{caption}\n\n{shown_as}", source=FIGURE_SOURCE)


def _picture(figure: Figure) -> str:
    """Return a data URI that the viewer shows; nothing where that cannot be made."""
    if len(figure.data) <= _SHOWN_BYTES * 4 // 3:
        return uri_of(figure)
    try:
        png = smaller(figure.ref, base64.b64decode(figure.data), _SHOWN_SIDE, _SHOWN_BYTES)
    except SubmissionFault:
        return ""
    return f"data:{figure.media_type};base64,{base64.b64encode(png).decode()}"


def _summary(score: ChecklistScore) -> str:
    counts = {
        name: sum(each[name] for each in score.by_severity.values())
        for name in (PASS, FAIL, UNKNOWN, NOT_APPLICABLE, "unscored")
    }
    told = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count)
    parts = [
        f"**Process {shown(score.score) or 'not available'}** (of what is decided)",
        f"strict {shown(score.strict) or 'not available'}",
        f"decided {score.share_decided:.0%} of the weight",
        told,
    ]
    if score.failed_criticals:
        parts.append(f"**{len(score.failed_criticals)} critical failed**")
    return " · ".join(part for part in parts if part)


def _who(judgement: Judgement) -> str:
    lines = []
    for name, tally in judgement.tallies.items():
        cost = tally.usage.total_cost
        parts = [
            f"Judge {escaped(name)}",
            f"{tally.calls} calls",
            f"{tally.cache_hits} answers from the cache" if tally.cache_hits else "",
            f"{tally.usage.total_tokens:,} tokens" if tally.usage.total_tokens else "",
            f"{cost:.4f} USD" if cost is not None else "",
            "answered without the figures, which were too large" if tally.without_figures else "",
        ]
        lines.append(" · ".join(part for part in parts if part))
    if judgement.agreement is not None:
        lines.append(f"Agreement of pairs of judges: {judgement.agreement:.0%}")
    return "\n\n".join(lines)


def _flags(flags: Sequence[Flag]) -> str:
    told = [flag for flag in flags if flag.kind != "shortened"]
    if not told:
        return ""
    first = "; ".join(
        f"{escaped(flag.where, 80)}: {escaped(flag.kind)} ({escaped(flag.snippet, 120)})"
        for flag in told[:_MOST_FLAGS]
    )
    more = f" and {len(told) - _MOST_FLAGS} more" if len(told) > _MOST_FLAGS else ""
    return f"**Made harmless before the judge saw it:** {first}{more}"


def _checks(combined: Combined) -> str:
    checked = sum(one.by == "check" for one in combined.decisions)
    if not checked:
        return ""
    rows = [
        (each.item_id, each.check.replace("_", " "), each.judge, each.says)
        for each in combined.disagreements
    ]
    told = f"**Decided by checks:** {checked} items; on {len(rows)} the judge says otherwise."
    header = ("Item", "Check", "Judge", "What the check found")
    return "\n\n".join(filter(None, [told, table(header, rows)]))


def _rank(decision: Decision, item: Item) -> tuple[bool, int, int, str]:
    severity, status = item.severity, decision.status
    weight = _SEVERITIES.index(severity) if severity in _SEVERITIES else len(_SEVERITIES)
    critical = status == FAIL and severity == "critical"
    return not critical, _ORDER.index(status), weight, item.id


def _row(decision: Decision, item: Item) -> tuple[object, ...]:
    refs = ", ".join(decision.refs[:_MOST_REFS])
    more = f" and {len(decision.refs) - _MOST_REFS} more" if len(decision.refs) > _MOST_REFS else ""
    return (f"{item.text} ({item.severity})", _decided(decision), _why(decision), refs + more)


def _decided(decision: Decision) -> str:
    if decision.status is None:
        return "unscored"
    told = decision.status.replace("_", " ")
    if decision.by == "check":
        said = decision.judge_status
        differs = said is not None and said != decision.status
        return f"{told}, by a check{f' (the judge: {said})' if differs else ''}"
    votes = decision.votes
    if sum(votes.values()) > 1:
        told += f" ({', '.join(f'{name} {count}' for name, count in votes.items())})"
    return f"{told}, weak evidence" if decision.weak else told


def _why(decision: Decision) -> str:
    if decision.status is None:
        return decision.problem
    reason = decision.unknown_reason.replace("_", " ")
    return f"{reason}: {decision.rationale}" if reason else decision.rationale


def decision_rows(
    items: Sequence[Item],
    decisions: Sequence[Decision],
    by_judge: Mapping[str, Sequence[Decision]],
) -> list[dict[str, Any]]:
    """Return the decisions for a score's metadata; of a panel, each judge's status beside it."""
    asked = {item.id: item for item in items}
    statuses = {
        name: {one.item_id: one.status for one in given} for name, given in by_judge.items()
    }
    return [
        {
            "item_id": one.item_id,
            "severity": asked[one.item_id].severity,
            "group": asked[one.item_id].subsection,
            "status": one.status,
            "by": one.by,
            "confidence": one.confidence,
            "rationale": one.rationale,
            "refs": list(one.refs),
            "weak": one.weak,
            "unknown_reason": one.unknown_reason,
            "votes": dict(one.votes),
            "problem": one.problem,
            "judge_status": one.judge_status,
        }
        | (
            {"by_judge": {name: given.get(one.item_id) for name, given in statuses.items()}}
            if len(statuses) > 1
            else {}
        )
        for one in decisions
    ]
