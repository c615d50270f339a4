from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from scorers.rubric.checks.code import CALLS, called_names, calls_in

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scorers.rubric.checks.conftest import MakeScene


def test_calls_are_found_under_their_own_names() -> None:
    source = "from skimage.feature import peak_local_max as p\np(x)\nscipy.ndimage.label(y)(z)"
    assert sorted(called_names(source) or []) == ["label", "peak_local_max"]


def test_a_name_in_a_comment_or_a_text_is_no_call() -> None:
    assert called_names("# watershed(a)\n'watershed(a)'\nwatershed") == []


@pytest.mark.parametrize("source", ["def (", "\0", "(" * 5000, "-" * 200_000 + "1", "1" * 10_000])
def test_what_cannot_be_parsed_is_no_python(source: str) -> None:
    assert called_names(source) is None


def test_calls_are_weak_evidence_and_decide_nothing(out: Path, scene: MakeScene) -> None:
    (out / "a.py").write_text("watershed(a)\nwatershed(b)\n", encoding="utf-8")
    found = calls_in(scene())
    assert {finding.verdict for finding in found.values()} == {"unknown"}
    assert found["watershed_calls"].says.endswith("watershed (2).")
    assert found["watershed_calls"].refs == ("file:a.py",)
    assert "no such call in 1 of 1 files" in found["skeleton_calls"].says


def test_notebooks_are_read_without_their_shell_commands(out: Path, scene: MakeScene) -> None:
    cells = [
        {"cell_type": "markdown", "source": "shapiro(x)"},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "!pip list\n", "frangi(x)"]},
    ]
    (out / "a.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    found = calls_in(scene())
    assert "frangi (1)" in found["ridge_calls"].says
    assert "no such call" in found["normality_calls"].says


@pytest.mark.parametrize("content", [
    "", "[1]", '{"cells": 3}', '{"cells": [1, {}]}', "[" * 9000,
    '{"cells": [{"cell_type": "code", "source": [1]}]}',
])  # fmt: skip
def test_notebooks_that_are_none_hold_no_calls(out: Path, scene: MakeScene, content: str) -> None:
    (out / "a.ipynb").write_text(content, encoding="utf-8")
    assert "no such call" in calls_in(scene())["watershed_calls"].says


def test_code_is_never_run(out: Path, scene: MakeScene, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    (out / "a.py").write_text(f"open({str(mark)!r}, 'w')\nwatershed()", encoding="utf-8")
    assert "watershed (1)" in calls_in(scene())["watershed_calls"].says
    assert not mark.exists()


def test_each_kind_of_call_names_some() -> None:
    assert all(CALLS.values())
