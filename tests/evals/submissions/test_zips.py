"""Archives from others: whatever is wrong with one is its refusal, with the reason."""

from __future__ import annotations

import os
import stat
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from evals.submissions.zips import SubmissionRefused, ZipLimits, open_zip
from evals.workspace.take import Taker

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def archive(path: Path, members: dict[str, bytes], **settings: Any) -> Path:
    with zipfile.ZipFile(path, "w", **({"compression": zipfile.ZIP_DEFLATED} | settings)) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return path


def special(mode: int) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        info = zipfile.ZipInfo("artifacts/masks.tif")
        info.create_system = 3
        info.external_attr = (mode | 0o777) << 16
        with zipfile.ZipFile(path, "w") as made:
            made.writestr(info, b"/etc/passwd")

    return write


def named(name: str) -> Callable[[Path], None]:
    return lambda path: archive(path, {"fine.txt": b"x", name: b"y"}) and None


def changed(old: bytes, new: bytes, count: int = -1) -> Callable[[Path], None]:
    """Return a writer of an archive in whose bytes something is replaced."""

    def write(path: Path) -> None:
        content = archive(path, {"a.txt": b"hello" * 20}, compression=0).read_bytes()
        assert old in content
        path.write_bytes(content.replace(old, new, count))

    return write


def flagged(path: Path) -> None:
    content = bytearray(archive(path, {"a.txt": b"x"}).read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + offset] |= 1
    path.write_bytes(bytes(content))


def twice(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("a.csv", b"1")
        with pytest.warns(UserWarning, match="Duplicate"):
            made.writestr("a.csv", b"2")


HOSTILE: dict[str, tuple[Callable[[Path], Any], str]] = {
    "absolute": (named("/etc/cron.d/x"), "its name leads elsewhere"),
    "upwards": (named("artifacts/../../x"), "its name leads elsewhere"),
    "dot": (named("./x"), "its name leads elsewhere"),
    "backslash": (named("..\\x"), "characters that are not plain"),
    "hidden sign": (named("a\u202eb"), "characters that are not plain"),
    "zero byte": (changed(b"a.txt", b"a\0txt"), "characters that are not plain"),
    "deep": (named("a/" * 40 + "x"), "too long or too deep"),
    "long": (named("n" * 250), "too long or too deep"),
    "link": (special(stat.S_IFLNK), "it is a link"),
    "pipe": (special(stat.S_IFIFO), "not a regular file"),
    "device": (special(stat.S_IFCHR), "not a regular file"),
    "encrypted": (flagged, "it is encrypted"),
    "bzip2": (lambda path: archive(path, {"a": b"x" * 99}, compression=12), "another method"),
    "lzma": (lambda path: archive(path, {"a": b"x" * 99}, compression=14), "another method"),
    "twice": (twice, "this name twice"),
    "no zip": (lambda path: path.write_bytes(b"hello"), "no sound zip archive"),
    "empty": (lambda path: path.write_bytes(b""), "no sound zip archive"),
    "cut": (
        lambda path: path.write_bytes(archive(path, {"a": b"x" * 99}).read_bytes()[:-30]),
        "no sound zip archive",
    ),
    "a pipe itself": (lambda path: os.mkfifo(path), "it is not a regular file"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_archive_is_refused_with_the_reason(kind: str, tmp_path: Path) -> None:
    write, reason = HOSTILE[kind]
    write(tmp_path / "x.zip")
    with pytest.raises(SubmissionRefused, match=reason):
        open_zip(tmp_path / "x.zip")


def test_too_many_members_are_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", {f"{number}": b"" for number in range(11)})
    with pytest.raises(SubmissionRefused, match="11 members, more than 10"):
        open_zip(path, ZipLimits(members=10))


def test_a_directory_that_is_too_long_to_read_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", {})
    # An end record that claims a directory of 16 MiB, and so many bytes before it.
    end = path.read_bytes()
    size = (1 << 24).to_bytes(4, "little")
    path.write_bytes(b"PK\x01\x02" + bytes((1 << 24) - 4) + end[:12] + size + end[16:])
    with pytest.raises(SubmissionRefused, match="bytes at once, more than"):
        open_zip(path)


def test_too_much_once_unpacked_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", {"a": bytes(600), "b": bytes(600)})
    with pytest.raises(SubmissionRefused, match="unpacks to 1200 bytes, more than 1000"):
        open_zip(path, ZipLimits(total_bytes=1000))


def test_an_archive_that_inflates_beyond_belief_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", {"a": bytes(3 << 20)})
    with pytest.raises(SubmissionRefused, match="more than 200 times its size"):
        open_zip(path, ZipLimits(harmless_bytes=1 << 20))


def test_empty_masks_may_shrink_a_thousandfold(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", {"a": bytes(3 << 20)})
    assert open_zip(path).files == ("a",)


def test_folders_and_the_shadows_of_a_mac_are_no_files(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", {"a/": b"", "a/b": b"", "__MACOSX/a/._b": b"x"})
    assert open_zip(path).files == ("a/b",)


def test_a_folder_is_taken_without_its_name(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", {"a/b/c": b"1", "a/d": b"2", "ab/e": b"3"})
    (tmp_path / "out").mkdir()
    taker = Taker(tmp_path / "out", None, 100)
    open_zip(path).take("a", taker)
    assert [file.path for file in taker.done().kept] == ["b/c", "d"]


def test_a_member_whose_bytes_are_not_its_own_is_refused_when_taken(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    changed(b"hellohello", b"hellohallo", 1)(path)
    opened = open_zip(path)
    (tmp_path / "out").mkdir()
    with pytest.raises(SubmissionRefused, match=r"no sound zip archive.*Bad CRC"):
        opened.take("", Taker(tmp_path / "out", None, 1000))
