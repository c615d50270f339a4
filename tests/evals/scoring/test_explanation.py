from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inspect_ai.util import Store

from evals.scoring.explanation import MAX_ROWS, compared, explanation
from evals.scoring.record import Graded

Make = Callable[..., dict[str, Any]]
URI = "data:image/png;base64,iVBORw0KGgo="


def record(grade: dict[str, Any], **changes: Any) -> Graded:
    return Graded(store=Store(), grade=grade, status="delivered", **changes)


def test_it_tells_outcome_strict_metrics_items_and_deliverables(make_report: Make) -> None:
    text = explanation(record(make_report()))
    assert text.startswith("**Outcome 0.75** (passed) · strict 0.5 · delivered")
    assert r"| mean\_dice | 0.75 |" in text
    assert "| a.tif | scored | 0.75 |" in text
    assert "| masks | found | a.tif |" in text


def test_the_picture_stands_on_a_line_of_its_own(make_report: Make) -> None:
    text = explanation(record(make_report(), thumbnail=URI, thumbnail_caption="hits [x](y)"))
    [line] = [line for line in text.splitlines() if URI in line]
    assert line.startswith("![hits &#91;x&#93;(y)](data:image/png")
    assert line.endswith(")")


def test_the_reason_of_a_zero_is_told(make_report: Make) -> None:
    grade = make_report(outcome=0.0, passed=False, strict=None, error="deliverable 'm' not found")
    text = explanation(record(grade))
    assert "**Outcome 0** (not passed) · strict: not available" in text
    assert "**Reason:** deliverable 'm' not found" in text


def test_what_was_rejected_missing_or_not_read_is_told_with_its_reason(make_report: Make) -> None:
    deliverables = {
        "found": {},
        "rejected": [{"file": "b.tif", "reason": "a colour image", "deliverable": "m"}],
        "missing": [{"id": "m", "reason": "no conforming file", "filename_pattern": "*.tif"}],
        "refused": [{"file": "link", "reason": "a link, not a regular file"}],
    }
    text = explanation(record(make_report(deliverables=deliverables)))
    assert "| m | rejected | b.tif: a colour image |" in text
    assert r"| m | missing | no conforming file (pattern \*.tif) |" in text
    assert "|  | not read | link: a link, not a regular file |" in text


def test_long_lists_are_cut_and_say_so(make_report: Make) -> None:
    items = [{"item": f"i{index}", "status": "scored"} for index in range(100)]
    text = explanation(record(make_report(items=items)))
    assert f"**Items (the first {MAX_ROWS} of 100)**" in text
    assert "i29" in text
    assert "i30" not in text


def test_hostile_file_names_stay_text(make_report: Make) -> None:
    name = "x|y\n# big ![p](http://e/p.png) <script>alert(1)</script> $$a$$ `c`.tif"
    grade = make_report(deliverables={"found": {"m": [name]}}, items=[{"item": name}], error=name)
    text = explanation(record(grade))
    assert "<script>" not in text
    assert "![p]" not in text
    assert "http://" not in text
    assert "$$" not in text
    assert "\n#" not in text
    rows = [line for line in text.splitlines() if "script" in line and line.startswith("|")]
    assert [line.count("|") for line in rows] == [2, 4]
    assert "<" not in compared(grade)


def test_what_was_compared_names_the_first_files(make_report: Make) -> None:
    grade = make_report(deliverables={"found": {"m": ["a", "b"], "n": ["c", "d", "e"]}})
    assert compared(grade) == "a, b, c and 2 more"
    assert compared(make_report(deliverables={"found": {"m": []}})) == "no deliverable"
