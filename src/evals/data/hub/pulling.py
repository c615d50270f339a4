"""Pulling a revision: what is missing of it is fetched, checked, unpacked aside and moved in."""

from __future__ import annotations

import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evals.data.hashing import file_hash
from evals.data.hub import records
from evals.data.hub.client import Hub, PullStoppedError
from evals.data.hub.display import bars
from evals.data.hub.fetching import fetch
from evals.data.hub.lock import alone
from evals.data.hub.pieces import pieces_of
from evals.data.hub.records import MANIFEST, Revision
from evals.data.hub.unpacking import build, publish
from evals.errors import DataMissingError, EvalsError
from evals.names import select

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from evals.data.hub.display import Bars
    from evals.data.hub.pieces import Piece
    from evals.data.hub.sources import Source

PULLING = ".pulling"

# An archive of the benchmark unpacks to 2.4 times its size; a margin goes with it.
_UNPACKED = 2.5
_SPARE_BYTES = 100_000_000


@dataclass(frozen=True)
class Pulled:
    """What a pull did.

    Attributes:
        commit: The commit that the revision's data come from.
        fetched: Tasks of which something was fetched.
        kept: Tasks of which all that was asked for was there already.
        failed: By task, why something of it could not be had.
        moved_to: The commit that the revision's name stands for by now, if it is another.
    """

    commit: str
    fetched: tuple[str, ...]
    kept: tuple[str, ...]
    failed: dict[str, str]
    moved_to: str | None = None


def pull(
    source: Source,
    revision: str,
    *,
    tasks: Sequence[str] | None = None,
    inputs_only: bool = False,
    workers: int = 4,
) -> Pulled:
    """Fetch what is missing of a revision.

    Args:
        source: The release.
        revision: A tag, branch or commit.
        tasks: Ids or patterns of the tasks; None means all.
        inputs_only: Whether only what an agent sees is fetched: no reference and no rubric.
        workers: Tasks that are fetched and unpacked side by side.

    Raises:
        EvalsError: The revision cannot be looked up, the disk is too small, or another pull is
            going on. What fails of single tasks is told in the result.
    """
    root = source.place(revision)
    work = _Work(source, root, Hub(source, threading.Event()))
    with _bench(root), _closed_session():
        known = records.read_revision(root)
        held = work.with_manifest(known or work.begin(revision))
        pieces = pieces_of(source, held, root)
        chosen = select("task id", tasks, list(dict.fromkeys(piece.task for piece in pieces)))
        wanted = [
            piece
            for piece in pieces
            if piece.task in chosen and (piece.part == "public" or not inputs_only)
        ]
        missing = [piece for piece in wanted if not work.has(piece)]
        lacking = list(dict.fromkeys(piece.task for piece in missing))
        kept = tuple(name for name in chosen if name not in lacking)
        moved = work.moved(held) if known and missing else None
        failed = work.fetch_all(missing, held, workers) if missing else {}
        work.tidy([piece for piece in wanted if piece.task not in failed])
    fetched = tuple(name for name in lacking if name not in failed)
    return Pulled(held.commit, fetched, kept, failed, moved)


class _Work:
    """The pull of one revision."""

    def __init__(self, source: Source, root: Path, hub: Hub) -> None:
        self._source = source
        self._root = root
        self._hub = hub

    def begin(self, revision: str) -> Revision:
        """Look a revision up and keep what it is; from then on its commit is fixed."""
        if (self._root / MANIFEST).exists():
            raise DataMissingError(
                f"{self._root}: expected nothing, or what an earlier pull left, got data that were "
                "put there otherwise. Mend: use them as they are, or move the folder away."
            )
        held = self._hub.look_up(revision)
        records.write_revision(self._root, held)
        return held

    def moved(self, held: Revision) -> str | None:
        """Return the commit that the name stands for now, if it is not the one that is kept."""
        now = self._hub.look_up(held.revision).commit
        return None if now == held.commit else now

    def has(self, piece: Piece) -> bool:
        """Return whether a piece is here, whole as far as names and sizes tell."""
        files = records.read_task(self._root, piece.task).get(piece.part)
        return files is not None and records.is_whole(self._root / piece.task, files)

    def fetch_all(self, missing: Sequence[Piece], held: Revision, workers: int) -> dict[str, str]:
        """Fetch pieces, a few tasks at a time, and return what failed."""
        self._check_room(missing)
        by_task: dict[str, list[Piece]] = {}
        for piece in missing:
            by_task.setdefault(piece.task, []).append(piece)
        total = sum(remote.size for piece in missing for remote in piece.remotes)
        failed: dict[str, str] = {}
        pool = ThreadPoolExecutor(max(1, min(workers, len(by_task))))
        try:
            with bars(total) as shown:
                started = {
                    pool.submit(self._task, task, pieces, held.commit, shown): task
                    for task, pieces in by_task.items()
                }
                for done in as_completed(started):
                    try:
                        done.result()
                    except PullStoppedError:
                        raise
                    except (EvalsError, OSError) as error:
                        failed[started[done]] = getattr(error, "message", str(error))
        except BaseException:
            # Ctrl-C reaches the main thread only: let the workers end before leaving.
            self._hub.stopped.set()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        return dict(sorted(failed.items()))

    def _task(self, task: str, pieces: Sequence[Piece], commit: str, shown: Bars) -> None:
        """Fetch and unpack what is missing of a task, then show it to others in one step."""
        files = self._root / PULLING / "files"
        for piece in pieces:
            if piece.fault is not None:
                raise DataMissingError(piece.fault)
            for remote in piece.remotes:
                with shown.file(remote.path, remote.size) as arrived:
                    fetch(self._hub, remote, commit, files / remote.path, arrived)
        bench = self._root / PULLING
        stage, trash = bench / "stage" / task, bench / "replaced" / task
        shutil.rmtree(stage, ignore_errors=True)
        stage.mkdir(mode=0o755, parents=True)
        held = records.read_task(self._root, task)
        names: set[str] = set()
        with shown.unpacking(task):
            for piece in pieces:
                made = build(piece, lambda path: files / path, stage, self._hub.check_stopped)
                held[piece.part] = made
                names |= {name.split("/")[0] for name in made}
        # A record of what is not there yet is harmless: what it lists is looked for each time.
        records.write_task(self._root, task, held)
        publish(stage, sorted(names), self._root / task, trash)
        self.tidy(pieces)

    def tidy(self, pieces: Sequence[Piece]) -> None:
        """Remove what was fetched for pieces that are in their place, and what they replaced."""
        bench = self._root / PULLING
        for piece in pieces:
            for kind in ("stage", "replaced"):
                shutil.rmtree(bench / kind / piece.task, ignore_errors=True)
            for remote in piece.remotes:
                (bench / "files" / remote.path).unlink(missing_ok=True)

    def with_manifest(self, held: Revision) -> Revision:
        """Fetch the data set's manifest if the layout has one and it is not here."""
        if self._source.layout != "zips" or (self._root / MANIFEST).is_file():
            return held
        remote = held.by_path.get(MANIFEST)
        if remote is None:
            raise DataMissingError(
                f"{held.repo} at {held.commit}: expected a {MANIFEST}, got none. Mend: choose a "
                "revision that has one."
            )
        fetched = self._root / PULLING / "files" / held.commit / MANIFEST
        fetch(self._hub, remote, held.commit, fetched, lambda count: None)
        # The record comes first: without it a manifest would look like somebody else's.
        held = replace(held, manifest_sha256=file_hash(fetched))
        records.write_revision(self._root, held)
        fetched.chmod(0o644)
        os.replace(fetched, self._root / MANIFEST)
        return held

    def _check_room(self, missing: Sequence[Piece]) -> None:
        wanted = 0.0
        for piece in missing:
            packed = sum(archive.remote.size for archive in piece.archives)
            loose = sum(remote.size for _, remote in piece.files)
            there = sum(map(self._arrived, piece.remotes))
            wanted += packed * (1 + _UNPACKED) + loose * 2 - there
        free = shutil.disk_usage(self._root).free
        if free < wanted + _SPARE_BYTES:
            raise DataMissingError(
                f"{self._root}: expected about {wanted / 1e9:.1f} GB free for the files and what "
                f"they unpack to, got {free / 1e9:.1f} GB. Mend: free some, choose fewer tasks "
                "with --task, or name another disk's folder in EVALS_DATA."
            )

    def _arrived(self, remote: records.Remote) -> int:
        place = self._root / PULLING / "files" / remote.path
        for path in (place, place.with_name(f"{place.name}.part")):
            if path.is_file():
                return min(path.stat().st_size, remote.size)
        return 0


@contextmanager
def _bench(root: Path) -> Iterator[None]:
    """Hold the revision's lock, and remove the folders of the work that end up empty."""
    root.mkdir(parents=True, exist_ok=True)
    with alone(root):
        (root / PULLING).mkdir(mode=0o700, exist_ok=True)
        try:
            yield
        finally:
            _remove_empty(root / PULLING)
            # What could not even be looked up leaves no folder behind.
            with suppress(OSError):
                root.rmdir()


def _remove_empty(folder: Path) -> None:
    for parent, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):
            os.rmdir(parent)


@contextmanager
def _closed_session() -> Iterator[None]:
    from huggingface_hub import close_session

    try:
        yield
    finally:
        close_session()
