"""Preparing a coding agent: from the registries' packages, or from an install of one's own."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evals.data.places import harness_root
from evals.errors import DataMissingError
from evals.harness.prepare import registry
from evals.harness.prepare.catalogue import Harness, architecture, checked_version
from evals.harness.prepare.store import is_prepared, place_of, settle
from evals.harness.prepare.unpack import unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LATEST = "latest"
_ELF = b"\x7fELF"


def prepare(
    harness: Harness, version: str | None = None, *, source: Path | None = None, force: bool = False
) -> Path:
    """Return the folder of a prepared harness, after making it if need be.

    Args:
        harness: The harness.
        version: Its version, or `latest`; by default the one of the catalogue.
        source: The program, or a prepared folder, to copy; by default packages are fetched.
        force: Whether to make it anew if it is there.

    Raises:
        DataMissingError: A package or the source is missing or is not what it should be.
        OptionInvalidError: The version cannot be one.
    """
    if source is not None:
        wanted = checked_version(version or _version_of_copy(harness, source))
        fill = partial(_copy, harness, source)
    else:
        wanted = checked_version(_resolved(harness, version))
        fill = partial(_collect, harness, wanted)
    if is_prepared(harness.name, wanted) and not force:
        return place_of(harness.name, wanted)
    return settle(harness, wanted, fill, force=force)


def _resolved(harness: Harness, version: str | None) -> str:
    if version != _LATEST:
        return version or harness.version
    if harness.wheel:
        raise DataMissingError(
            f"{harness.name}: expected a version in numbers, got {_LATEST!r}. Mend: give one, or "
            f"leave --version out for {harness.version}."
        )
    package = harness.packages[0]
    found = registry.find(package.name.format(arch=architecture()), _LATEST)
    return found.version.partition("-linux")[0]


def _collect(harness: Harness, version: str, bench: Path) -> str:
    if harness.wheel:
        from evals.harness.prepare.wheels import install

        return install(harness.wheel, version, bench, harness.binary)
    filled = {"arch": architecture(), "version": version}
    told = []
    for package in harness.packages:
        tarball = registry.find(package.name.format(**filled), package.version.format(**filled))
        with _scratch() as scratch, _bar(f"{tarball.name} {tarball.version}") as advance:
            archive = scratch / "package.tgz"
            registry.fetch(tarball, archive, advance)
            unpack(archive, bench / package.folder, package.only)
        told.append(f"{tarball.name} {tarball.version}")
    return ", ".join(told)


def _copy(harness: Harness, source: Path, bench: Path) -> str:
    if source.is_dir():
        # Links of a prepared folder stay inside it; others would lead nowhere in a sandbox.
        shutil.copytree(source, bench, symlinks=True, dirs_exist_ok=True)
        _check_links(bench)
    else:
        _check_program(harness, source)
        (bench / "bin").mkdir()
        shutil.copyfile(source, bench / "bin" / harness.binary)
        (bench / "bin" / harness.binary).chmod(0o755)
    return f"a copy of {source.name}"


def _version_of_copy(harness: Harness, source: Path) -> str:
    if not source.exists():
        raise DataMissingError(f"--from {source}: there is no such file or folder.")
    if source.is_dir():
        return source.resolve().name
    raise DataMissingError(
        f"--from {source}: of a program its version must be told. Mend: add --version, as "
        f"`{harness.binary} --version` prints it."
    )


def _check_program(harness: Harness, source: Path) -> None:
    if len(harness.programs) > 1 or harness.wheel:
        raise DataMissingError(
            f"--from {source}: {harness.name} is more than one file. Mend: give a folder with "
            f"{', '.join(f'bin/{name}' for name in harness.programs)} and all they need, such as "
            "one that was prepared on another machine."
        )
    with source.open("rb") as file:
        start = file.read(len(_ELF))
    if start != _ELF:
        raise DataMissingError(
            f"--from {source}: expected a program for Linux, got something else; sandboxes run "
            "Linux. Mend: leave --from out, so that it is fetched, or give the program itself "
            "instead of a script that starts it."
        )


def _check_links(bench: Path) -> None:
    root = os.path.realpath(bench)
    for path in bench.rglob("*"):
        if path.is_symlink() and not os.path.realpath(path).startswith(root + os.sep):
            raise DataMissingError(
                f"--from: {path.relative_to(bench)} is a link to {os.readlink(path)}, outside the "
                "folder, which no sandbox has. Mend: give a folder that has all it needs in it."
            )


@contextmanager
def _scratch() -> Iterator[Path]:
    # Beside what is made of it: /tmp may be small, or memory.
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=harness_root()) as folder:
        yield Path(folder)


@contextmanager
def _bar(title: str) -> Iterator[Callable[[int, int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total or None)
