"""Editions: where the capsules' data come from, and which capsules of them a run uses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evals.assets import assets
from evals.capsule import Capsule, load_capsule
from evals.data.places import data_root
from evals.data.recipe import Recipe
from evals.data.siblings import with_dims
from evals.data.synthetic import make_capsules
from evals.errors import CapsuleInvalidError, DataMissingError, UnknownNameError
from evals.names import near_matches, select
from scorers.errors import CapsuleFault
from scorers.specification import RUBRIC_FILE, SPEC_FILE, load_spec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evals.data.recipe import Dims

SYNTHETIC = "synthetic"

_opened: dict[str, Capsule] = {}


def open_edition(
    edition: str = SYNTHETIC,
    *,
    suite: str = "biaa",
    tasks: str | Sequence[str] | None = None,
    recipe: Recipe | None = None,
    replicas: int = 1,
    tasks_root: Path | None = None,
) -> list[Capsule]:
    """Return the capsules of an edition, loaded and checked.

    Args:
        edition: `synthetic` (made here on demand), a released revision in the data folder, or
            the path of a capsule or of a folder of capsules.
        suite: The suite whose task folders the synthetic edition is made from.
        tasks: Ids or glob patterns of the tasks to keep; None keeps all.
        recipe: How to make the synthetic edition; its `dims` keeps the tasks that have this
            sibling. None makes the usual one.
        replicas: Instances of each task, with the recipe's seed and those that follow; the
            instances of one task follow each other.
        tasks_root: The folder of task folders, by default the ones that ship.

    Raises:
        UnknownNameError: No such edition, or no such task in it.
        DataMissingError: Data of the edition are not on this machine, or cannot be read.
        CapsuleInvalidError: A capsule breaks the format.
    """
    if edition == SYNTHETIC:
        root = tasks_root or assets() / "tasks" / suite
        # Folders without a simulator serve released data only.
        simulated = [path for path in _capsule_folders(root) if (path / "simulate.py").is_file()]
        chosen = _chosen(simulated, tasks)
        capsules = _made(chosen, recipe or Recipe(), replicas, named=tasks is not None)
    elif (released := _revisions().get(edition)) is not None:
        capsules = [load_capsule(folder) for folder in _of_revision(released, tasks)]
    else:
        folders = _chosen(_capsule_folders(_folder(edition)), tasks)
        capsules = [load_capsule(folder) for folder in folders]
    _opened.update((capsule.data_hash, capsule) for capsule in capsules)
    return capsules


def _made(folders: Sequence[Path], recipe: Recipe, replicas: int, *, named: bool) -> list[Capsule]:
    """Make and load the instances of task folders."""
    asked: dict[Path, Dims | None] = dict.fromkeys(folders)
    if recipe.dims is not None:
        asked = with_dims(folders, recipe.dims, named=named)
    orders = [
        (folder, replace(recipe, seed=recipe.seed + number, dims=sibling))
        for folder, sibling in asked.items()
        for number in range(replicas)
    ]
    return [
        replace(load_capsule(place), seed=made.seed)
        for place, (_, made) in zip(make_capsules(orders), orders, strict=True)
    ]


def edition_label(edition: str) -> str:
    """Return what logs call an edition: its name, or the base name of its folder."""
    if edition == SYNTHETIC or edition in _revisions():
        return edition
    return Path(edition).expanduser().resolve().name


def edition_facts(edition: str) -> dict[str, Any] | None:
    """Return what logs tell of a released revision (commit, manifest's digest), else None."""
    from evals.data.hub.records import revision_facts

    released = _revisions().get(edition)
    return None if released is None else revision_facts(released)


def other_data(task_id: str, data_hash: str) -> Capsule | None:
    """Return an opened capsule of this task whose data are others than those with this hash."""
    if data_hash in _opened:
        return None
    return next((one for one in _opened.values() if one.task_id == task_id), None)


def capsule_for(data_hash: str) -> Capsule:
    """Return the opened capsule with this data hash.

    Logs hold the hash instead of a path of this machine. Only capsules that `open_edition`
    opened in this process are known.

    Raises:
        DataMissingError: No capsule with this hash was opened.
    """
    try:
        return _opened[data_hash]
    except KeyError:
        raise DataMissingError(
            f"No capsule with the data hash {data_hash!r} was opened in this process, got "
            f"{len(_opened)} others. Mend: make the task with the same edition (and "
            "revision of it), seed and difficulty as the log's."
        ) from None


def _revisions() -> dict[str, Path]:
    root = data_root()
    return {path.parent.name: path.parent for path in sorted(root.glob("*/manifest.json"))}


def _folder(edition: str) -> Path:
    folder = Path(edition).expanduser()
    if folder.is_dir():
        return folder.resolve()
    names = [SYNTHETIC, *_revisions()]
    got = "a file of this name" if folder.exists() else "no folder of this name"
    close = near_matches(edition, names)
    hint = f"did you mean {close[0]!r}?" if close else "give one of these or an existing folder."
    raise UnknownNameError(
        f"Unknown edition {edition!r}: expected {', '.join(map(repr, names))} (revisions are "
        f"looked for in {data_root()}) or the path of a folder of capsules, got {got} in "
        f"{Path.cwd()}. Mend: {hint}"
    )


def _capsule_folders(root: Path) -> list[Path]:
    """Return `root` if it is a capsule, else the capsules in it."""
    if _looks_like_capsule(root):
        return [root]
    try:
        present = sorted(path.name for path in root.iterdir() if not path.name.startswith("."))
    except PermissionError as error:
        raise DataMissingError(
            f"{root}: expected a readable folder, got {error.strerror}. Mend: chmod u+rx '{root}'."
        ) from error
    folders = [root / name for name in present if _looks_like_capsule(root / name)]
    if not folders:
        listed = ", ".join(present[:8]) + (", …" if len(present) > 8 else "")
        raise DataMissingError(
            f"{root} is no edition: expected a folder that holds {SPEC_FILE} and {RUBRIC_FILE} "
            f"beside input/ and evaluation/, or a folder of such folders, got "
            f"{listed or 'an empty folder'}. Mend: give the folder whose subfolders are the tasks."
        )
    return folders


def _looks_like_capsule(path: Path) -> bool:
    # One of the two is enough, so that a capsule that lacks the other is told, not skipped.
    return (path / SPEC_FILE).is_file() or (path / RUBRIC_FILE).is_file()


def _chosen(folders: Sequence[Path], tasks: str | Sequence[str] | None) -> list[Path]:
    by_id: dict[str, Path] = {}
    for folder in folders:
        task_id = _task_id(folder)
        if task_id in by_id:
            raise CapsuleInvalidError(
                f"{folder / SPEC_FILE}: task_id: expected an id of its own, got {task_id!r}, "
                f"which {by_id[task_id]} has too. Mend: change one of them."
            )
        by_id[task_id] = folder
    return [by_id[name] for name in select("task id", tasks, list(by_id))]


def _task_id(folder: Path) -> str:
    try:
        return load_spec(folder).task_id
    except CapsuleFault:
        # A broken capsule goes by its folder's name and is complained of if it is chosen.
        return folder.name


def _of_revision(root: Path, tasks: str | Sequence[str] | None) -> list[Path]:
    manifest = root / "manifest.json"
    try:
        listed = json.loads(manifest.read_text(encoding="utf-8"))["tasks"]
        names = sorted(listed.keys())
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataMissingError(
            f"{manifest}: expected JSON with an object 'tasks', got {error!r}. Mend: fetch the "
            "revision's manifest again."
        ) from error
    chosen = select("task id", tasks, names)
    absent = [name for name in chosen if not _looks_like_capsule(root / name)]
    if absent:
        present = [name for name in names if _looks_like_capsule(root / name)]
        raise DataMissingError(
            f"{root}: expected a folder for each task of the revision, got none for "
            f"{', '.join(absent)}. Mend: fetch them with `evals data pull biaa --revision "
            f"{root.name}`, or choose of those on this machine with "
            f"-T tasks={','.join(present) or '…'}."
        )
    return [root / name for name in chosen]
