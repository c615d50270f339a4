"""Releases that are no zips with a manifest: loose folders, and one archive."""

from __future__ import annotations

import io
import stat
import tarfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

Data = Callable[..., str]


@pytest.fixture
def folders(hub: Any) -> dict[str, bytes]:
    """Give a release of two Harbor tasks."""
    hub.repo = "phylobio/BiomniBench-DA"
    content = {"README.md": b"x"}
    for task in ("da-1-3", "da-9-1"):
        content |= {
            f"{task}/task.toml": b'version = "1.0"\n',
            f"{task}/instruction.md": b"# Do\n",
            f"{task}/environment/data/a b.csv": b"1,2\n" * 500,
            f"{task}/tests/rubric.txt": b"A=1\n",
        }
    hub.publish("main", content)
    return content


def tar(members: dict[str, bytes], link: str = "") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        if link:
            info = tarfile.TarInfo(link)
            info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(info)
    return packed.getvalue()


def test_loose_folders_are_pulled_and_their_tests_are_private(
    data: Data, folders: dict[str, bytes], own_cache: Path
) -> None:
    data("pull", "biomnibench_da", "--task", "da-9-1")
    root = own_cache / "data" / "biomnibench_da" / "main"
    task = root / "da-9-1"
    assert (task / "environment/data/a b.csv").read_bytes() == b"1,2\n" * 500
    assert stat.S_IMODE((task / "tests").stat().st_mode) == 0o700
    assert not (root / "da-1-3").exists()
    assert "1 of 1" in data("verify", "biomnibench_da")


def test_inputs_of_loose_folders_bring_no_rubric(
    data: Data, folders: dict[str, bytes], own_cache: Path
) -> None:
    data("pull", "biomnibench_da", "--inputs-only")
    root = own_cache / "data" / "biomnibench_da" / "main"
    assert (root / "da-1-3" / "task.toml").is_file()
    assert not list(root.rglob("rubric.txt"))


def test_one_archive_is_pulled_as_a_whole(data: Data, hub: Any, own_cache: Path) -> None:
    hub.repo = "mbzuai-ai4bio/BioXArena-Data-Public"
    name = "BioXArena-Data-Public"
    members = {f"{name}/imaging/t{n}/public/description.md": b"Do" * n for n in range(1, 4)}
    hub.publish("main", {f"{name}.tar.gz": tar(members)})
    data("pull", "bioxarena")
    root = own_cache / "data" / "bioxarena" / "main" / name
    assert (root / "imaging/t2/public/description.md").read_bytes() == b"DoDo"
    assert "1 of 1" in data("verify", "bioxarena")


@pytest.mark.parametrize(
    ("packed", "reason"),
    [
        (tar({"BioXArena/a": b"1", "BioXArena/../../up": b"2"}), "its name leads elsewhere"),
        (tar({"BioXArena/a": b"1", "up": b"2"}), "expected all of them in BioXArena/"),
        (tar({"BioXArena/a": b"1"}, link="BioXArena/b"), "it is a link"),
        (tar({"BioXArena/a": bytes(range(256)) * 99})[:-30], "it is no sound tar archive"),
    ],
)
def test_an_archive_that_is_not_sound_is_refused(
    data: Data, hub: Any, own_cache: Path, packed: bytes, reason: str
) -> None:
    hub.repo = "mbzuai-ai4bio/BioXArena-Data-Public"
    hub.publish("main", {"BioXArena.tar.gz": packed})
    assert reason in data("pull", "bioxarena", code=1)
    assert not (own_cache / "data" / "bioxarena" / "main" / "BioXArena").exists()


def test_a_release_without_data_tells_where_they_are(data: Data) -> None:
    assert "get each data set from its owner" in data("pull", "automedbench", code=1)


def test_an_unknown_release_is_told_with_near_matches(data: Data) -> None:
    assert "did you mean 'biaa'" in data("pull", "bia", code=1)
