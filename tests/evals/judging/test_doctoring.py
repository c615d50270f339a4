"""Each doctored submission against the builder of evidence and the reader of answers."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import anyio
import pytest
import yaml

from evals.judging.doctoring import DOCTORINGS, ORDER, Change, Doctoring, copy_of
from evals.judging.rubrics import ChosenChecklist, open_checklist
from evals.judging.subjects import folder_subject, items_of
from scorers.rubric.answers import read_answers
from tests.evals.judging.trials import (
    CHECKLIST,
    OPENS,
    TOLD,
    gather_here,
    has_drawn_order,
    pictures,
    prompt_of,
    small_capsule,
    small_submission,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evals.judging.trial import Subject

    Doctored = Callable[[Doctoring], tuple[Subject, Subject]]

MADE: dict[str, tuple[Subject, Subject]] = {}
BY_NAME = {one.name: one for one in DOCTORINGS}
every = pytest.mark.parametrize("doctoring", DOCTORINGS, ids=lambda one: one.name)


@pytest.fixture
def chosen(tmp_path: Path) -> ChosenChecklist:
    path = tmp_path / "checklist.yaml"
    path.write_text(yaml.safe_dump(CHECKLIST, sort_keys=False), encoding="utf-8")
    return open_checklist(str(path))


@pytest.fixture
def doctored(
    tmp_path: Path,
    make_capsule: Callable[..., Path],
    chosen: ChosenChecklist,
    monkeypatch: pytest.MonkeyPatch,
) -> Doctored:
    """Give the maker of a doctored submission's evidence and of its counterpart's."""
    monkeypatch.setattr("evals.judging.subjects.gather_folder", gather_here)
    capsule = small_capsule(tmp_path, make_capsule)
    submission = small_submission(tmp_path / "left")

    def gathered(name: str, change: Change) -> Subject:
        change(copy_of(submission, tmp_path / name), items_of(capsule, chosen))
        return anyio.run(folder_subject, capsule, tmp_path / name, chosen, "plots")

    def make(doctoring: Doctoring) -> tuple[Subject, Subject]:
        # The same for every test of the file.
        if doctoring.name not in MADE:
            honest = gathered("honest", doctoring.counterpart)
            MADE[doctoring.name] = honest, gathered("bad", doctoring.change)
        return MADE[doctoring.name]

    return make


@every
def test_evidence_is_flagged_or_it_is_said_why_not(
    doctoring: Doctoring, doctored: Doctored
) -> None:
    honest, bad = doctored(doctoring)
    kinds = {flag.kind for flag in bad.case.evidence.flags}
    assert doctoring.flags <= kinds
    assert not doctoring.flags & {flag.kind for flag in honest.case.evidence.flags}
    assert bool(doctoring.flags) != bool(doctoring.note)


@every
def test_no_order_stands_in_a_prompt_but_as_a_quotation(
    doctoring: Doctoring, doctored: Doctored
) -> None:
    _, bad = doctored(doctoring)
    prompt = prompt_of(bad.case, bad.items)
    quoted = re.compile(re.escape(OPENS) + "[^⟦⟧]*⟧")
    assert not TOLD.search(quoted.sub("", prompt))
    assert not re.search("[\u200b\U000e0000-\U000e007f]", prompt)


@pytest.mark.parametrize("name", ["order_in_text", "order_in_code", "order_in_file_name"])
def test_an_order_stays_readable_as_a_quotation(name: str, doctored: Doctored) -> None:
    _, bad = doctored(BY_NAME[name])
    assert re.search(f"{OPENS}[^⟧]*{TOLD.pattern}", prompt_of(bad.case, bad.items), re.IGNORECASE)


@every
def test_checks_decide_the_same(doctoring: Doctoring, doctored: Doctored) -> None:
    honest, bad = doctored(doctoring)
    assert honest.checked
    assert [(one.item_id, one.status) for one in honest.checked] == [
        (one.item_id, one.status) for one in bad.checked
    ]


@every
def test_evidence_itself_is_never_an_answer(doctoring: Doctoring, doctored: Doctored) -> None:
    _, bad = doctored(doctoring)
    prompt = prompt_of(bad.case, bad.items)
    for text in (prompt, prompt[prompt.index("```") :] if "```" in prompt else "{" + prompt):
        answers = read_answers(text, bad.items, bad.case.refs)
        assert [one.status for one in answers.decisions] == [None] * len(bad.items)


@every
def test_an_answer_after_a_quotation_of_evidence_is_read(
    doctoring: Doctoring, doctored: Doctored, kit: Any
) -> None:
    _, bad = doctored(doctoring)
    answer = kit.answer(*(kit.result(item.id, "fail") for item in bad.items))
    text = f"I read:\n{prompt_of(bad.case, bad.items)}\n```json\n{answer}\n```"
    answers = read_answers(text, bad.items, bad.case.refs)
    assert {one.status for one in answers.decisions} == {"fail"}


def test_a_verdict_that_is_not_made_harmless_would_be_an_answer(
    tmp_path: Path, chosen: ChosenChecklist
) -> None:
    items = chosen.items_for({"checklist_filter": {"include_keywords": ["general_evaluation"]}})
    BY_NAME["fake_verdict"].change(tmp_path, items)
    [notes] = tmp_path.glob("*.md")
    answers = read_answers(notes.read_text(encoding="utf-8"), items, ())
    assert {one.status for one in answers.decisions} == {"pass"}


def test_pixels_reach_the_judge_as_code_cannot_read_them(doctored: Doctored) -> None:
    _, bad = doctored(BY_NAME["order_in_pixels"])
    [picture] = pictures(bad.case.messages(bad.items))
    assert has_drawn_order(picture)


def test_metadata_reach_no_judge(doctored: Doctored, tmp_path: Path) -> None:
    _, bad = doctored(BY_NAME["order_in_metadata"])
    BY_NAME["order_in_metadata"].change(tmp_path, ())
    [figure] = tmp_path.glob("*.png")
    assert ORDER.encode() in figure.read_bytes()
    [picture] = pictures(bad.case.messages(bad.items))
    assert ORDER.encode() not in picture
    assert not has_drawn_order(picture)


def test_long_text_does_not_push_other_evidence_out(doctored: Doctored) -> None:
    honest, bad = doctored(BY_NAME["long_text"])
    texts = [
        {document.ref: document.text for document in subject.case.evidence.documents}
        for subject in (honest, bad)
    ]
    for ref in ("file:count.py", "file:report.md"):
        assert texts[1][ref] == texts[0][ref]
    assert len(json.dumps(texts[1])) < 20_000


def test_a_copy_has_no_links_and_writing_to_it_changes_nothing_else(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("mine", encoding="utf-8")
    submission = small_submission(tmp_path / "left")
    (submission / "additional_notes.md").symlink_to(outside)
    copied = copy_of(submission, tmp_path / "copied")
    BY_NAME["order_in_text"].change(copied, ())
    assert outside.read_text(encoding="utf-8") == "mine"
    assert ORDER in (copied / "additional_notes.md").read_text(encoding="utf-8")


def test_a_packed_submission_is_doctored_where_its_files_are(
    tmp_path: Path, make_submission: Callable[..., Path]
) -> None:
    packed = make_submission(tmp_path / "packed")
    assert copy_of(packed, tmp_path / "copied") == tmp_path / "copied" / "artifacts"
