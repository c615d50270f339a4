"""The synthetic edition: capsules made on this machine from a seed, once, and kept in a cache."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from evals.data.places import cache_root
from evals.errors import CapsuleInvalidError, EvalsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Scale = Literal["quick", "standard", "paper"]

_DECISIVE_LIBRARIES = ("numpy", "scipy", "scikit-image", "tifffile", "imagecodecs", "pillow")
_COPIED = ("task_spec.yaml", "evaluation_rubric.yaml", "solution")
_PROCESSES = 2


@dataclass(frozen=True)
class Recipe:
    """What decides the content of a synthetic edition, beside the sources."""

    seed: int = 0
    difficulty: float = 0.5
    scale: Scale = "quick"


def make_capsules(sources: Sequence[Path], recipe: Recipe) -> list[Path]:
    """Return the made capsules of task folders, making those that the cache lacks.

    Two runs at once do not disturb each other, and a run that is stopped leaves nothing that a
    later one would take for whole.

    Args:
        sources: Task folders, each with a `simulate.py`.
        recipe: Seed, difficulty and scale.

    Raises:
        CapsuleInvalidError: A `simulate.py` is missing, fails or leaves no input.
    """
    root = cache_root() / "synthetic"
    places = [root / f"{source.name}-{_key(source, recipe)}" for source in sources]
    missing = [pair for pair in zip(sources, places, strict=True) if not pair[1].is_dir()]
    if missing:
        _make_all(missing, recipe)
    return places


def _make_all(missing: Sequence[tuple[Path, Path]], recipe: Recipe) -> None:
    maker = _Maker(recipe)
    pool = ThreadPoolExecutor(min(_PROCESSES, len(missing)))
    try:
        jobs = [pool.submit(maker.make, source, place) for source, place in missing]
        with _progress(len(jobs)) as advance:
            for job in as_completed(jobs):
                job.result()
                advance()
    except BaseException:
        # Ctrl-C reaches the main thread only: end the workers' processes before leaving.
        maker.stop()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class _Maker:
    """Makes capsules, each in a process of its own, and can be stopped from another thread."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()

    def stop(self) -> None:
        """End what is running; nothing new starts."""
        self._stopped.set()
        with self._lock:
            for process in self._running:
                process.kill()

    def make(self, source: Path, place: Path) -> None:
        """Make one capsule, or wait for another run that is making it."""
        workshop = place.parent / f".making-{place.name}"
        place.parent.mkdir(parents=True, exist_ok=True)
        with _only_one(place.parent / f".lock-{place.name}", self._stopped):
            if place.is_dir():
                return
            # Only a run that was killed leaves a workshop behind, for the lock is ours.
            shutil.rmtree(workshop, ignore_errors=True)
            try:
                self._simulate(source, workshop)
                _furnish(source, workshop)
                os.rename(workshop, place)
            finally:
                shutil.rmtree(workshop, ignore_errors=True)

    def _simulate(self, source: Path, workshop: Path) -> None:
        script = source / "simulate.py"
        if not script.is_file():
            raise CapsuleInvalidError(
                f"{script}: expected the task's simulator, got nothing. Mend: add it, or choose "
                "other tasks, or another edition."
            )
        workshop.mkdir()
        request = {"script": str(script), "out": str(workshop), "options": asdict(self._recipe)}
        with tempfile.TemporaryFile() as said:
            code = self._run([sys.executable, "-m", __package__ + ".simulate_one"], request, said)
            said.seek(0)
            text = said.read().decode(errors="replace").strip()
        if code:
            raise CapsuleInvalidError(
                f"{script} failed with exit code {code}; expected it to write input/ and "
                f"evaluation/. It said:\n{text[-3000:] or '(nothing)'}\nMend: correct the script."
            )
        if not any((workshop / "input").glob("**/*")):
            raise CapsuleInvalidError(
                f"{script} ended well but wrote no input/. Mend: let simulate(out, …) write "
                "out/input and out/evaluation."
            )

    def _run(self, command: list[str], request: Mapping[str, object], said: IO[bytes]) -> int:
        # One core each, so that two at a time are two, and no library's threads change the sums.
        # A session of its own keeps Ctrl-C for the parent, which then ends it in order.
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        with self._lock:
            if self._stopped.is_set():
                raise _StoppedError("The making of the edition was stopped.")
            process = subprocess.Popen(
                [*command, json.dumps(request)],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                env={**os.environ, **threads},
                start_new_session=True,
            )
            self._running.add(process)
        code = process.wait()
        with self._lock:
            self._running.discard(process)
        if self._stopped.is_set():
            raise _StoppedError("The making of the edition was stopped.")
        return code


class _StoppedError(EvalsError):
    """The making was stopped; the reason is raised elsewhere."""


def _furnish(source: Path, workshop: Path) -> None:
    """Add specification, rubric and solution, and set who may read what."""
    for name in _COPIED:
        if (source / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", ".*")
            shutil.copytree(source / name, workshop / name, ignore=ignored)
        elif (source / name).is_file():
            shutil.copyfile(source / name, workshop / name)
    for path in [workshop, *workshop.rglob("*")]:
        private = path.relative_to(workshop).parts[:1] == ("evaluation",)
        path.chmod((0o700 if private else 0o755) if path.is_dir() else 0o600 if private else 0o644)


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
                    raise _StoppedError("The making of the edition was stopped.") from None
                time.sleep(0.1)
        yield


def _key(source: Path, recipe: Recipe) -> str:
    """Return what decides the made capsule: its sources, the libraries and the recipe."""
    simulation = Path(__file__).resolve().parents[1] / "simulation"
    names = (*_COPIED, "simulate.py")
    digest = hashlib.sha256(json.dumps(asdict(recipe), sort_keys=True).encode())
    for root, starts in ((source, [source / name for name in names]), (simulation, [simulation])):
        for path in sorted(file for start in starts for file in _sources(start)):
            digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    digest.update(" ".join(f"{name}={version(name)}" for name in _DECISIVE_LIBRARIES).encode())
    return digest.hexdigest()[:16]


def _sources(start: Path) -> list[Path]:
    if start.is_file():
        return [start]
    return [path for path in start.rglob("*") if path.is_file() and "__pycache__" not in path.parts]


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeElapsedColumn as Elapsed

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Elapsed())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("Making the synthetic edition", total=total)
        yield lambda: bar.advance(task)
