from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING

import pytest

from evals.errors import DataMissingError
from evals.harness.prepare import unpack as unpacking
from evals.harness.prepare.unpack import unpack

if TYPE_CHECKING:
    from pathlib import Path


def archive(folder: Path, *members: tarfile.TarInfo) -> Path:
    path = folder / "package.tgz"
    with tarfile.open(path, "w:gz") as packed:
        for member in members:
            packed.addfile(member, io.BytesIO(b"x" * member.size))
    return path


def member(
    name: str, kind: bytes = tarfile.REGTYPE, *, size: int = 0, to: str = ""
) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname = kind, size, to
    return info


def test_the_packing_folder_is_left_out_whatever_its_name(tmp_path: Path) -> None:
    unpack(archive(tmp_path, member("node-v1/bin/node", size=3)), tmp_path / "out")
    assert (tmp_path / "out" / "bin" / "node").read_bytes() == b"xxx"


@pytest.mark.parametrize(
    "bad",
    [
        member("package/../../evil"),
        member("/package/evil"),
        member("package/link", tarfile.SYMTYPE, to="/etc/passwd"),
        member("package/hard", tarfile.LNKTYPE, to="package/a"),
        member("package/pipe", tarfile.FIFOTYPE),
        member("package/disk", tarfile.BLKTYPE),
        member("alone"),
    ],
    ids=["up", "absolute", "symbolic link", "hard link", "pipe", "device", "no folder"],
)
def test_what_is_no_plain_file_below_the_folder_is_refused(
    tmp_path: Path, bad: tarfile.TarInfo
) -> None:
    with pytest.raises(DataMissingError, match="no plain file below its folder"):
        unpack(archive(tmp_path, bad), tmp_path / "out")
    assert not (tmp_path / "evil").exists()


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    twice = [member("package/a"), member("package/a")]
    with pytest.raises(DataMissingError, match="cannot be unpacked"):
        unpack(archive(tmp_path, *twice), tmp_path / "out")


def test_an_archive_that_grows_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "MOST_BYTES", 10)
    with pytest.raises(DataMissingError, match="more than a coding agent can need"):
        unpack(archive(tmp_path, member("package/a", size=11)), tmp_path / "out")


def test_what_is_no_archive_is_told(tmp_path: Path) -> None:
    (tmp_path / "package.tgz").write_bytes(b"<html>")
    with pytest.raises(DataMissingError, match="cannot be unpacked"):
        unpack(tmp_path / "package.tgz", tmp_path / "out")
