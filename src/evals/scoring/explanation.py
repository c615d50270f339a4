"""The account of a verdict that people read: tables, reasons, one small picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evals.scoring.markdown import escaped, shown, table
from evals.telemetry.telling import audit_line, telemetry_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evals.scoring.record import Graded

MAX_ROWS = 30
_STATUS = {
    "delivered": "delivered",
    "no_deliverable": "nothing usable was delivered",
    "crash": "the run crashed",
    "timed_out": "the run ran out of time",
    "refused": "the model or its provider refused",
    "limit": "a limit ended the run",
}


def explanation(record: Graded) -> str:
    """Return the Markdown account of a graded submission."""
    grade = record.grade or {}
    parts = [
        _summary(grade, record),
        f"**Reason:** {escaped(grade['error'], 1000)}" if grade.get("error") else "",
        _leak(record),
        audit_line(record.audit),
        _picture(record),
        _metrics(grade),
        _items(grade.get("items") or []),
        _deliverables(grade.get("deliverables") or {}),
        telemetry_table(record.telemetry),
    ]
    return "\n\n".join(part for part in parts if part)


def compared(grade: Mapping[str, Any]) -> str:
    """Return the names of the files that were compared with the reference."""
    found = (grade.get("deliverables") or {}).get("found") or {}
    names = [str(name) for files in found.values() for name in _as_list(files)]
    if not names:
        return "no deliverable"
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(escaped(name, 80) for name in names[:3]) + more


def _summary(grade: Mapping[str, Any], record: Graded) -> str:
    parts = [
        *_outcome(grade, record),
        _STATUS.get(record.status or "", ""),
        f"limit: {escaped(record.limit)}" if record.limit else "",
        escaped(record.limit_reason, 300),
    ]
    return " · ".join(part for part in parts if part)


def _outcome(grade: Mapping[str, Any], record: Graded) -> list[str]:
    if record.status == "refused":
        return ["**Not scored**"]
    verdict = "passed" if grade.get("passed") else "not passed"
    strict = grade.get("strict")
    return [
        f"**Outcome {shown(_number(grade.get('outcome')))}** ({verdict})",
        f"strict {shown(_number(strict))}" if strict is not None else "strict: not available",
    ]


def _leak(record: Graded) -> str:
    if not record.canary:
        return ""
    places = escaped(", ".join(record.canary), 500)
    return (
        f"**The private part was read:** its canary stands in {places}. This score says nothing "
        "about the agent's analysis."
    )


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _picture(record: Graded) -> str:
    if not record.thumbnail:
        return ""
    return f"![{escaped(record.thumbnail_caption)}]({record.thumbnail})"


def _metrics(grade: Mapping[str, Any]) -> str:
    told = {"result_score": grade.get("result_score"), **(grade.get("metrics") or {})}
    rows = [*told.items(), *(grade.get("strict_metrics") or {}).items()]
    return _with_title("Metrics", table(("Metric", "Value"), rows[:MAX_ROWS]), len(rows))


def _items(items: list[dict[str, Any]]) -> str:
    header = list(dict.fromkeys(key for item in items[:MAX_ROWS] for key in item))
    rows = [[item.get(key) for key in header] for item in items[:MAX_ROWS]]
    return _with_title("Items", table(header, rows), len(items))


def _deliverables(deliverables: Mapping[str, Any]) -> str:
    rows: list[tuple[object, ...]] = [
        (name, "found", _files(files)) for name, files in (deliverables.get("found") or {}).items()
    ]
    rows += [
        (entry.get("deliverable"), "rejected", f"{entry.get('file')}: {entry.get('reason')}")
        for entry in _mappings(deliverables.get("rejected"))
    ]
    rows += [
        ("", "not read", f"{entry.get('file')}: {entry.get('reason')}")
        for entry in _mappings(deliverables.get("refused"))
    ]
    rows += [
        (entry.get("id"), "missing", _missing(entry))
        for entry in _mappings(deliverables.get("missing"))
    ]
    header = ("Deliverable", "State", "Files and reasons")
    return _with_title("Deliverables", table(header, rows[:MAX_ROWS]), len(rows))


def _missing(entry: Mapping[str, Any]) -> str:
    return f"{entry.get('reason') or 'not found'} (pattern {entry.get('filename_pattern')})"


def _files(files: object) -> str:
    names = [str(name) for name in _as_list(files)]
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def _as_list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _mappings(value: object) -> list[dict[str, Any]]:
    return [entry for entry in _as_list(value) if isinstance(entry, dict)]


def _with_title(title: str, body: str, total: int) -> str:
    if not body:
        return ""
    more = f" (the first {MAX_ROWS} of {total})" if total > MAX_ROWS else ""
    return f"**{title}{more}**\n\n{body}"
