"""Label images of a submission damaged object by object, over all of its files."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from evals.calibration import labels
from evals.calibration.submission_files import TIFF, found, read_image, write_image

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from evals.calibration.doses import Pick

    Ids = NDArray[np.int64]
    # From the masks of one scene and the ids to hit to the changed masks.
    Change = Callable[[list[NDArray[Any]], Ids], list[NDArray[Any]]]


def objects(folder: Path, pick: Pick, change: Change, *, linked: bool = False) -> int:
    """Change objects, chosen among those of all images; return how many.

    Parameters
    ----------
    folder
        Of the submission.
    pick
        What to hit.
    change
        How.
    linked
        Whether masks of one file name in several folders show the same objects.
    """
    scenes = _scenes(folder, linked=linked)
    every = [labels.ids_of(_joint(paths)) for paths in scenes]
    hits = pick.hits_in([len(ids) for ids in every])
    for paths, ids, hit in zip(scenes, every, hits, strict=True):
        if hit.any():
            changed = change([read_image(path) for path in paths], ids[hit])
            for path, image in zip(paths, changed, strict=True):
                write_image(path, image)
    return int(sum(hit.sum() for hit in hits))


def drop(masks: list[NDArray[Any]], ids: Ids) -> list[NDArray[Any]]:
    """Leave objects out."""
    return [labels.without(mask, ids) for mask in masks]


def merge(masks: list[NDArray[Any]], ids: Ids) -> list[NDArray[Any]]:
    """Give objects the id of their nearest neighbour, which the first mask decides."""
    every, names = labels.merge_names(masks[0], ids)
    return [labels.renamed(mask, every, names) for mask in masks]


def merge_all(masks: list[NDArray[Any]], ids: Ids) -> list[NDArray[Any]]:
    """Give all objects one id."""
    return [labels.renamed(mask, ids, np.ones_like(ids)) for mask in masks]


def split(masks: list[NDArray[Any]], ids: Ids) -> list[NDArray[Any]]:
    """Cut objects in two."""
    fresh = max(int(mask.max(initial=0)) for mask in masks) + 1 + np.arange(len(ids))
    return [labels.split(mask, ids, fresh) for mask in masks]


def dilate(masks: list[NDArray[Any]], ids: Ids) -> list[NDArray[Any]]:
    """Let objects grow by a pixel."""
    return [labels.dilated(mask, ids) for mask in masks]


def unlink(masks: list[NDArray[Any]], ids: Ids) -> list[NDArray[Any]]:
    """Exchange ids in all masks of a scene but the first; a single one becomes a new one."""
    names = np.roll(ids, 1) if len(ids) > 1 else ids + max(int(mask.max()) for mask in masks)
    return [masks[0], *(labels.renamed(mask, ids, names) for mask in masks[1:])]


def _joint(paths: list[Path]) -> NDArray[np.int64]:
    return np.unique(np.concatenate([labels.ids_of(read_image(path)) for path in paths]))


def _scenes(folder: Path, *, linked: bool) -> list[list[Path]]:
    scenes: defaultdict[str, list[Path]] = defaultdict(list)
    for path in found(folder, TIFF):
        scenes[path.name if linked else str(path)].append(path)
    return list(scenes.values())
