"""The images of a sandbox: named after what is in their recipe, built when they are missing."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evals.assets import assets
from evals.errors import SandboxError
from evals.names import unknown
from evals.workspace import docker

if TYPE_CHECKING:
    from pathlib import Path

_SHARED = ("init.py", "lock.txt")
_TAIL_LINES = 40
DEFAULT_IMAGE = "bioimage"
_GRADER = "grader"
# A recipe that builds on another one begins so, and takes the other's tag instead.
_BASE = re.compile(r"^ARG BASE=(\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Images:
    """Tags of the two images of a sandbox."""

    agent: str
    grader: str


def ensure_images(agent: str = DEFAULT_IMAGE) -> Images:
    """Return the images of the shipped recipes, after building those that are missing.

    Args:
        agent: Name of the recipe of the agent's image, a folder in `sandboxes/`.

    Raises:
        UnknownNameError: There is no such recipe.
        SandboxError: No engine answers, or a build fails. The message says how to mend it.
    """
    if agent not in (known := agent_images()):
        raise unknown("image", agent, known)
    docker.engine()
    recipes = assets() / "sandboxes"
    for name in (agent, _GRADER):
        _ensure(recipes, name)
    return Images(image_tag(recipes, agent), image_tag(recipes, _GRADER))


def agent_images() -> list[str]:
    """Return the names of the recipes of which an agent's image can be built."""
    folders = (path.parent.name for path in (assets() / "sandboxes").glob("*/Dockerfile"))
    return sorted(name for name in folders if name != _GRADER)


def image_tag(recipes: Path, name: str) -> str:
    """Return an image's tag, which changes with every byte of its recipe, and of its base's."""
    digest = hashlib.sha256()
    folder = recipes / name
    if base := _base(recipes, name):
        digest.update(f"{image_tag(recipes, base)}\0".encode())
    for path in [*(recipes / shared for shared in _SHARED), *sorted(folder.rglob("*"))]:
        if path.is_file():
            content = path.read_bytes()
            digest.update(f"{path.relative_to(recipes).as_posix()}\0{len(content)}\0".encode())
            digest.update(content)
    return f"evals-{name}:{digest.hexdigest()[:12]}"


def _ensure(recipes: Path, name: str) -> None:
    if _present(image_tag(recipes, name)):
        return
    if base := _base(recipes, name):
        _ensure(recipes, base)
    _build(recipes, name)


def _base(recipes: Path, name: str) -> str | None:
    """Return the name of the recipe that a recipe builds on, if it does."""
    found = _BASE.search((recipes / name / "Dockerfile").read_text(encoding="utf-8"))
    return found.group(1) if found else None


def _present(tag: str) -> bool:
    return docker.run("image", "inspect", "--format", "{{.Id}}", tag).code == 0


def _build(recipes: Path, name: str) -> None:
    from rich.console import Console

    tag = image_tag(recipes, name)
    console = Console(stderr=True)
    console.print(f"Building the image {tag}: once, a few minutes with a good connection.")
    command = ["docker", "build", "--tag", tag, "--file", str(recipes / name / "Dockerfile")]
    if base := _base(recipes, name):
        command += ["--build-arg", f"BASE={image_tag(recipes, base)}"]
    lines: deque[str] = deque(maxlen=_TAIL_LINES)
    with (
        console.status(tag) as status,
        subprocess.Popen(
            [*command, str(recipes)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process,
    ):
        try:
            for line in process.stdout or ():
                lines.append(line.rstrip())
                # Brackets are markup to rich, and build steps are full of them.
                status.update(f"{tag}: {line.strip()[:100]}".replace("[", r"\["))
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        raise SandboxError(
            f"Building the image {tag} failed (exit code {process.returncode}). Its last lines:\n"
            + "\n".join(lines)
            + "\nIt needs the network for Debian and Python packages. Once it is there, run again: "
            "finished steps are kept."
        )
