"""Many independent pieces of work over a few processes, none of which can stop the others."""

from __future__ import annotations

import multiprocessing
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

Item = TypeVar("Item")


@dataclass(frozen=True)
class Lost:
    """Stands for the result of work whose process died or took too long."""

    reason: str


class _Worker(Generic[Item]):
    """One process and the piece it works on."""

    def __init__(self, work: Callable[[Item], Any]) -> None:
        # A fresh interpreter: what the parent has open or has started does not leak into it.
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=_serve, args=(work, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.index = -1
        self.deadline = 0.0

    def give(self, index: int, item: Item, seconds: float) -> None:
        self.index = index
        self.deadline = time.monotonic() + seconds
        # If the process is gone, waiting for its answer will say so.
        with suppress(ConnectionError):
            self.pipe.send(item)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def run_many(
    work: Callable[[Item], Any], items: Sequence[Item], *, processes: int, seconds: float
) -> Iterator[tuple[int, Any]]:
    """Yield (position, result) of every item as it is done, in no order.

    Parameters
    ----------
    work
        A module-level function that raises nothing it does not mean to end its process with.
    items
        What it is called with, one at a time.
    processes
        How many at once.
    seconds
        Wall time for one item; then its process is killed and `Lost` is its result, as it is for
        a process that dies. A new process takes over the remaining items.
    """
    waiting = list(enumerate(items))[::-1]
    workers: list[_Worker[Item]] = []
    try:
        while waiting or workers:
            while waiting and len(workers) < processes:
                workers.append(_Worker(work))
                workers[-1].give(*waiting.pop(), seconds)
            for worker in _ready(workers):
                yield worker.index, _outcome(worker, seconds)
                if waiting and worker.process.is_alive():
                    worker.give(*waiting.pop(), seconds)
                else:
                    worker.end()
                    workers.remove(worker)
    finally:
        for worker in workers:
            worker.end()


def _ready(workers: list[_Worker[Item]]) -> list[_Worker[Item]]:
    """Wait until some worker has answered, died or used up its time."""
    first = min(worker.deadline for worker in workers)
    pipes: list[Any] = [worker.pipe for worker in workers]
    answered = wait(pipes, timeout=max(0.0, first - time.monotonic()))
    now = time.monotonic()
    return [w for w in workers if w.pipe in answered or w.deadline <= now]


def _outcome(worker: _Worker[Item], seconds: float) -> Any:
    try:
        if worker.pipe.poll():
            return worker.pipe.recv()
    except (EOFError, ConnectionError):
        worker.process.join()
        return Lost(f"the grading process ended with exit code {worker.process.exitcode}")
    worker.process.kill()
    worker.process.join()
    return Lost(f"grading took longer than {seconds:g} s")


def _serve(work: Callable[[Any], Any], pipe: Connection[Any, Any]) -> None:
    while True:
        try:
            item = pipe.recv()
        except EOFError:
            return
        pipe.send(work(item))
