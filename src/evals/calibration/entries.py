"""Entries of the table of perturbations: what is damaged, how, and in which doses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from evals.calibration import label_files, labels, mask_files, movie_files, movies, table_files
from evals.calibration.doses import DOSES, WHOLE, Pick
from evals.calibration.submission_files import change_images, remove_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evals.calibration.tables import Change, Form


@dataclass(frozen=True)
class Perturbation:
    """One way in which a reference is damaged.

    Attributes
    ----------
    kind
        Its name, the same in all families for what is alike.
    items
        What a dose is a share of; at least one is hit.
    damage
        Changes a submission's folder in place.
    doses
        Shares of the items, ascending.
    forgiven
        Why the strict score of the family need not notice it; empty where it has to.
    """

    kind: str
    items: str
    damage: Callable[[Path, Pick], object]
    doses: tuple[float, ...] = DOSES
    forgiven: str = ""


SINGLE = (WHOLE,)
AND_WHOLE = (*DOSES, WHOLE)
ANY_FILE = Perturbation("missing_file", "files", remove_files)
ONE_FILE = Perturbation("missing_file", "whole", remove_files, SINGLE)
TURNED_IMAGES = Perturbation("swapped_axes", "files", partial(change_images, change=labels.turned))


def objects(kind: str, change: label_files.Change, *, linked: bool = False) -> Perturbation:
    """Damage objects of label images."""
    return Perturbation(kind, "objects", partial(label_files.objects, change=change, linked=linked))


def instances(*, linked: bool) -> tuple[Perturbation, ...]:
    """Return the kinds of label images, whose objects may be linked over several masks."""
    return (
        objects("drop", label_files.drop, linked=linked),
        objects("merge", label_files.merge, linked=linked),
        Perturbation(
            "merge_all",
            "whole",
            partial(label_files.objects, change=label_files.merge_all, linked=linked),
            SINGLE,
        ),
        objects("split", label_files.split, linked=linked),
        objects("dilate", label_files.dilate, linked=linked),
        TURNED_IMAGES,
        ANY_FILE,
    )


def rows(
    form: Form, kind: str, change: Change, items: str = "rows", forgiven: str = ""
) -> Perturbation:
    """Damage rows of tables."""
    doses = SINGLE if items == "whole" else DOSES
    damage = partial(table_files.rows, form=form, change=change)
    return Perturbation(kind, items, damage, doses, forgiven)


def nodes(kind: str, change: Callable[[movies.Tracked, Pick], movies.Tracked]) -> Perturbation:
    """Damage objects of a movie, frame by frame."""
    return Perturbation(kind, "nodes", partial(movie_files.tracks, change=change))


def segments(kind: str, change: mask_files.Change, forgiven: str = "") -> Perturbation:
    """Damage stretches of lines between crossings."""
    return Perturbation(
        kind, "segments", partial(mask_files.segments, change=change), forgiven=forgiven
    )
