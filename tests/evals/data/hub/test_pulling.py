"""Pulling a release from a hub that behaves."""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from evals.data.hub import pulling
from evals.data.hub.fetching import fetch
from evals.data.hub.lock import alone
from evals.edition import open_edition
from scorers.canary import canaries_of

if TYPE_CHECKING:
    from pathlib import Path

Data = Callable[..., str]
PULL = ("pull", "biaa", "--revision", "v1.0")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def tree(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.relative_to(root).parts[0].startswith(".")
    }


def test_a_pulled_revision_is_an_edition(data: Data, hub: Any, root: Path) -> None:
    told = data(*PULL)
    assert "3 of 3 tasks are here" in told
    capsules = open_edition("v1.0")
    assert [capsule.task_id for capsule in capsules] == ["dots", "lines", "planes"]
    assert len(list((root / "dots" / "input").rglob("*.bin"))) == 20
    assert "3 of 3 tasks are as they were pulled" in data("verify", "biaa")


def test_nothing_of_the_work_is_left(data: Data, root: Path) -> None:
    data(*PULL)
    assert sorted(path.name for path in root.iterdir()) == [
        ".pulled", "dots", "lines", "manifest.json", "planes",
    ]  # fmt: skip
    assert not list(root.rglob("*.zip"))


def test_private_parts_are_their_owners_only(data: Data, root: Path) -> None:
    data(*PULL)
    for private in (root / "dots" / "evaluation", root / "dots" / "evaluation_rubric.yaml"):
        paths = [private, *private.rglob("*")]
        assert {mode(path) for path in paths} <= {0o700, 0o600}
    assert mode(root / "dots" / "dots.yaml") == 0o600
    assert mode(root / "dots" / "task_spec.yaml") == 0o644
    assert mode(root / ".pulled") == 0o700


def test_private_parts_carry_a_canary_that_is_the_same_everywhere(data: Data, root: Path) -> None:
    data(*PULL)
    canaries = canaries_of(root / "dots")
    assert len(canaries) == 2
    assert canaries[1] in (root / "dots" / "evaluation" / "CANARY.txt").read_text()
    assert canaries_of(root / "lines")[1] != canaries[1]
    before = {one.task_id: one.data_hash for one in open_edition("v1.0")}
    data("rm", "biaa", "--revision", "v1.0", "--yes")
    data(*PULL)
    assert {one.task_id: one.data_hash for one in open_edition("v1.0")} == before


def test_a_second_pull_asks_the_hub_for_nothing(data: Data, hub: Any) -> None:
    data(*PULL)
    hub.asked.clear()
    assert "3 of them from before" in data(*PULL)
    assert hub.asked == []


def test_only_what_is_missing_is_fetched(data: Data, hub: Any, root: Path) -> None:
    data(*PULL)
    (root / "lines" / "input" / "0" / "003.bin").unlink()
    hub.served.clear()
    told = data(*PULL)
    assert "pulled lines" in told
    assert set(hub.served) == {"lines/input.zip", "lines/task_spec.yaml"}
    assert "3 of 3" in data("verify", "biaa")


def test_chosen_tasks_alone_are_pulled(data: Data, root: Path) -> None:
    data(*PULL, "--task", "d*", "--task", "lines")
    assert {path.name for path in root.iterdir()} == {".pulled", "dots", "lines", "manifest.json"}
    assert [one.task_id for one in open_edition("v1.0", tasks="dots")] == ["dots"]


def test_an_unknown_task_is_told_with_near_matches(data: Data) -> None:
    assert "did you mean 'dots'" in data(*PULL, "--task", "dot", code=1)


def test_inputs_alone_bring_nothing_private(data: Data, hub: Any, root: Path) -> None:
    data(*PULL, "--inputs-only")
    names = {path.name for path in (root / "dots").iterdir()}
    assert names == {"input", "task_spec.yaml"}
    assert not any("evaluation" in path or path == "dots/dots.yaml" for path in hub.served)
    assert "3 of 3" in data("verify", "biaa")
    assert "0 tasks, 3 more without reference" in data("list")


def test_the_rest_comes_to_the_inputs_later(data: Data, hub: Any, root: Path) -> None:
    data(*PULL, "--inputs-only")
    hub.served.clear()
    data(*PULL)
    assert "dots/input.zip" not in hub.served
    assert len(open_edition("v1.0")) == 3
    assert "3 of 3" in data("verify", "biaa")


def test_data_that_somebody_put_there_are_left_alone(data: Data, root: Path) -> None:
    root.mkdir(parents=True)
    (root / "manifest.json").write_text('{"tasks": {}}')
    assert "put there otherwise" in data(*PULL, code=1)
    assert (root / "manifest.json").read_text() == '{"tasks": {}}'


def test_a_disk_that_is_too_small_is_told_before_anything_is_fetched(
    data: Data, hub: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=10_000))
    assert "GB free" in data(*PULL, code=1)
    assert not any(path.endswith(".zip") for path in hub.served)


def test_a_revision_that_moved_stays_at_its_commit_and_says_so(
    data: Data, hub: Any, root: Path
) -> None:
    data(*PULL, "--task", "dots")
    first, second = hub.revisions["v1.0"], hub.publish("v1.0", hub.release(seed=1))
    told = data(*PULL)
    assert f"v1.0 is now commit {second}" in told
    assert f"stays at {first}" in told
    # The new commit's archives have other digests, so these are the first one's.
    assert "3 of 3" in data("verify", "biaa")
    assert not any(second in path for path in hub.asked if "/resolve/" in path)


def test_two_pulls_at_once_do_not_disturb_each_other(data: Data, root: Path) -> None:
    data(*PULL, "--task", "dots")
    with alone(root):
        assert "going on" in data(*PULL, code=1)


def test_the_record_tells_the_commit_and_the_files(data: Data, hub: Any, root: Path) -> None:
    data(*PULL)
    told = json.loads((root / ".pulled" / "revision.json").read_text())
    assert told["commit"] == hub.revisions["v1.0"]
    task = json.loads((root / ".pulled" / "tasks" / "dots.json").read_text())
    content = (root / "dots" / "input" / "1" / "010.bin").read_bytes()
    assert task["public"]["input/1/010.bin"] == [4000, hashlib.sha256(content).hexdigest()]


@pytest.mark.parametrize("workers", [1, 2])
def test_as_many_tasks_as_asked_for_are_fetched_side_by_side(
    data: Data, hub: Any, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    running: list[str] = []
    most = 0

    def watched(*arguments: Any) -> None:
        nonlocal most
        path = arguments[1].path
        running.append(path)
        most = max(most, len(running))
        fetch(*arguments)
        running.remove(path)

    monkeypatch.setattr(pulling, "fetch", watched)
    hub.pause_s = 0.01
    data(*PULL, "--workers", str(workers))
    assert most == workers
