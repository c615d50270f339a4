"""The bars of a pull: one for all of it, and one for each file on its way."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress


class Bars:
    """Shows how much of each file, and of all files, has arrived."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._all = progress.add_task("All files", total=total)
        self._lock = threading.Lock()
        self._arrived: dict[str, int] = {}

    @contextmanager
    def file(self, path: str, size: int) -> Iterator[Callable[[int], None]]:
        """Show one file; what is given is to be told how many bytes of it are there."""
        bar = self._progress.add_task(f"  {path}", total=size)

        def arrived(count: int) -> None:
            with self._lock:
                self._arrived[path] = count
                whole = sum(self._arrived.values())
            self._progress.update(bar, completed=count)
            self._progress.update(self._all, completed=whole)

        try:
            yield arrived
        finally:
            self._progress.remove_task(bar)

    @contextmanager
    def unpacking(self, task: str) -> Iterator[None]:
        """Show that a task is being unpacked."""
        bar = self._progress.add_task(f"  {task}: unpacking", total=None)
        try:
            yield
        finally:
            self._progress.remove_task(bar)


@contextmanager
def bars(total: int) -> Iterator[Bars]:
    """Show the bars on standard error until the work is done."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining
    from rich.progress import TransferSpeedColumn as Speed

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
    with Progress(*columns, Speed(), Remaining(), console=Console(stderr=True)) as progress:
        yield Bars(progress, total)
