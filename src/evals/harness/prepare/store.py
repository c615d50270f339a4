"""The prepared coding agents of this machine: one folder a version."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from evals.data.places import harness_root
from evals.errors import DataMissingError
from evals.harness.prepare.catalogue import HARNESSES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evals.harness.prepare.catalogue import Harness

RECORD = "harness.json"
_UNFINISHED = ".unfinished-"
_FOR_ALL = 0o755  # the user of a container is another one than here


@dataclass(frozen=True)
class Prepared:
    """One prepared version of a harness.

    Attributes:
        name: Name of the harness.
        version: Its version.
        licence: Its licence.
        source: Where it came from: packages with their versions, or a copy.
        size: Bytes of all its files.
    """

    name: str
    version: str
    licence: str
    source: str
    size: int


def place_of(name: str, version: str) -> Path:
    """Return the folder of a version of a harness, whether it is there or not."""
    return harness_root() / name / version


def prepared() -> list[Prepared]:
    """Return what is prepared, by name and version."""
    root = harness_root()
    found = [
        _read(folder)
        for name in sorted(HARNESSES)
        for folder in sorted((root / name).glob("*"))
        if not folder.name.startswith(_UNFINISHED)
    ]
    return [each for each in found if each is not None]


def is_prepared(name: str, version: str) -> bool:
    """Tell whether a version of a harness is there, whole."""
    return _read(place_of(name, version)) is not None


def settle(
    harness: Harness, version: str, fill: Callable[[Path], str], *, force: bool = False
) -> Path:
    """Make the folder of a version of a harness: whole, or not at all.

    Args:
        harness: The harness.
        version: Its version.
        fill: Puts everything into a new folder, and returns where it came from.
        force: Whether a folder that is there already is made anew.

    Raises:
        DataMissingError: What was put there lacks one of the harness's programs.
    """
    place = place_of(harness.name, version)
    for folder in (harness_root(), place.parent):
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(_FOR_ALL)
    bench = place.parent / f"{_UNFINISHED}{version}-{os.getpid()}"
    shutil.rmtree(bench, ignore_errors=True)
    try:
        bench.mkdir()
        source = fill(bench)
        _link_programs(harness, bench)
        size = sum(path.stat().st_size for path in _files(bench))
        record = Prepared(harness.name, version, harness.licence, source, size)
        (bench / RECORD).write_text(json.dumps(asdict(record), indent=2) + "\n", encoding="utf-8")
        for path in [bench, *(path for path in bench.rglob("*") if not path.is_symlink())]:
            path.chmod(_FOR_ALL if path.is_dir() or path.stat().st_mode & 0o111 else 0o644)
        if force and place.exists():
            _discard(place)
        if not place.exists():
            os.rename(bench, place)
    finally:
        shutil.rmtree(bench, ignore_errors=True)
    return place


def remove(name: str) -> list[str]:
    """Remove all versions of a harness, and what stopped preparations left; return their names."""
    folder = harness_root() / name
    names = sorted(path.name for path in folder.glob("*")) if folder.is_dir() else []
    if folder.is_dir():
        _discard(folder)
    return [each for each in names if not each.startswith(_UNFINISHED)]


def _discard(folder: Path) -> None:
    """Remove a folder; nobody sees it half removed."""
    away = tempfile.mkdtemp(prefix=_UNFINISHED, dir=harness_root())
    os.rename(folder, os.path.join(away, folder.name))
    shutil.rmtree(away)


def _link_programs(harness: Harness, bench: Path) -> None:
    """Put links to the programs into `bin/`, where they are not there already."""
    folder = bench / "bin"
    folder.mkdir(exist_ok=True)
    for program, pattern in harness.programs.items():
        path = folder / program
        if path.is_file():
            continue
        found = sorted(bench.glob(pattern))
        if len(found) != 1:
            raise DataMissingError(
                f"{harness.name}: expected the program `{program}` at bin/{program} or at "
                f"{pattern}, found {len(found)}. Its package may have changed: choose the version "
                f"{harness.version}, which is known to work."
            )
        found[0].chmod(0o755)
        path.symlink_to(os.path.join("..", found[0].relative_to(bench)))


def _read(folder: Path) -> Prepared | None:
    try:
        return Prepared(**json.loads((folder / RECORD).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
