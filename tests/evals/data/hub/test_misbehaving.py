"""Pulling a release from a hub that is slow, cut off, wrong, or busy."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from evals.data.hub import client, unpacking
from evals.submissions.zips import ZipLimits

if TYPE_CHECKING:
    from pathlib import Path

Data = Callable[..., str]
PULL = ("pull", "biaa", "--revision", "v1.0")
ZIP = "dots/input.zip"


def whole(data: Data) -> None:
    """Assert that all is here and as it should be."""
    assert "3 of 3 tasks are as they were pulled" in data("verify", "biaa")


@pytest.mark.parametrize("times", [1, 7])
def test_a_download_that_is_cut_off_goes_on_where_it_ended(
    data: Data, hub: Any, times: int
) -> None:
    size = len(hub.commits[hub.revisions["v1.0"]][ZIP])
    hub.faults[ZIP] = ["cut"] * times
    data(*PULL)
    whole(data)
    assert hub.served[ZIP] == size


def test_a_download_that_stalls_is_asked_for_again(data: Data, hub: Any) -> None:
    hub.faults[ZIP] = ["stall"]
    data(*PULL)
    whole(data)


def test_a_slow_download_is_waited_for(data: Data, hub: Any) -> None:
    hub.pause_s = 0.02
    data(*PULL, "--task", "dots")
    assert hub.asked.count(f"/datasets/{hub.repo}/resolve/{hub.revisions['v1.0']}/{ZIP}") == 1


def test_a_server_that_ignores_ranges_is_read_from_the_start(data: Data, hub: Any) -> None:
    hub.faults[ZIP] = ["cut", "whole"]
    data(*PULL)
    whole(data)


@pytest.mark.parametrize("path", [ZIP, "dots/evaluation_rubric.yaml"])
def test_bytes_with_a_wrong_digest_are_refused_and_asked_for_by_the_next_pull(
    data: Data, hub: Any, root: Path, path: str
) -> None:
    hub.faults[path] = ["flip"]
    told = data(*PULL, code=1)
    assert f"failed dots: {path}: expected the " in told
    assert "2 of 3 tasks are here" in told
    assert not (root / "dots").exists()
    hub.served.clear()
    data(*PULL)
    assert not any(name.startswith(("lines", "planes")) for name in hub.served)
    whole(data)


def test_the_manifests_digest_counts_and_not_the_hubs(data: Data, hub: Any, root: Path) -> None:
    content = hub.release()
    other = hub.release(seed=1)
    hub.publish("v1.0", content | {ZIP: other[ZIP]})
    told = data(*PULL, code=1)
    assert "failed dots: dots/input.zip: expected the SHA-256" in told
    assert not (root / "dots").exists()


def test_a_damaged_rest_of_an_earlier_pull_is_fetched_anew(
    data: Data, hub: Any, root: Path
) -> None:
    hub.faults[ZIP] = ["cut", "404"]
    data(*PULL, code=1)
    part = root / ".pulling" / "files" / f"{ZIP}.part"
    part.write_bytes(bytes(part.stat().st_size))
    data(*PULL)
    whole(data)


def test_a_file_that_is_not_there_fails_its_task_alone(data: Data, hub: Any, root: Path) -> None:
    hub.faults["lines/evaluation.zip"] = ["404"]
    told = data(*PULL, code=1)
    assert "failed lines: " in told
    assert "status 404" in told
    assert {path.name for path in root.iterdir()} >= {"dots", "planes"}
    assert not (root / "lines").exists()
    data(*PULL)
    whole(data)


def test_a_file_that_the_manifest_promises_and_nobody_has_fails_its_task_alone(
    data: Data, hub: Any
) -> None:
    content = hub.release()
    del content["lines/evaluation.zip"]
    hub.publish("v1.0", content)
    told = data(*PULL, code=1)
    assert "failed lines: expected lines/evaluation.zip in the repository" in told
    assert "2 of 3 tasks are here" in told


@pytest.mark.parametrize(
    ("path", "asked"),
    [("info", "7"), ("manifest.json", "7"), (ZIP, "7"), (ZIP, '"resolvers";r=0;t=7')],
)
def test_a_busy_hub_is_asked_again_after_the_time_it_names(
    data: Data, hub: Any, path: str, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    real = client._pause

    def noted(error: Exception, failed: int) -> float | None:
        pause = real(error, failed)
        assert pause is not None
        pauses.append(pause)
        return pause / 100

    monkeypatch.setattr(client, "_pause", noted)
    hub.faults[path] = [f"429 {asked}", "503"]
    data(*PULL)
    whole(data)
    assert pauses == [7.0, pytest.approx(0.02)]


def test_a_hub_that_stays_busy_fails_with_what_it_said(data: Data, hub: Any) -> None:
    hub.faults[ZIP] = ["429 0"] * 20
    told = data(*PULL, code=1)
    assert "status 429, to be tried again after 0 s after 5 tries" in told
    assert len(hub.faults[ZIP]) == 15


def test_a_hub_that_asks_for_hours_is_not_waited_for(data: Data, hub: Any) -> None:
    hub.faults[ZIP] = ["429 7200"]
    assert "to be tried again after 7200 s" in data(*PULL, code=1)


def test_a_truncated_archive_with_a_right_digest_leaves_nothing(
    data: Data, hub: Any, root: Path
) -> None:
    content = hub.release()
    hub.publish("v1.0", hub.with_manifest(content | {ZIP: content[ZIP][:-100]}))
    told = data(*PULL, code=1)
    assert "failed dots: dots/input.zip: it is no sound zip archive" in told
    assert not (root / "dots").exists()
    assert not list((root / ".pulling").rglob("*.bin"))


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        ("/etc/passwd", "its name leads elsewhere"),
        ("input/../../up", "its name leads elsewhere"),
        ("evaluation/x", "expected all of them in input/"),
        ("task_spec.yaml", "expected all of them in input/"),
        ("input/a\x07", "characters that are not plain"),
    ],
)
def test_an_archive_with_a_member_that_leads_elsewhere_is_refused(
    data: Data, hub: Any, root: Path, member: str, reason: str
) -> None:
    bad = hub.zipped({"input/a": b"1", member: b"2"})
    hub.publish("v1.0", hub.with_manifest(hub.release() | {ZIP: bad}))
    told = data(*PULL, code=1)
    assert reason in told
    assert not (root / "dots").exists()


def test_an_archive_with_a_link_is_refused(data: Data, hub: Any, tmp_path: Path) -> None:
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w") as archive:
        link = zipfile.ZipInfo("input/a")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    hub.publish("v1.0", hub.with_manifest(hub.release() | {ZIP: path.read_bytes()}))
    assert "it is a link" in data(*PULL, code=1)


def test_an_archive_that_unpacks_to_too_much_is_refused(
    data: Data, hub: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "LIMITS", ZipLimits(harmless_bytes=10_000, inflation=20))
    bomb = hub.zipped({f"input/{n}": bytes(1_000_000) for n in range(4)})
    hub.publish("v1.0", hub.with_manifest(hub.release() | {ZIP: bomb}))
    assert "times its size" in data(*PULL, code=1)


def test_an_unknown_revision_leaves_no_folder(data: Data, root: Path) -> None:
    told = data("pull", "biaa", "--revision", "v9", code=1)
    assert "revision v9: the hub has no such revision" in told
    assert not root.with_name("v9").exists()


def test_a_gated_data_set_tells_how_to_get_access(
    data: Data, hub: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.gated = True
    told = data(*PULL, code=1)
    assert f"accept the terms at {hub.url}/datasets/{hub.repo}" in told
    assert "HF_TOKEN" in told
    monkeypatch.setenv("HF_TOKEN", "letmein")
    data(*PULL)
    whole(data)


def test_a_hub_that_cannot_be_reached_is_told(data: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    told = data(*PULL, code=1)
    assert "expected it from http://127.0.0.1:9, got ConnectError" in told


def test_what_was_pulled_needs_no_hub(data: Data, hub: Any) -> None:
    data(*PULL)
    hub.faults["info"] = ["500"] * 50
    hub.faults[ZIP] = ["500"] * 50
    data(*PULL)
    whole(data)


def test_a_task_name_that_leads_elsewhere_is_refused(data: Data, hub: Any) -> None:
    content = hub.release() | {"manifest.json": b'{"tasks": {"../up": {}}}'}
    hub.publish("v1.0", content)
    assert "cannot be the name of a folder" in data(*PULL, code=1)
