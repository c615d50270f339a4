from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from evals.errors import GraderFailedError
from evals.scoring.verdict import OVERLAY_BYTES, THUMBNAIL_BYTES, printable, read_report

Make = Callable[..., dict[str, Any]]
PNG = b"\x89PNG\r\n\x1a\n"


def read(report: dict[str, Any]) -> Any:
    return read_report(json.dumps(report), "tiny")


def test_a_good_report_is_read(make_report: Make) -> None:
    report = read(make_report())
    assert (report.outcome, report.passed, report.strict) == (0.75, True, 0.5)
    assert report.thumbnail is not None
    assert report.thumbnail.uri.startswith("data:image/png;base64,iVBORw0KGgo")


def test_the_stored_grade_is_the_report_without_pictures(make_report: Make) -> None:
    expected = make_report()
    del expected["pictures"]
    assert read(make_report()).without_pictures() == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"outcome": None},
        {"outcome": 1.5},
        {"outcome": float("nan")},
        {"outcome": "0.5"},
        {"strict": -0.1},
        {"passed": None},
        {"items": "none"},
        {"items": [{"item": ["nested"]}]},
        {"metrics": {"dice": {"nested": 1}}},
        {"deliverables": []},
        {"surprise": 1},
    ],
    ids=str,
)
def test_a_report_that_breaks_the_contract_is_our_error(
    make_report: Make, changes: dict[str, Any]
) -> None:
    with pytest.raises(GraderFailedError, match="does not hold to the contract"):
        read(make_report(**changes))


@pytest.mark.parametrize("text", ["", "nonsense", "[", "{" * 100_000, "[" * 100_000])
def test_a_report_that_is_no_json_is_our_error(text: str) -> None:
    with pytest.raises(GraderFailedError, match="no JSON"):
        read_report(text, "tiny")


def test_a_report_on_another_task_is_our_error(make_report: Make) -> None:
    with pytest.raises(GraderFailedError, match="expected 'tiny'"):
        read(make_report(task_id="other"))


def test_a_report_of_unbounded_size_is_our_error(make_report: Make) -> None:
    with pytest.raises(GraderFailedError, match="larger than"):
        read(make_report(error="x" * 9_000_000))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"media_type": "image/jpeg"}, "does not begin as image/jpeg"),
        ({"media_type": "image/svg+xml"}, "media_type"),
        ({"data": "not base64!"}, "no base64"),
        ({"role": "banner"}, "role"),
        ({"data": "iVBORw0KGgo) [click](http://x"}, "no base64"),
    ],
)
def test_a_picture_that_is_not_what_it_claims_is_our_error(
    make_report: Make, make_picture: Make, changes: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(GraderFailedError, match=complaint):
        read(make_report(pictures=[make_picture(**changes)]))


@pytest.mark.parametrize(
    ("role", "bound"), [("thumbnail", THUMBNAIL_BYTES), ("overlay", OVERLAY_BYTES)]
)
def test_a_picture_may_have_as_many_bytes_as_its_role_allows(
    make_report: Make, make_picture: Make, role: str, bound: int
) -> None:
    fits = make_picture(role, PNG.ljust(bound, b"\0"))
    read(make_report(pictures=[fits]))
    too_large = make_picture(role, PNG.ljust(bound + 1, b"\0"))
    with pytest.raises(GraderFailedError, match="pictures"):
        read(make_report(pictures=[too_large]))


def test_only_one_picture_is_the_thumbnail(make_report: Make, make_picture: Make) -> None:
    with pytest.raises(GraderFailedError, match="more than one"):
        read(make_report(pictures=[make_picture(), make_picture()]))


def test_numbers_that_are_none_become_null(make_report: Make) -> None:
    report = read(make_report(metrics={"hd95": float("inf"), "dice": float("nan"), "n": 2}))
    assert report.metrics == {"hd95": None, "dice": None, "n": 2}


def test_counts_stay_whole_and_flags_stay_flags(make_report: Make) -> None:
    metrics = read(make_report(metrics={"n": 3, "ok": True, "x": 3.0})).metrics
    assert [type(value) for value in metrics.values()] == [int, bool, float]


def test_names_that_cannot_be_shown_are_written_out(make_report: Make) -> None:
    report = read(make_report(deliverables={"found": {"m": ["a\udcff\u202e\x1b.tif"]}}))
    assert report.deliverables["found"] == {"m": ["a\\udcff\\u202e\\u001b.tif"]}


def test_long_texts_are_cut() -> None:
    assert len(printable("x" * 10_000)) < 5000
