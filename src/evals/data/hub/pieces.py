"""Which files of a repository make up which part of which task, for each layout of a release."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evals.data.hub.records import MANIFEST, Part, Remote
from evals.data.hub.sources import plain
from evals.errors import DataMissingError
from evals.workspace.take import name_fault
from scorers.specification import RUBRIC_FILE, SPEC_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import Any

    from evals.data.hub.records import Revision
    from evals.data.hub.sources import Source

_PRIVATE_OF_HARBOR = frozenset({"tests", "solution"})


@dataclass(frozen=True)
class Archive:
    """An archive whose members all lie in the folder `root`, which becomes `into` of the task."""

    remote: Remote
    root: str
    into: str


@dataclass(frozen=True)
class Piece:
    """One part of one task.

    Attributes:
        files: Loose files, by their path in the task's folder.
        canary: Whether a canary is put into it, for the released ones have none.
        fault: Why it cannot be had, where the repository lacks a file of it.
    """

    task: str
    part: Part
    archives: tuple[Archive, ...] = ()
    files: tuple[tuple[str, Remote], ...] = ()
    canary: bool = False
    fault: str | None = None

    @property
    def remotes(self) -> list[Remote]:
        """All that has to be fetched for it."""
        return [*(one.remote for one in self.archives), *(remote for _, remote in self.files)]


def pieces_of(source: Source, revision: Revision, root: Path) -> list[Piece]:
    """Return the pieces of a revision, in the order of the tasks' names.

    Args:
        source: The release.
        revision: What it holds.
        root: The revision's folder, where its manifest lies.

    Raises:
        DataMissingError: The manifest or the repository is not as the layout has it.
    """
    if source.layout == "zips":
        return list(_zips(revision, root / MANIFEST))
    if source.layout == "archive":
        return [_archive(revision)]
    return _folders(revision)


def _zips(revision: Revision, manifest: Path) -> Iterator[Piece]:
    try:
        tasks = json.loads(manifest.read_text(encoding="utf-8"))["tasks"]
        listed = sorted((plain("task", str(name)), dict(facts)) for name, facts in tasks.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataMissingError(
            f"{manifest}: expected JSON with an object 'tasks', got {error!r}. Mend: remove the "
            "revision with `evals data rm` and pull it again."
        ) from error
    by_path = revision.by_path
    for task, facts in listed:
        # `TASK.yaml` tells sources and more, so it stays with what the agent does not see.
        described = f"{task}/{task}.yaml"
        hidden = [RUBRIC_FILE, *([f"{task}.yaml"] if described in by_path else [])]
        yield _zipped(by_path, task, facts, "public", [SPEC_FILE])
        yield _zipped(by_path, task, facts, "private", hidden)


def _zipped(
    by_path: Mapping[str, Remote], task: str, facts: dict[str, Any], part: Part, names: list[str]
) -> Piece:
    """Return one part of a task: its archive, if the manifest has one, and its loose files."""
    field = "input" if part == "public" else "evaluation"
    wanted = [f"{task}/{name}" for name in names]
    stated = facts.get(field)
    if stated is not None:
        wanted.append(f"{task}/{field}.zip")
    absent = [path for path in wanted if path not in by_path]
    if absent:
        return Piece(
            task,
            part,
            fault=(
                f"expected {absent[0]} in the repository, for the manifest or the layout asks for "
                "it, got none. Mend: choose another revision."
            ),
        )
    files = tuple((name, by_path[f"{task}/{name}"]) for name in names)
    archives = () if stated is None else (_pinned(by_path[wanted[-1]], field, stated),)
    return Piece(task, part, archives, files, canary=part == "private")


def _pinned(remote: Remote, field: str, stated: object) -> Archive:
    """Return an archive, with the manifest's digest where it states one."""
    digest = stated.get("zip_sha256") if isinstance(stated, dict) else None
    if digest:
        remote = replace(remote, sha256=str(digest))
    return Archive(remote, field, field)


def _folders(revision: Revision) -> list[Piece]:
    """Return the pieces of folders in Harbor's form: those that hold a `task.toml`."""
    tasks = [
        plain("task", path.removesuffix("/task.toml"))
        for path in revision.by_path
        if path.count("/") == 1 and path.endswith("/task.toml")
    ]
    loose: dict[tuple[str, Part], list[tuple[str, Remote]]] = {}
    for remote in revision.files:
        task, _, name = remote.path.partition("/")
        if task not in tasks:
            continue
        if (fault := name_fault(name)) is not None:
            raise DataMissingError(f"{revision.repo}: file {remote.path!r}: {fault}.")
        part: Part = "private" if name.split("/")[0] in _PRIVATE_OF_HARBOR else "public"
        loose.setdefault((task, part), []).append((name, remote))
    return [Piece(task, part, (), tuple(files)) for (task, part), files in sorted(loose.items())]


def _archive(revision: Revision) -> Piece:
    packed = [remote for remote in revision.files if remote.path.endswith(".tar.gz")]
    if len(packed) != 1:
        raise DataMissingError(
            f"{revision.repo}: expected one .tar.gz, got {len(packed)}. Mend: choose a revision "
            "that has one."
        )
    name = plain("archive", packed[0].path.removesuffix(".tar.gz"))
    return Piece(name, "public", (Archive(packed[0], name, ""),))
