"""Remove what killed runs left behind, and nothing of runs that live.

`inspect sandbox cleanup docker` brings down every sandbox that Inspect ever started on the engine,
those of running evaluations and of other suites too. Here only sandboxes of this package count,
found by the label on their volume, and only when the process that started them is gone.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from evals.errors import SandboxError
from evals.workspace import docker
from evals.workspace.compose import OWNER_LABEL, SANDBOX_LABEL
from evals.workspace.local import MARK_FILE
from evals.workspace.owner import is_gone

_PROJECT = "com.docker.compose.project"
_CONFIG = "com.docker.compose.project.config_files"


@dataclass(frozen=True)
class Leftovers:
    """Sandboxes of this package: Compose projects on Docker, temporary folders of local ones."""

    projects: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()


def find_leftovers(*, everything: bool = False) -> Leftovers:
    """Return the sandboxes whose run is gone.

    Args:
        everything: Return those of running evaluations and of other machines too.

    Raises:
        SandboxError: There is a `docker` command, but no engine answers.
    """
    return Leftovers(tuple(_projects(everything)), tuple(_folders(everything)))


def remove_leftovers(leftovers: Leftovers) -> None:
    """Remove the containers, volumes, networks, Compose files and folders of these sandboxes.

    Raises:
        SandboxError: Docker refused to remove something.
    """
    for project in leftovers.projects:
        _remove_project(project)
    for folder in leftovers.folders:
        _make_writable(folder)
        shutil.rmtree(folder)


def selected(labels: list[dict[str, str]], *, everything: bool) -> list[str]:
    """Return the projects among volumes' labels whose owner is gone, each once, in order."""
    return sorted(
        {
            each[_PROJECT]
            for each in labels
            if _PROJECT in each
            and SANDBOX_LABEL in each
            and (everything or is_gone(each.get(OWNER_LABEL, "")))
        }
    )


def _projects(everything: bool) -> list[str]:
    if shutil.which("docker") is None:
        return []
    names = _ask("volume", "ls", "--quiet", "--filter", f"label={SANDBOX_LABEL}")
    labels = []
    for name in names:
        told = docker.run("volume", "inspect", "--format", "{{json .Labels}}", name)
        # A volume may go while we look: its run has just ended.
        if told.code == 0:
            labels.append(json.loads(told.stdout))
    return selected(labels, everything=everything)


def _remove_project(project: str) -> None:
    mine = f"label={_PROJECT}={project}"
    containers = _ask("ps", "--all", "--quiet", "--filter", mine)
    for config in _configs(containers):
        _forget_config(config, project)
    for kind, names in (
        ("container", containers),
        ("volume", _ask("volume", "ls", "--quiet", "--filter", mine)),
        ("network", _ask("network", "ls", "--quiet", "--filter", mine)),
    ):
        if names:
            _ask(kind, "rm", *(["--force"] if kind != "network" else []), *names)


def _configs(containers: list[str]) -> list[str]:
    if not containers:
        return []
    form = f'{{{{index .Config.Labels "{_CONFIG}"}}}}'
    return sorted(set(_ask("inspect", "--format", form, *containers)))


def _forget_config(config: str, project: str) -> None:
    # Inspect names the file that it makes for a sandbox after the project.
    path = Path(config)
    if path.name == f"{project}.yaml":
        path.unlink(missing_ok=True)


def _ask(*arguments: str) -> list[str]:
    done = docker.run(*arguments)
    if done.code != 0:
        raise SandboxError(
            f"`docker {' '.join(arguments[:2])}` failed: {done.stderr.strip()}. Look at "
            "`docker info`, then run the clean-up again."
        )
    return done.stdout.split()


def _folders(everything: bool) -> list[Path]:
    found = []
    for mark in sorted(Path(tempfile.gettempdir()).glob(f"*/{MARK_FILE}")):
        try:
            owner = str(json.loads(mark.read_text(encoding="utf-8"))["owner"])
            mine = mark.stat().st_uid == os.getuid()
        except (OSError, ValueError, KeyError, TypeError):
            # Whoever wrote this, it was not us.
            continue
        if mine and (everything or is_gone(owner)):
            found.append(mark.parent)
    return found


def _make_writable(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
