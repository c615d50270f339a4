from __future__ import annotations

from scorers.rubric.copying import copied, with_copies_flagged
from scorers.rubric.evidence import Document, Evidence

ITEMS = [
    "Were seams between tiles invisible after blending, judged at full resolution?",
    "Is raw data left untouched?",
    "Scale bar?",
]


def test_many_words_of_an_item_in_a_row_are_found_however_they_are_set() -> None:
    text = "Done: *seams between\ntiles* invisible AFTER blending, judged at full size."

    [place] = copied(text, ITEMS)

    assert place.kind == "copied_rubric"
    assert place.snippet == "seams between tiles* invisible AFTER blending, judged at full"


def test_few_words_that_anybody_could_write_are_not() -> None:
    assert copied("Seams between tiles are invisible. A scale bar? Raw data left.", ITEMS) == ()


def test_repetitions_of_evidence_are_flagged_with_their_place() -> None:
    document = Document(
        ref="file:r.md",
        path="r.md",
        bucket="report",
        text=" ".join(ITEMS),
        chars=1,
        shortened=False,
    )
    evidence = Evidence(
        task_id="t", deliverables={}, files=[], files_total=0, documents=[document], tables=[],
        figures=[],
    )  # fmt: skip

    flagged = with_copies_flagged(evidence, ITEMS)

    assert {(flag.where, flag.kind) for flag in flagged.flags} == {("file:r.md", "copied_rubric")}
    assert evidence.flags == []


def test_a_text_of_nothing_but_an_item_ends_after_a_bounded_number_of_places() -> None:
    text = ("x " + ITEMS[0] + " ") * 500

    assert len(copied(text, ITEMS)) == 20
