"""Hostile folders. Each function is given a deliverable's path and the folder outside.

The folder outside holds, under the deliverable's own relative name, what an honest submission
holds: who follows a way out of the submission earns a score by it. Functions that leave the
deliverable as it is begin with `harmless_`.
"""

from __future__ import annotations

import os
import socket
import stat
import sys
from contextlib import chdir, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def _root(outside: Path) -> Path:
    return outside.with_name("submission")


def link_to_a_file_outside(path: Path, outside: Path) -> None:
    path.unlink()
    path.symlink_to(outside / path.name)


def link_through_links(path: Path, outside: Path) -> None:
    path.unlink()
    hop = path.with_name("hop")
    hop.symlink_to(outside)
    path.symlink_to(f"hop/{path.name}")


def link_to_itself(path: Path, outside: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def link_to_the_password_file(path: Path, outside: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/passwd")


def link_to_endless_zeros(path: Path, outside: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def link_to_the_graders_own_memory(path: Path, outside: Path) -> None:
    path.unlink()
    path.symlink_to("/proc/self/mem")


def link_to_a_folder_outside(path: Path, outside: Path) -> None:
    path.unlink()
    (path.parent / "masks").symlink_to(outside)


def link_to_the_folder_above(path: Path, outside: Path) -> None:
    path.unlink()
    (path.parent / "loop").symlink_to("..")


def artifacts_that_are_a_link(path: Path, outside: Path) -> None:
    path.unlink()
    (_root(outside) / "submission.json").write_text("{}", encoding="utf-8")
    (_root(outside) / "artifacts").symlink_to(outside)


def named_pipe(path: Path, outside: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def unix_socket(path: Path, outside: Path) -> None:
    path.unlink()
    with chdir(path.parent), socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path.name)


def device_of_zeros(path: Path, outside: Path) -> None:
    path.unlink()
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except OSError:  # only root may make one, and not in every container
        os.mkfifo(path)


def folder_of_that_name(path: Path, outside: Path) -> None:
    path.unlink()
    path.mkdir()


def file_that_nobody_may_read(path: Path, outside: Path) -> None:
    path.write_bytes(b"")
    path.chmod(0)


def sparse_file_of_a_terabyte(path: Path, outside: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**40)


def sparse_file_of_seven_gigabytes(path: Path, outside: Path) -> None:
    with path.open("wb") as file:
        file.truncate(7 * 2**30)


def name_with_a_line_break(path: Path, outside: Path) -> None:
    path.rename(path.with_name(f"a\n{path.name}"))


def name_that_turns_the_direction_of_writing(path: Path, outside: Path) -> None:
    path.rename(path.with_name(f"\u202e{path.name}"))


def name_with_terminal_commands(path: Path, outside: Path) -> None:
    path.rename(path.with_name(f"\x1b[2J{path.name}"))


def name_that_is_not_utf_8(path: Path, outside: Path) -> None:
    os.rename(path, os.path.join(os.fsencode(path.parent), b"\xff\xfe" + os.fsencode(path.name)))


def name_with_a_lone_surrogate(path: Path, outside: Path) -> None:
    if sys.platform == "linux":
        name = "\ud800".encode("utf-8", "surrogatepass") + os.fsencode(path.name)
        os.rename(path, os.path.join(os.fsencode(path.parent), name))


def harmless_name_as_long_as_can_be(path: Path, outside: Path) -> None:
    (path.parent / ("x" * (254 - len(path.name)) + path.name)).write_bytes(path.read_bytes())


def harmless_name_in_markup(path: Path, outside: Path) -> None:
    (path.parent / f"<img src=x onerror=alert(1)>|`{path.name}").write_bytes(path.read_bytes())


def harmless_names_that_differ_in_case(path: Path, outside: Path) -> None:
    path.with_name(path.name.upper()).write_bytes(path.read_bytes())
    path.with_name(path.name.swapcase()).write_bytes(b"other")


def harmless_names_that_look_alike(path: Path, outside: Path) -> None:
    path.with_name("e\u0301" + path.name).write_bytes(b"other")
    path.with_name("\u00e9" + path.name).write_bytes(b"other")


def harmless_copies_of_one_file(path: Path, outside: Path) -> None:
    for number in range(300):
        os.link(path, path.with_name(f"{number}_{path.name}"))


def harmless_ten_thousand_other_files(path: Path, outside: Path) -> None:
    folder = path.parent / "many"
    folder.mkdir()
    for number in range(10_000):
        (folder / f"{'long name ' * 8}{number}.log").touch()


def harmless_folders_three_hundred_deep(path: Path, outside: Path) -> None:
    here = os.open(path.parent, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("deeper", dir_fd=here)
        below = os.open("deeper", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def harmless_hidden_and_odd_names(path: Path, outside: Path) -> None:
    for name in ("-rf", "~", "...", "$(id)", "*", "%s%n", "con", " ", "a\\b"):
        (path.parent / name).write_bytes(b"x")


def harmless_nested_json_beside_it(path: Path, outside: Path) -> None:
    nested = "[" * 1_000_000 + "]" * 1_000_000
    for name in ("run_metrics.json", "metadata.json"):
        (path.parent / name).write_text(nested, encoding="utf-8")


def manifest_of_nested_json(path: Path, outside: Path) -> None:
    (_root(outside) / "submission.json").write_text("[" * 1_000_000, encoding="utf-8")


def manifest_that_is_a_pipe(path: Path, outside: Path) -> None:
    os.mkfifo(_root(outside) / "submission.json")


def manifest_beside_artifacts_that_are_a_file(path: Path, outside: Path) -> None:
    (_root(outside) / "submission.json").write_text("{}", encoding="utf-8")
    (_root(outside) / "artifacts").write_bytes(b"x")


def hard_link_to_a_secret(path: Path, outside: Path) -> None:
    """Nothing tells such a file from an ordinary one; its content stays out of the report."""
    path.unlink()
    with suppress(OSError):  # another file system
        os.link(outside / "secret", path)
