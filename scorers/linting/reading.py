"""Which deliverables each grader cannot do without."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scorers.specification import Rubric

_READ = {
    "instance": ("segmentation_masks",),
    "counting": ("centroids_per_image",),
    "tracking": ("segmentation_masks", "tracking_lineage"),
    "filaments": ("segmentation_masks",),
    "vessels": ("vessel_masks",),
    "stitching": ("stitched_image", "summary_statistics"),
    "wound": ("speed_kymograph",),
    "puncta": ("cell_quants",),
    "npc": ("kinetics_per_cell",),
    "smlm": ("localization_list",),
    "microglia": ("cell_labels",),
    "compartments": ("nuclei_masks", "cytoplasm_masks"),
    "golgi": ("per_cell_coefficients",),
    "translocation": ("per_well_summary",),
    "foci": ("coloc_results",),
}


def deliverables_read(grader: str, rubric: Rubric) -> tuple[str, ...]:
    """Return the ids of the deliverables that a grader needs declared."""
    named = rubric.metric_config.get("compartments")
    if grader == "compartments" and isinstance(named, list):
        return tuple(f"{name}_masks" for name in named)
    return _READ[grader]
