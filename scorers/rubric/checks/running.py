"""Running all checks on one submission."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorers.errors import SubmissionFault
from scorers.rubric.checks import (
    comparisons,
    figures,
    file_checks,
    mask_checks,
    measurements,
    occasions,
    tracks,
)
from scorers.rubric.checks.code import calls_in
from scorers.rubric.checks.results import CheckResult, Finding
from scorers.rubric.checks.scene import Scene

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from scorers.files.limits import Limits
    from scorers.files.tree import Tree
    from scorers.specification import TaskSpec

CHECKS: dict[str, Callable[[Scene], Finding]] = {
    "label_form": mask_checks.label_form,
    "distinct_labels": mask_checks.distinct_labels,
    "touching_apart": mask_checks.touching_apart,
    "no_holes": mask_checks.no_holes,
    "no_specks": mask_checks.no_specks,
    "one_pixel_lines": mask_checks.one_pixel_lines,
    "lossless_images": file_checks.lossless_images,
    "mosaic_type": file_checks.mosaic_type,
    "pixel_size_kept": file_checks.pixel_size_kept,
    "input_untouched": file_checks.input_untouched,
    "file_stems": file_checks.file_stems,
    "deliverables_found": file_checks.deliverables_found,
    "figure_resolution": figures.figure_resolution,
    "table_matches_labels": measurements.table_matches_labels,
    "area_units": measurements.area_units,
    "raw_intensity": measurements.raw_intensity,
    "background_offset": measurements.background_offset,
    "p_recomputed": comparisons.p_recomputed,
    "p_adjusted": comparisons.p_adjusted,
    "n_is_rows": comparisons.n_is_rows,
    "effect_size": comparisons.effect_size,
    "effect_interval": comparisons.effect_interval,
    "persistent_ids": tracks.persistent_ids,
    "lineage_matches_masks": tracks.lineage_matches_masks,
    "divisions": tracks.divisions,
    "gaps_bridged": tracks.gaps_bridged,
    "fusion_occasion": occasions.fusion,
    "depth_occasion": occasions.depth,
    "planes_occasion": occasions.planes,
    "saturation_occasion": occasions.saturation,
    "channels_occasion": occasions.channels,
    "bit_depth_occasion": occasions.bit_depth,
    "several_images_occasion": occasions.one_image,
    "scale_occasion": occasions.scale,
    "labels_and_table_occasion": occasions.labels_and_table,
}


def run_checks(
    spec: TaskSpec,
    submission: Tree,
    input_dir: Path | None,
    limits: Limits,
    input_after: Mapping[str, str] | None = None,
) -> list[CheckResult]:
    """Run every check, those of calls in code included; neither reference nor rubric is needed.

    Parameters
    ----------
    spec, submission, input_dir
        What was asked, what came of it, and the capsule's `input/`.
    limits
        Bounds on what is read.
    input_after
        SHA-256 of the agent's own input files by their paths when it had ended, if the run knows.

    Returns
    -------
    list of CheckResult
        One for each check, in a fixed order; what cannot be read or told is `unknown`.
    """
    with Scene(spec, submission, input_dir, limits, input_after) as scene:
        found = {name: _run(check, scene) for name, check in CHECKS.items()}
        found |= calls_in(scene)
    return [
        CheckResult(name, finding.verdict, finding.says, finding.refs)
        for name, finding in found.items()
    ]


def _run(check: Callable[[Scene], Finding], scene: Scene) -> Finding:
    try:
        return check(scene)
    except SubmissionFault:
        # The message may quote names that an agent gave.
        return Finding("unknown", "A file that this needs cannot be read within the limits.")
