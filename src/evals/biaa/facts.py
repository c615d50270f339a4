"""Facts of a task that the specification format has no field for: difficulty and licence.

A capsule states them in a top-level key `metadata` of its `task_spec.yaml`, which other readers
of the format pass over:

    metadata:
      difficulty: easy        # easy, medium or hard
      licence: CC0-1.0        # of the input and the reference

The released task folders do not have the key; for them, and only them, there is a table here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast, get_args

from evals.biaa.metadata import Difficulty
from evals.errors import CapsuleInvalidError
from scorers.specification import SPEC_FILE

if TYPE_CHECKING:
    from evals.capsule import Capsule

_BY_4 = "CC BY 4.0"
_EASY, _MEDIUM, _HARD = cast("tuple[Difficulty, ...]", ("easy", "medium", "hard"))


@dataclass(frozen=True)
class Facts:
    """Difficulty and data licence of a task."""

    difficulty: Difficulty = "unrated"
    licence: str = "not stated"


# Difficulty as the benchmark's paper and site group the published results (its repository rates
# two tasks otherwise); licences as the data's sources state them.
RELEASED = {
    "he-nuinsseg-nuclear-segmentation": Facts(_EASY, _BY_4),
    "fluo-helacytonuc-cell-segmentation": Facts(_EASY, _BY_4),
    "fluo-cell-counting-2d-cellfmcount": Facts(_EASY, "CC BY-SA 4.0"),
    "cytoplasm-nucleus-translocation-bbbc014": Facts(_EASY, "CC BY 3.0"),
    "smlm-localization-dnapaint": Facts(_MEDIUM, "GPL-3.0 (repository; data unconfirmed)"),
    "wound-healing-speed-kymograph-gigadb100118": Facts(_MEDIUM, "CC0 1.0"),
    "microglia-phenotype-progression-bbbc054": Facts(_MEDIUM, "CC BY 3.0"),
    "sim-microtubules-segmentation": Facts(_MEDIUM, _BY_4),
    "3d-fluo-cell-segmentation-lateral-line-idr0079": Facts(_HARD, _BY_4),
    "fluo-coronavirus-golgi-colocalization": Facts(_HARD, _BY_4),
    "phase-contrast-bacteria-tracking-toiam": Facts(_HARD, _BY_4),
    "confocal-mosaic-4channel-stitching-ctc-model": Facts(_HARD, "CC BY 4.0 (images)"),
    "3d-light-sheet-brain-vessels": Facts(_HARD, _BY_4),
    "fluo-dna-repair-foci-colocalization-sbsst227": Facts(_HARD, "EMBL-EBI terms of use"),
    "5D-npc-assembly-kinetics-idr0115": Facts(_HARD, "CC BY 4.0 (images)"),
    "3d-confocal-puncta-quantification-sbiad1556": Facts(_HARD, "CC0 1.0"),
}


def facts_of(capsule: Capsule) -> Facts:
    """Return a capsule's own facts, else those of the released task of its id.

    Raises:
        CapsuleInvalidError: The capsule's `metadata` holds a value that is none.
    """
    stated = capsule.spec.extra.get("metadata", {})
    where = f"{capsule.path / SPEC_FILE}: metadata"
    if not isinstance(stated, dict):
        raise CapsuleInvalidError(
            f"{where}: expected a mapping, got {stated!r}. Mend: indent its keys below it."
        )
    fallback = RELEASED.get(capsule.task_id, Facts())
    difficulty = stated.get("difficulty", fallback.difficulty)
    licence = stated.get("licence", fallback.licence)
    if difficulty not in get_args(Difficulty):
        raise CapsuleInvalidError(
            f"{where}.difficulty: expected {', '.join(get_args(Difficulty))}, got "
            f"{difficulty!r}. Mend: choose one of them or remove the key."
        )
    if not isinstance(licence, str) or not licence.strip():
        raise CapsuleInvalidError(
            f"{where}.licence: expected text, got {licence!r}. Mend: write the licence's name."
        )
    return Facts(difficulty, licence.strip())
