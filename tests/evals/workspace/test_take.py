from __future__ import annotations

import hashlib
import io
import tarfile
from typing import TYPE_CHECKING

import pytest

from evals.workspace.export import take_archive
from evals.workspace.take import Exported, Taker, name_fault

if TYPE_CHECKING:
    from pathlib import Path


def member(name: str, content: bytes = b"x", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(f"submission/{name}")
    info.size = len(content)
    for key, value in fields.items():
        setattr(info, key, value)
    return info, content


def take(
    dest: Path,
    *members: tuple[tarfile.TarInfo, bytes],
    wanted: frozenset[str] | None = None,
    cap: int = 1000,
) -> Exported:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    stream.seek(0)
    taker = Taker(dest, wanted, cap)
    take_archive(stream, taker)
    return taker.done()


def test_a_regular_file_comes_out_with_size_and_hash(tmp_path: Path) -> None:
    [kept] = take(tmp_path, member("sub/a.txt", b"hello")).kept
    assert (tmp_path / "sub" / "a.txt").read_bytes() == b"hello"
    assert (kept.path, kept.size) == ("sub/a.txt", 5)
    assert kept.sha256 == hashlib.sha256(b"hello").hexdigest()


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE]
)
def test_links_fifos_and_devices_stay_behind_with_the_reason(tmp_path: Path, kind: bytes) -> None:
    exported = take(tmp_path, member("a.tif", b"", type=kind, linkname="/etc/passwd"))
    assert not list(tmp_path.iterdir())
    assert [(one.path, one.reason) for one in exported.dropped] == [("a.tif", "not a regular file")]


@pytest.mark.parametrize(
    "name", ["../../up.txt", "a/../../up.txt", "/absolute.txt", "./a.txt", "new\nline", "\x1b[2J"]
)
def test_a_name_that_is_not_plain_stays_behind(tmp_path: Path, name: str) -> None:
    dest = tmp_path / "dest"
    exported = take(dest, member(name))
    assert not exported.kept
    assert exported.dropped[0].reason.startswith("its name")
    assert exported.dropped[0].path.isprintable()
    assert not list(tmp_path.rglob("*.txt"))


def test_a_file_that_does_not_fit_stays_behind_and_smaller_ones_come_out(tmp_path: Path) -> None:
    exported = take(tmp_path, member("big", b"x" * 11), member("small", b"x" * 10), cap=10)
    assert [one.path for one in exported.kept] == ["small"]
    assert exported.dropped[0].reason == "its 11 bytes do not fit in the 10 that are left"


def test_only_the_wanted_files_come_out(tmp_path: Path) -> None:
    exported = take(tmp_path, member("a"), member("b"), wanted=frozenset({"b"}))
    assert [one.path for one in exported.kept] == ["b"]
    assert not exported.dropped


def test_a_hard_link_to_a_file_that_came_out_is_a_copy(tmp_path: Path) -> None:
    link = member("b", b"", type=tarfile.LNKTYPE, linkname="submission/a")
    exported = take(tmp_path, member("a", b"same"), link)
    assert (tmp_path / "b").read_bytes() == b"same"
    assert [one.path for one in exported.kept] == ["a", "b"]


def test_a_hard_link_to_the_host_stays_behind(tmp_path: Path) -> None:
    link = member("b", b"", type=tarfile.LNKTYPE, linkname="/etc/passwd")
    exported = take(tmp_path, link)
    assert not exported.kept
    assert exported.dropped[0].reason == "a hard link to a file that did not come out"


def test_a_second_file_of_the_same_name_stays_behind(tmp_path: Path) -> None:
    exported = take(tmp_path, member("a", b"first"), member("a", b"second"))
    assert (tmp_path / "a").read_bytes() == b"first"
    assert len(exported.dropped) == 1


def test_a_file_below_a_file_stays_behind(tmp_path: Path) -> None:
    exported = take(tmp_path, member("a"), member("a/b"))
    assert [one.path for one in exported.kept] == ["a"]
    assert exported.dropped[0].path == "a/b"


def test_a_name_that_is_no_text_stays_behind() -> None:
    assert name_fault("caf\udce9.txt") is not None


def test_plain_names_in_any_script_come_out() -> None:
    assert name_fault("Zellen/größe 1.csv") is None


def test_a_stream_that_breaks_off_is_no_export(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        info, content = member("a", b"x" * 2000)
        archive.addfile(info, io.BytesIO(content))
    broken = io.BytesIO(stream.getvalue()[:1000])
    with pytest.raises(tarfile.TarError):
        take_archive(broken, Taker(tmp_path, None, 10_000))
