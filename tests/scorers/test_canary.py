"""The canary of private parts, and the search for it in submissions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorers.canary import SUITE, canaries_of, marked_files
from scorers.files.limits import Limits
from scorers.files.tree import Tree

if TYPE_CHECKING:
    from pathlib import Path

OWN = "evals-canary-01234567-89ab-5def-8123-456789abcdef"


def found(folder: Path, limits: Limits | None = None) -> list[str]:
    limits = limits or Limits()
    with Tree(folder, limits) as tree:
        return marked_files(tree, (SUITE, OWN), limits)


def test_a_rubric_names_the_canaries_at_its_head(tmp_path: Path) -> None:
    rubric = tmp_path / "evaluation_rubric.yaml"
    rubric.write_text(f"# {SUITE}\n# {OWN}\nmetric_config: {{}}\n", encoding="utf-8")
    assert canaries_of(tmp_path) == (SUITE, OWN)


def test_a_rubric_without_canaries_names_none(tmp_path: Path) -> None:
    (tmp_path / "evaluation_rubric.yaml").write_text(f"a: 1 # {OWN}\n", encoding="utf-8")
    assert canaries_of(tmp_path) == ()


def test_a_file_that_holds_a_canary_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "seen.bin").write_bytes(b"\x00\xff" + OWN.encode() + b"\xff")
    (tmp_path / "clean.txt").write_text(OWN[:-1], encoding="utf-8")
    assert found(tmp_path) == ["notes/seen.bin"]


def test_a_canary_across_two_pieces_of_a_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "large.bin").write_bytes(bytes(2**20 - 20) + OWN.encode() + bytes(100))
    assert found(tmp_path) == ["large.bin"]


def test_what_is_beyond_the_bytes_to_be_searched_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "large.txt").write_text(OWN + " " * 200, encoding="utf-8")
    (tmp_path / "small.txt").write_text(OWN, encoding="utf-8")
    assert found(tmp_path, Limits(canary_bytes=100)) == ["small.txt"]


def test_without_canaries_nothing_is_searched(tmp_path: Path) -> None:
    (tmp_path / "small.txt").write_text(OWN, encoding="utf-8")
    with Tree(tmp_path, Limits()) as tree:
        assert marked_files(tree, (), Limits()) == []
