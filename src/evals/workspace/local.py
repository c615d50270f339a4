"""The workspace on this machine itself: the same steps in temporary folders, without isolation."""

from __future__ import annotations

import json
import logging
import os
import shutil
import stat
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import psutil
from inspect_ai.util import sandbox

from evals.errors import SandboxError
from evals.workspace.owner import owner_mark

if TYPE_CHECKING:
    from inspect_ai.solver import TaskState

    from evals.workspace.place import Workspace

MARK_FILE = "evals-workspace.json"
_WRITE_BITS = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_KILL_WAIT_S = 5

_log = logging.getLogger(__name__)


async def looks_local() -> bool:
    """Tell whether the sample's sandbox is Inspect's `local`: no connection, and our own disk."""
    try:
        await sandbox().connection()
    except NotImplementedError:
        return (await _folder()).is_dir()
    except ConnectionError:
        return False
    return False


async def prepare_local(state: TaskState, workspace: Workspace) -> None:
    """Lay out input and output in the sandbox's temporary folder and name them in the prompt.

    Raises:
        SandboxError: The input cannot be copied.
    """
    from evals.edition import capsule_for

    _warn_once()
    folder = await _folder()
    root = folder / "workspace"
    input_dir = capsule_for(state.metadata["data_hash"]).input_dir
    mark_folder(folder)
    await anyio.to_thread.run_sync(lay_out, input_dir, root)
    workspace.kind = "local"
    workspace.input_dir = str(root / "input")
    workspace.output_dir = str(root / "output")
    prompt = state.user_prompt
    prompt.text = prompt.text.replace("/workspace", str(root))


async def end_processes(workspace: Workspace) -> None:
    """Kill the processes that work in the sandbox's folder."""
    folder = Path(workspace.output_dir).parents[1]
    await anyio.to_thread.run_sync(end_processes_in, folder)


def mark_folder(folder: Path) -> None:
    """Name a temporary folder's owner in it, so that a killed run's can be found and removed."""
    (folder / MARK_FILE).write_text(json.dumps({"owner": owner_mark()}), encoding="utf-8")


async def _folder() -> Path:
    printed = await sandbox().exec(["pwd", "-P"], timeout=60)
    return Path(printed.stdout.strip() or os.devnull)


@cache
def _warn_once() -> None:
    _log.warning(
        "The sandbox `local` does not isolate: agents run as you, on this machine, with its files "
        "and network. Use it with models and solvers that you trust, else `-T sandbox=docker`."
    )


def lay_out(input_dir: Path, root: Path) -> None:
    """Make `input`, a copy without the right to write, and an empty `output` in a folder.

    Raises:
        SandboxError: The input cannot be copied.
    """
    try:
        shutil.copytree(input_dir, root / "input")
    except (OSError, shutil.Error) as error:
        raise SandboxError(
            f"The input of {input_dir.parent.name} cannot be copied for the sandbox: {error}. "
            f"Each file must be readable by you, and {tempfile.gettempdir()} large enough "
            "(TMPDIR names another folder)."
        ) from error
    (root / "output").mkdir()
    for path in [root / "input", *(root / "input").rglob("*")]:
        path.chmod(path.stat().st_mode & ~_WRITE_BITS)


def end_processes_in(folder: Path) -> None:
    """Kill the processes that work in a folder or below it."""
    spared = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    end = time.monotonic() + _KILL_WAIT_S
    # What is killed may have started another in the meantime. Who waits for a process by its
    # number would take its exit code from Inspect, so look again instead.
    while found := _working_in(folder, spared):
        for process in found:
            _kill(process)
        if time.monotonic() > end:
            _log.warning("%d processes of the local sandbox do not end.", len(found))
            return
        time.sleep(0.05)


def _working_in(folder: Path, spared: set[int]) -> list[psutil.Process]:
    return [each for each in psutil.process_iter() if each.pid not in spared and _in(each, folder)]


def _in(process: psutil.Process, folder: Path) -> bool:
    try:
        # A dead process that nobody has asked for yet has no folder any more.
        return process.cwd() != "" and Path(process.cwd()).is_relative_to(folder)
    except (psutil.Error, OSError):
        return False


def _kill(process: psutil.Process) -> None:
    try:
        process.kill()
    except psutil.Error as error:
        _log.debug("A process of the local sandbox could not be killed: %s", error)
