"""Siblings of a task: the same scene with a dimension less.

A task folder offers a sibling by a specification of its own, `task_spec.2d.yaml`, and where the
rubric differs, `evaluation_rubric.2d.yaml`; its simulator is then asked for `dims="2d"`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from evals.data.recipe import Dims
from evals.errors import UnknownNameError
from scorers.specification import RUBRIC_FILE, SPEC_FILE, load_spec

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from scorers.specification import TaskSpec


def sibling_file(name: str, dims: Dims) -> str:
    """Return what `task_spec.yaml` or `evaluation_rubric.yaml` is called for a sibling."""
    stem, suffix = name.rsplit(".", 1)
    return f"{stem}.{dims}.{suffix}"


def natural_dims(spec: TaskSpec) -> Dims:
    """Return what a specification's own words come to: `2d`, `3d`, `2dt` or `3dt`."""
    solid = "3d" in str(spec.input.get("spatial_dimensions") or "").casefold()
    moving = "time" in str(spec.input.get("temporal_dimension") or "").casefold()
    if solid:
        return "3dt" if moving else "3d"
    return "2dt" if moving else "2d"


def dims_of(folder: Path) -> tuple[Dims, ...]:
    """Return the dimensions that a task folder offers, its own first."""
    own = natural_dims(load_spec(folder))
    others = [
        dims
        for dims in get_args(Dims)
        if dims != own and (folder / sibling_file(SPEC_FILE, dims)).is_file()
    ]
    return (own, *others)


def files_for(folder: Path, dims: Dims | None) -> dict[str, Path]:
    """Return the specification and rubric to use, by the name that they have in a capsule."""
    chosen = {}
    for name in (SPEC_FILE, RUBRIC_FILE):
        sibling = folder / sibling_file(name, dims) if dims else folder / name
        chosen[name] = sibling if sibling.is_file() else folder / name
    return chosen


def with_dims(folders: Sequence[Path], dims: Dims, *, named: bool) -> dict[Path, Dims | None]:
    """Return the task folders that offer some dimensions, and what to ask their simulator for.

    Args:
        folders: Task folders.
        dims: The dimensions.
        named: Whether the folders were asked for by name; then each must offer them.

    Raises:
        UnknownNameError: A folder asked for does not, or none does.
    """
    offered = {folder: dims_of(folder) for folder in folders}
    lacking = [folder for folder, has in offered.items() if dims not in has]
    if len(lacking) == len(folders) or (named and lacking):
        told = "; ".join(f"{path.name} has {', '.join(offered[path])}" for path in lacking[:8])
        raise UnknownNameError(
            f"Option dims={dims}: expected tasks that have such a sibling, but {told}. Mend: "
            "leave these tasks or the option out."
        )
    return {
        folder: None if dims == has[0] else dims for folder, has in offered.items() if dims in has
    }
