from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import pytest
from PIL import Image
from typer.testing import CliRunner

from evals.cli import app

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Agree = Callable[..., str]

PEOPLE = [f"s{at},{item},major,{'fail' if at == 3 else 'pass'}" for at in range(6) for item in "ab"]
JUDGE = [f"s{at},{item},pass" for at in range(6) for item in "ac"]


@pytest.fixture
def agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Agree:
    """Give the command on two files in the working folder, with few draws."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    header = "sample_id,item_id,severity,status"
    (tmp_path / "people.csv").write_text("\n".join([header, *PEOPLE]), encoding="utf-8")
    header = "sample_id,item_id,status"
    (tmp_path / "judge.csv").write_text("\n".join([header, *JUDGE]), encoding="utf-8")

    def run(*more: str, code: int = 0) -> str:
        arguments = ["judge", "agree", "people.csv", "judge.csv", "--resamples", "100", *more]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == code, result.output
        return result.output

    return run


def test_the_terminal_shows_what_was_compared_and_what_was_left_out(agree: Agree) -> None:
    output = agree()
    assert "people.csv: 12 decisions, left out 6 without a partner" in output
    assert "Compared: 6 pairs of decisions on 1 items of 6 samples" in output
    [line] = [line for line in output.splitlines() if line.startswith("observed agreement")]
    assert line.split()[2] == "0.83"


def test_the_terminal_explains_kappa_where_one_answer_is_common(agree: Agree) -> None:
    assert "Kappa is far below Brennan-Prediger: 92% of all answers are pass" in agree()


def test_the_terminal_says_why_a_figure_or_an_interval_is_missing(
    agree: Agree, tmp_path: Path
) -> None:
    judged = (tmp_path / "judge.csv").read_text(encoding="utf-8")
    (tmp_path / "people.csv").write_text(judged, encoding="utf-8")
    output = agree()
    assert "Undefined, all answers are the same: Cohen's kappa, Krippendorff's alpha." in output
    assert "No interval, the same in all resamples: observed agreement, Bren" in output


def test_json_has_the_figures_and_the_reasons_of_missing_ones(agree: Agree) -> None:
    told = json.loads(agree("--json", "--by", "severity"))
    assert told["overall"]["confusion"] == [[5, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert told["overall"]["kappa"]["value"] == 0
    assert told["overall"]["kappa"]["reason"].startswith("undefined in")
    assert [part["name"] for part in told["parts"]] == ["major"]
    assert told["counts"][1]["unmatched"] == 6


def test_the_same_seed_gives_the_same_output(agree: Agree) -> None:
    assert agree("--json") == agree("--json")
    assert agree("--json") != agree("--json", "--seed", "1")


def test_a_folder_gets_tables_and_a_picture(agree: Agree, tmp_path: Path) -> None:
    agree("--output", "told")
    folder = tmp_path / "told"
    told = json.loads((folder / "agreement.json").read_text(encoding="utf-8"))
    assert told["files"] == ["people.csv", "judge.csv"]
    with (folder / "agreement.csv").open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert [row["name"] for row in rows] == ["all answers", "decided by both", "a"]
    assert (folder / "agreement.svg").read_text(encoding="utf-8").startswith("<?xml")
    with Image.open(folder / "agreement.png") as picture:
        assert len(picture.convert("L").getcolors(256) or []) > 10


def test_the_same_numbers_give_the_same_picture(agree: Agree, tmp_path: Path) -> None:
    pictures = []
    for _ in range(2):
        agree("--output", "told")
        pictures.append((tmp_path / "told" / "agreement.svg").read_bytes())
    assert pictures[0] == pictures[1]


def test_names_with_dollar_signs_are_no_formulas(agree: Agree, tmp_path: Path) -> None:
    for name in ("people.csv", "judge.csv"):
        path = tmp_path / name
        path.write_text(path.read_text(encoding="utf-8").replace(",a,", r",$\frac$,"), "utf-8")
    assert r"$\frac$" in agree("--output", "told")


@pytest.mark.parametrize(
    ("more", "hint"),
    [
        (["--by", "itme"], "did you mean 'item'"),
        (["--by", "task"], "add a column task_id"),
        (["--levels", "A"], "--levels A,B,C"),
        (["--levels", "A,B"], "Unknown answer"),
    ],
)
def test_wrong_options_get_a_hint_and_no_traceback(
    agree: Agree, more: list[str], hint: str
) -> None:
    output = agree(*more, code=1)
    assert hint in output
    assert "Traceback" not in output
