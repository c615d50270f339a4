"""The synthetic edition: capsules made on this machine from a seed, once, and kept in a cache."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from evals.data import canary
from evals.data.making import StoppedError, run_all
from evals.data.places import cache_root
from evals.data.siblings import files_for
from scorers.specification import RUBRIC_FILE

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator, Sequence

    from evals.data.making import Advance, Workshop
    from evals.data.recipe import Recipe

_DECISIVE_LIBRARIES = ("numpy", "scipy", "scikit-image", "tifffile", "imagecodecs", "pillow")
_SOLUTION = "solution"
_LAYOUT = 2  # rises when capsules are furnished in another way
_WRITTEN_S = 946_684_800  # the time that all files of a capsule bear: 2000-01-01

Order = tuple[Path, "Recipe"]


def make_capsules(orders: Sequence[Order]) -> list[Path]:
    """Return the made capsules of task folders, making those that the cache lacks.

    Two runs at once do not disturb each other, and a run that is stopped leaves nothing that a
    later one would take for whole.

    Args:
        orders: Task folders, each with a `simulate.py`, and the recipe for each.

    Raises:
        CapsuleInvalidError: A `simulate.py` is missing, fails or leaves no input.
    """
    root = cache_root() / "synthetic"
    places = [root / f"{source.name}-{_key(source, recipe)}" for source, recipe in orders]
    missing = [
        (_label(source, recipe), partial(_make, source, recipe, place))
        for (source, recipe), place in zip(orders, places, strict=True)
        if not place.is_dir()
    ]
    if missing:
        run_all(missing)
    return places


def _label(source: Path, recipe: Recipe) -> str:
    return f"{source.name}, seed {recipe.seed}"


def _make(source: Path, recipe: Recipe, place: Path, workshop: Workshop, advance: Advance) -> None:
    """Make one capsule, or wait for another run that is making it."""
    bench = place.parent / f".making-{place.name}"
    place.parent.mkdir(parents=True, exist_ok=True)
    with _only_one(place.parent / f".lock-{place.name}", workshop.stopped):
        if place.is_dir():
            return
        # Only a run that was killed leaves a bench behind, for the lock is ours.
        shutil.rmtree(bench, ignore_errors=True)
        try:
            bench.mkdir()
            workshop.simulate(source / "simulate.py", bench, recipe.options(), advance)
            _furnish(source, recipe, bench)
            os.rename(bench, place)
        finally:
            shutil.rmtree(bench, ignore_errors=True)


def _furnish(source: Path, recipe: Recipe, bench: Path) -> None:
    """Add specification, rubric, solution and canary, and set who may read what."""
    for name, path in files_for(source, recipe.dims).items():
        if path.is_file():
            shutil.copyfile(path, bench / name)
    if (source / _SOLUTION).is_dir():
        ignored = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(source / _SOLUTION, bench / _SOLUTION, ignore=ignored)
    if (bench / RUBRIC_FILE).is_file():
        canary.plant(bench, canary.own_canary(source.name, recipe.entropy))
    for path in [bench, *bench.rglob("*")]:
        private = path.relative_to(bench).parts[:1] in (("evaluation",), (RUBRIC_FILE,))
        path.chmod((0o700 if private else 0o755) if path.is_dir() else 0o600 if private else 0o644)
        # How long a file took to make, and in which order, would tell of what is in it.
        os.utime(path, (_WRITTEN_S, _WRITTEN_S))


@contextmanager
def _only_one(path: Path, stopped: threading.Event) -> Iterator[None]:
    """Hold the lock file at `path`; the system lets go of it when the process dies."""
    try:
        import fcntl
    except ImportError:  # not POSIX: the rename alone keeps the cache whole
        yield
        return
    with path.open("w", encoding="utf-8") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if stopped.is_set():
                    raise StoppedError("The making of the edition was stopped.") from None
                time.sleep(0.1)
        yield


def _key(source: Path, recipe: Recipe) -> str:
    """Return what decides the made capsule: its sources, the libraries and the recipe."""
    simulation = Path(__file__).resolve().parents[1] / "simulation"
    own = [*files_for(source, recipe.dims).values(), source / _SOLUTION, source / "simulate.py"]
    digest = hashlib.sha256(json.dumps([_LAYOUT, recipe.options()], sort_keys=True).encode())
    for root, starts in ((source, own), (simulation, [simulation])):
        for path in sorted(file for start in starts for file in _sources(start)):
            digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    digest.update(" ".join(f"{name}={version(name)}" for name in _DECISIVE_LIBRARIES).encode())
    return digest.hexdigest()[:16]


def _sources(start: Path) -> list[Path]:
    if start.is_file():
        return [start]
    return [path for path in start.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
