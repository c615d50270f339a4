"""Where the packing rules put files."""

from __future__ import annotations

import pytest

from evals.exchange.packing import component, layout


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("tables/a.csv", "artifacts/counts/a.csv"),
        ("notes/plot.png", "artifacts/supporting/notes/plot.png"),
        ("supporting/plot.png", "artifacts/supporting/plot.png"),
        ("deep/agent_log.txt", "logs/deep/agent_log.txt"),
        ("claude_events.jsonl", "logs/claude_events.jsonl"),
    ],
)
def test_a_file_goes_where_the_published_rules_put_it(path: str, place: str) -> None:
    assert layout([path], {"counts": ["tables/a.csv"]}) == {path: place}


@pytest.mark.parametrize(
    "path", ["run_manifest.json", "x/checklist_results.json", "evaluation/a.csv", ".git/config"]
)
def test_what_a_scorer_or_a_repository_left_is_not_packed(path: str) -> None:
    assert layout([path], {}) == {}


def test_of_two_files_with_one_name_the_second_keeps_its_folder() -> None:
    found = {"masks": ["a/1.tif", "b/1.tif"]}
    assert layout(["a/1.tif", "b/1.tif"], found) == {
        "a/1.tif": "artifacts/masks/1.tif",
        "b/1.tif": "artifacts/masks/b/1.tif",
    }


def test_a_file_of_two_deliverables_is_packed_once() -> None:
    found = {"all": ["a.csv"], "one": ["a.csv"]}
    assert layout(["a.csv"], found) == {"a.csv": "artifacts/all/a.csv"}


def test_what_is_packed_already_is_packed_anew() -> None:
    paths = ["submission.json", "artifacts/x/a.csv", "artifacts/supporting/b.txt", "logs/log.txt"]
    assert layout(paths, {"counts": ["x/a.csv"]}) == {
        "artifacts/x/a.csv": "artifacts/counts/a.csv",
        "artifacts/supporting/b.txt": "artifacts/supporting/b.txt",
        "logs/log.txt": "logs/log.txt",
    }


@pytest.mark.parametrize(("name", "plain"), [("a b/c", "a_b_c"), ("..", "unnamed"), ("né", "n_")])
def test_a_name_becomes_one_plain_part_of_a_path(name: str, plain: str) -> None:
    assert component(name) == plain
