"""What code decides of the baselines: sensible work passes, and what they leave out does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evals import assets
from scorers.files.limits import Limits
from scorers.files.tree import Tree
from scorers.rubric.checklist import load_checklist, select
from scorers.rubric.checks.mapping import decide
from scorers.rubric.checks.running import run_checks
from scorers.specification import load_rubric, load_spec

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorers.rubric.checks.results import CheckResult
    from tests.tasks.conftest import Made

EXPECTED = {
    "phase-contrast-bacteria-tracking-toiam": {
        "label_form": "pass",
        "touching_apart": "pass",
        "persistent_ids": "pass",
        "lineage_matches_masks": "pass",
        "divisions": "pass",
        "fusion_occasion": "not_applicable",
        "channels_occasion": "not_applicable",
        "lossless_images": "pass",
        "p_recomputed": "unknown",
    },
    "fluo-coronavirus-golgi-colocalization": {
        "p_recomputed": "pass",
        "p_adjusted": "pass",
        "n_is_rows": "pass",
        "effect_size": "pass",
        "lossless_images": "not_applicable",
        "label_form": "unknown",
    },
    "he-nuinsseg-nuclear-segmentation": {
        "distinct_labels": "pass",
        "touching_apart": "pass",
        "no_holes": "pass",
        "no_specks": "pass",
        "file_stems": "pass",
        "bit_depth_occasion": "not_applicable",
        "saturation_occasion": "unknown",
    },
    "sim-microtubules-segmentation": {
        "label_form": "pass",
        "touching_apart": "not_applicable",
        "no_holes": "not_applicable",
        "one_pixel_lines": "unknown",
        "scale_occasion": "not_applicable",
    },
    "confocal-mosaic-4channel-stitching-ctc-model": {
        "mosaic_type": "pass",
        "pixel_size_kept": "pass",
        "lossless_images": "pass",
        "saturation_occasion": "not_applicable",
        "channels_occasion": "unknown",
    },
}


def checks_of(made: Made) -> list[CheckResult]:
    limits = Limits()
    with Tree(made.submission("solution"), limits) as tree:
        return run_checks(load_spec(made.capsule), tree, made.input, limits)


@pytest.mark.slow
@pytest.mark.parametrize("task", EXPECTED)
def test_checks_find_what_the_baseline_does(make: Callable[[str], Made], task: str) -> None:
    made = make(task)
    results = checks_of(made)
    verdicts = {each.check: each.verdict for each in results}
    assert {name: verdicts[name] for name in EXPECTED[task]} == EXPECTED[task]
    items = select(
        load_checklist(assets() / "tasks" / "biaa" / "checklist.yaml"), load_rubric(made.capsule)
    )
    failed = {
        item.text
        for item in items
        for decision in decide([item], results)
        if decision.status == "fail"
    }
    # Baselines draw PNGs of less than 300 dots per inch.
    assert failed == {"Figures are vector graphics or have at least 300 dots per inch."}
