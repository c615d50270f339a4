from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
from inspect_ai.scorer import Score

from evals.errors import DataMissingError
from evals.judging.decision_files import Decisions, DecisionsInvalidError, Rating, read_decisions

if TYPE_CHECKING:
    from pathlib import Path


def table(folder: Path, text: str) -> Decisions:
    path = folder / "people.csv"
    path.write_text(text, encoding="utf-8")
    return read_decisions(path)


def write_log(folder: Path, *scores: dict[str, Any], name: str = "process") -> Path:
    """Write a log of one task, a sample for each metadata of its score."""
    samples = [
        EvalSample(
            id=f"dots-s{at}",
            epoch=1,
            input="Count.",
            target="",
            metadata={"task_id": "dots"},
            scores={name: Score(value=0.5, metadata=metadata)},
        )
        for at, metadata in enumerate(scores)
    ]
    spec = EvalSpec(
        created="2026-09-01T08:00:00+00:00",
        task="evals/biaa",
        model="mockllm/model",
        dataset=EvalDataset(),
        config=EvalConfig(),
    )
    path = folder / "judge.eval"
    write_eval_log(EvalLog(eval=spec, samples=samples), str(path))
    return path


def decision(item: str, status: str | None, **more: Any) -> dict[str, Any]:
    return {"item_id": item, "status": status, "by": "judge", "confidence": 0.9, **more}


def test_a_table_gives_a_rating_a_line(tmp_path: Path) -> None:
    read = table(
        tmp_path,
        "item_id,status,rater,task_id,sample_id,epoch,severity\n"
        "a, pass ,ann,dots,dots-s1,2,critical\n"
        "b,,ann,dots,dots-s1,2,minor\n",
    )
    place = ("dots", "dots-s1", "2")
    assert read.ratings == [
        Rating("a", "pass", "ann", place, "critical", by_check=False, where="line 2"),
        Rating("b", "", "ann", place, "minor", by_check=False, where="line 3"),
    ]
    assert read.places == ("task_id", "sample_id", "epoch")


def test_a_table_of_a_spreadsheet_may_begin_with_a_mark_and_have_ragged_lines(
    tmp_path: Path,
) -> None:
    read = table(tmp_path, "\ufeffitem_id,status,rater\na,pass\nb,fail,ann,more\n")
    assert [(r.item, r.status, r.rater) for r in read.ratings] == [
        ("a", "pass", ""),
        ("b", "fail", "ann"),
    ]
    assert read.places == ()


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("item_id,human_status\na,pass\n", "name the column status"),
        ("item_id;status\na;pass\n", "name the columns item_id, status"),
        ("", "got none"),
        ("item_id,status\n", "has no decisions"),
        ("item_id,status\na,pass\n,fail\n", "line 3"),
    ],
)
def test_a_table_that_cannot_be_used_is_told_with_a_remedy(
    tmp_path: Path, text: str, hint: str
) -> None:
    with pytest.raises(DecisionsInvalidError, match=hint):
        table(tmp_path, text)


def test_a_table_in_another_encoding_is_told(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes("item_id,status\nmaß,pass\n".encode("latin-1"))
    with pytest.raises(DataMissingError, match="UTF-8"):
        read_decisions(path)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataMissingError, match="no file"):
        read_decisions(tmp_path / "people.csv")


def test_a_log_gives_a_rating_a_decision(tmp_path: Path) -> None:
    decisions = [
        decision("a", "pass", severity="major"),
        decision("b", None, by="nobody"),
        decision("c", "fail", by="check"),
    ]
    read = read_decisions(write_log(tmp_path, {"decisions": decisions}))
    place, where = ("dots", "dots-s0", "1"), "sample dots-s0 (epoch 1)"
    assert read.ratings == [
        Rating("a", "pass", "", place, "major", by_check=False, where=where),
        Rating("b", "", "", place, "", by_check=False, where=where),
        Rating("c", "fail", "", place, "", by_check=True, where=where),
    ]


def test_samples_of_a_log_without_decisions_are_counted(tmp_path: Path) -> None:
    read = read_decisions(write_log(tmp_path, {}, {"decisions": [decision("a", "pass")]}, {}))
    assert (len(read.ratings), read.unscored) == (1, 2)


def test_a_log_without_any_decisions_is_told_with_a_remedy(tmp_path: Path) -> None:
    path = write_log(tmp_path, {"decisions": [decision("a", "pass")]}, name="grade")
    with pytest.raises(DecisionsInvalidError, match="--model-role grader"):
        read_decisions(path)


@pytest.mark.parametrize(
    "decisions", ["pass", ["pass"], [{"status": "pass"}], [{"item_id": "a", "status": 1}]]
)
def test_decisions_of_another_form_are_told_with_their_sample(
    tmp_path: Path, decisions: object
) -> None:
    with pytest.raises(DecisionsInvalidError, match=r"sample dots-s0 \(epoch 1\)"):
        read_decisions(write_log(tmp_path, {"decisions": decisions}))


def test_a_file_that_is_no_log_is_told(tmp_path: Path) -> None:
    path = tmp_path / "judge.eval"
    path.write_text("item_id,status\n", encoding="utf-8")
    with pytest.raises(DataMissingError, match="expected a log of Inspect"):
        read_decisions(path)
