"""One module a task family, loaded when a task of the family is graded."""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import TYPE_CHECKING

from scorers.errors import CapsuleFault

if TYPE_CHECKING:
    from scorers.contract import Family
    from scorers.specification import Rubric, TaskSpec

GRADERS = {
    "instance": "scorers.graders.instance",
    "counting": "scorers.graders.counting",
    "tracking": "scorers.graders.tracking",
    "filaments": "scorers.graders.filaments",
    "vessels": "scorers.graders.vessels",
    "stitching": "scorers.graders.stitching",
    "wound": "scorers.graders.wound",
    "puncta": "scorers.graders.puncta",
    "npc": "scorers.graders.npc",
    "smlm": "scorers.graders.smlm",
    "microglia": "scorers.graders.microglia",
    "compartments": "scorers.graders.compartments",
    "golgi": "scorers.graders.golgi",
    "translocation": "scorers.graders.translocation",
    "foci": "scorers.graders.foci",
}

# The released tasks name no grader. A capsule of one's own does, in its rubric.
GRADER_OF_TASK = {
    "he-nuinsseg-nuclear-segmentation": "instance",
    "3d-fluo-cell-segmentation-lateral-line-idr0079": "instance",
    "fluo-cell-counting-2d-cellfmcount": "counting",
    "phase-contrast-bacteria-tracking-toiam": "tracking",
    "sim-microtubules-segmentation": "filaments",
    "3d-light-sheet-brain-vessels": "vessels",
    "confocal-mosaic-4channel-stitching-ctc-model": "stitching",
    "wound-healing-speed-kymograph-gigadb100118": "wound",
    "3d-confocal-puncta-quantification-sbiad1556": "puncta",
    "5D-npc-assembly-kinetics-idr0115": "npc",
    "smlm-localization-dnapaint": "smlm",
    "microglia-phenotype-progression-bbbc054": "microglia",
    "fluo-helacytonuc-cell-segmentation": "compartments",
    "fluo-coronavirus-golgi-colocalization": "golgi",
    "cytoplasm-nucleus-translocation-bbbc014": "translocation",
    "fluo-dna-repair-foci-colocalization-sbsst227": "foci",
}


def family_for(spec: TaskSpec, rubric: Rubric) -> Family:
    """Return the family that grades a task, or raise `CapsuleFault` if none is known."""
    name = rubric.grader or GRADER_OF_TASK.get(spec.task_id)
    if name is None:
        near = difflib.get_close_matches(spec.task_id, GRADER_OF_TASK, n=1, cutoff=0.6)
        hint = f"; did you mean the task id {near[0]!r}" if near else ""
        raise CapsuleFault(
            f"no grader is known for the task id {spec.task_id!r}: expected a key `grader` in "
            f"evaluation_rubric.yaml, one of {', '.join(GRADERS)}; add it{hint}"
        )
    if name not in GRADERS:
        near = difflib.get_close_matches(name, GRADERS, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}" if near else ""
        raise CapsuleFault(
            f"evaluation_rubric.yaml of {spec.task_id}: grader: expected one of "
            f"{', '.join(GRADERS)}, got {name!r}{hint}"
        )
    family: Family = import_module(GRADERS[name]).FAMILY
    return family
