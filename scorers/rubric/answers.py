"""What a judge wrote, read as one decision for each asked item.

Nothing that a judge writes raises. An item without a valid answer is unscored: its decision has
no status and says why. (Published code calls it `unknown`; neither counts in the published score.)
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scorers.rubric.decisions import Decision
from scorers.rubric.items import PASS, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from scorers.rubric.items import Item

UNKNOWN_REASONS = (
    "no_relevant_evidence",
    "ambiguous_evidence",
    "rubric_unclear",
    "image_unreadable",
)
NOT_JSON = "the answer holds no JSON of the wanted form"
MISSING = "the answer leaves this item out"
CONTRADICTORY = "the answer decides this item twice and differently"
WEAK_NOTE = "(No evidence that exists is cited.)"

_MAX_REFS, _MAX_RATIONALE = 20, 2000


@dataclass(frozen=True)
class Answers:
    """What one answer decides.

    Attributes
    ----------
    decisions
        One for each asked item, in the order in which they were asked.
    extra
        Results that were dropped: items that nobody asked for, and repetitions.
    problem
        Why nothing could be read at all; empty otherwise.
    """

    decisions: tuple[Decision, ...]
    extra: int = 0
    problem: str = ""

    @property
    def complete(self) -> bool:
        """Whether each asked item has a valid answer."""
        return all(decision.status is not None for decision in self.decisions)


def read_answers(text: str, items: Sequence[Item], refs: Collection[str]) -> Answers:
    """Read a judge's answer to `items`, of which `refs` are the evidence references that exist.

    The first valid result of an item counts. A second one that says the same is dropped, one that
    says otherwise leaves the item without a valid answer.
    """
    results = _results(text)
    if results is None:
        return Answers(tuple(unscored(item, NOT_JSON) for item in items), problem=NOT_JSON)
    by_id: dict[str, list[dict[str, Any]]] = {item.id: [] for item in items}
    extra = 0
    for result in results:
        asked = by_id.get(_text(_value(result, "item_id")))
        if asked is None:
            extra += 1
        else:
            extra += bool(asked)
            asked.append(result)
    return Answers(tuple(_one_of(item, by_id[item.id], refs) for item in items), extra)


def unscored(item: Item, problem: str) -> Decision:
    """Return the decision on an item that has no valid answer."""
    return Decision(item.id, None, by="nobody", problem=problem)


def repair_request(answers: Answers, items: Sequence[Item]) -> str:
    """Return a message that asks again for what is missing or malformed, and for nothing else.

    It repeats nothing of the answer, into which text of the judged agent may have found its way.
    """
    asked = {item.id: item for item in items}
    open_ones = [decision for decision in answers.decisions if decision.status is None]
    lines = [
        f"- {decision.item_id}: {decision.problem}; "
        f"allowed: {', '.join(asked[decision.item_id].statuses)}"
        for decision in open_ones
    ]
    return "\n".join(
        [
            "These items still lack a valid answer:",
            *lines,
            "Answer them, and only them, with one JSON object of the form you were given, one "
            "result for each, and nothing before or after it.",
        ]
    )


def merged(before: Sequence[Decision], after: Sequence[Decision]) -> tuple[Decision, ...]:
    """Return `before` with what a later pass of a judge says of items that were still open.

    Unscored ones take any later decision, unknown ones a valid one; what is decided stays.
    """
    later = {decision.item_id: decision for decision in after}
    return tuple(_later(decision, later.get(decision.item_id)) for decision in before)


def _later(before: Decision, after: Decision | None) -> Decision:
    if after is None or before.status not in {None, UNKNOWN}:
        return before
    return before if before.status == UNKNOWN and after.status is None else after


def _one_of(item: Item, results: Sequence[dict[str, Any]], refs: Collection[str]) -> Decision:
    if not results:
        return unscored(item, MISSING)
    decisions = [_decision(item, result, refs) for result in results]
    valid = [decision for decision in decisions if decision.status is not None]
    if len({decision.status for decision in valid}) > 1:
        return unscored(item, CONTRADICTORY)
    return valid[0] if valid else decisions[0]


def _decision(item: Item, result: dict[str, Any], refs: Collection[str]) -> Decision:
    status = _status(_value(result, "status"), item.statuses)
    if status is None:
        return unscored(item, "the status is none of the allowed ones")
    confidence = _confidence(_value(result, "confidence"))
    rationale = _text(_value(result, "rationale"))[:_MAX_RATIONALE]
    cited = _cited(_value(result, "evidence_refs"), refs)
    weak = status == PASS and not cited
    if weak:
        confidence = min(confidence / 2, 0.5)
        rationale = f"{rationale} {WEAK_NOTE}".strip()
    return Decision(
        item.id,
        status,
        confidence,
        rationale,
        cited,
        _unknown_reason(_value(result, "unknown_reason")) if status == UNKNOWN else "",
        weak,
    )


def _status(value: Any, allowed: Sequence[str]) -> str | None:
    said = _text(value).casefold()
    return next((status for status in allowed if status.casefold() == said), None)


def _confidence(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return min(max(number, 0.0), 1.0) if math.isfinite(number) else 0.0


def _cited(value: Any, refs: Collection[str]) -> tuple[str, ...]:
    given = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    known = (_known(_text(entry), refs) for entry in given[:_MAX_REFS])
    return tuple(dict.fromkeys(ref for ref in known if ref))


def _known(cited: str, refs: Collection[str]) -> str:
    """Give the reference that is cited, be it with a place in it such as `file:a.py, line 3`."""
    bare = cited.strip("[]()`'\" ")
    for exact in (cited, bare):
        if exact in refs:
            return exact
    inside = [ref for ref in refs if bare.startswith(tuple(ref + sign for sign in " ,;:#("))]
    return max(inside, key=len, default="")


def _unknown_reason(value: Any) -> str:
    reason = _text(value)
    if not reason:
        return "no_relevant_evidence"
    return reason if reason in UNKNOWN_REASONS else "rubric_unclear"


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _value(result: dict[str, Any], name: str) -> Any:
    """Give a field of a result, under its published name where it has that."""
    return result.get(name, result.get(f"vlm_{name}"))


def _results(text: str) -> list[dict[str, Any]] | None:
    """Give the results of the first candidate that holds any."""
    for candidate in _candidates(text):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        found = [entry for entry in _listed(value) if isinstance(entry, dict)]
        if found:
            return found
    return None


def _listed(value: Any) -> list[Any]:
    """Give the list in `results` or the list itself, or BiomniBench's mapping of criteria."""
    if isinstance(value, dict) and isinstance(value.get("criteria"), dict):
        return [
            {"item_id": name, "status": entry.get("level"), "rationale": entry.get("reason")}
            for name, entry in value["criteria"].items()
            if isinstance(entry, dict)
        ]
    listed = value.get("results") if isinstance(value, dict) else value
    return listed if isinstance(listed, list) else []


def _candidates(text: str) -> Iterator[str]:
    """Give the whole text, fenced blocks, the last first, and the first `{` to the last `}`.

    Where the whole is JSON, a fence in it is a quotation. A judge that quotes before it answers
    has its answer in the last block.
    """
    yield text
    blocks = text.split("```")[1::2]
    yield from (block.removeprefix("json") for block in reversed(blocks))
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        yield text[start : end + 1]
