"""Which check decides which item, in the shipped checklist and in the released one.

Items are told by their group and by a part of their text, so that both files, and one's own made
of either, are served without a key in them. A rule says which verdicts decide; the others, and all
calls found in code, are facts for the judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorers.rubric.decisions import Decision
from scorers.rubric.items import FAIL, NOT_APPLICABLE, PASS, UNKNOWN, YES_OR_NO

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scorers.rubric.checks.results import CheckResult
    from scorers.rubric.items import Item

ALL = frozenset({PASS, FAIL, NOT_APPLICABLE})
YES_NO = frozenset({PASS, FAIL})
YES, NO, NA = frozenset({PASS}), frozenset({FAIL}), frozenset({NOT_APPLICABLE})
NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Rule:
    """One item and the checks that may decide it.

    Attributes
    ----------
    group
        The item's subsection.
    phrase
        A part of the item's text.
    checks
        The first is the one that matters, the others must not contradict it: an item fails with
        any of them, and is open as long as one of them is unknown.
    decides
        The verdicts that are decisions.
    """

    group: str
    phrase: str
    checks: tuple[str, ...]
    decides: frozenset[str] = ALL


# Several rules of one item are tried in order.
RULES = (
    Rule("stitching", "data type and the channels of the tiles", ("mosaic_type",)),
    Rule("stitching", "bit-depth and pixel size", ("mosaic_type", "pixel_size_kept")),
    Rule("stitching", "without loss of values", ("lossless_images",)),
    Rule("stitching", "in a lossless format", ("lossless_images",)),
    Rule("stitching", "measured from the overlapping", ("registration_calls",), NONE),
    Rule("stitching", "a registration-based method", ("registration_calls",), NONE),
    Rule("stitching", "positions were solved together", ("joint_solution_calls",), NONE),
    Rule("stitching", "apply global optimization", ("joint_solution_calls",), NONE),
    Rule("segmentation", "tell touching objects apart", ("touching_apart",)),
    Rule("segmentation", "separating touching objects", ("touching_apart",)),
    Rule("segmentation", "touching objects", ("watershed_calls",), NONE),
    Rule("segmentation", "has the form that the task asks for", ("label_form",)),
    Rule("segmentation", "distinct integer labels", ("distinct_labels",)),
    Rule("segmentation", "Things too small", ("no_specks",), NO),
    Rule("segmentation", "clearly noise based on size", ("no_specks",), YES_NO),
    Rule("segmentation", "size or shape", ("size_filter_calls",), NONE),
    Rule("segmentation", "Things too small", ("size_filter_calls",), NONE),
    Rule("segmentation", "image border", ("border_calls",), NONE),
    Rule("segmentation", "Holes inside objects", ("no_holes",)),
    Rule("segmentation", "fill holes inside", ("no_holes",)),
    Rule("segmentation", "holes inside", ("hole_filling_calls",), NONE),
    Rule("feature-extraction", "Intensities were measured on raw", ("raw_intensity",), YES_NO),
    Rule("feature-extraction", "intensity on the raw data", ("raw_intensity",), YES_NO),
    Rule("feature-extraction", "Background was subtracted", ("background_offset",), YES),
    Rule("feature-extraction", "background subtraction", ("background_offset",), YES_NO),
    Rule("feature-extraction", "background", ("background_calls",), NONE),
    Rule("feature-extraction", "Saturated pixels were counted", ("saturation_occasion",), NA),
    Rule("feature-extraction", "exclude saturated pixels", ("saturation_occasion",), NA),
    Rule("feature-extraction", "take the size of the pixel", ("area_units",)),
    Rule("statistical-plotting", "computed from the measured table", ("p_recomputed",), YES_NO),
    Rule("statistical-plotting", "a statistical test performed", ("p_recomputed",), YES_NO),
    Rule("statistical-plotting", "provide a p-value", ("p_recomputed",), YES),
    Rule("statistical-plotting", "test of the task", ("test_calls",), NONE),
    Rule("statistical-plotting", "statistical test performed", ("test_calls",), NONE),
    Rule("statistical-plotting", "distributed as the test assumes", ("normality_calls",), NONE),
    Rule("statistical-plotting", "check for normality", ("normality_calls",), NONE),
    Rule("statistical-plotting", "several comparisons", ("p_adjusted", "p_recomputed")),
    Rule("statistical-plotting", "multiple-comparison", ("p_adjusted", "p_recomputed")),
    Rule("statistical-plotting", "several comparisons", ("correction_calls",), NONE),
    Rule("statistical-plotting", "multiple-comparison", ("correction_calls",), NONE),
    Rule("statistical-plotting", "with an interval", ("effect_interval",), YES),
    Rule("statistical-plotting", "report effect sizes", ("effect_size",), YES),
    Rule("filament-extraction", "perform skeletonization", ("one_pixel_lines",), YES),
    Rule("filament-extraction", "Centre lines of one pixel", ("one_pixel_lines",), NONE),
    Rule("filament-extraction", "one pixel", ("skeleton_calls",), NONE),
    Rule("filament-extraction", "skeletonization", ("skeleton_calls",), NONE),
    Rule("filament-extraction", "structures were enhanced", ("ridge_calls",), NONE),
    Rule("spot-detection", "Spots were enhanced", ("spot_filter_calls",), NONE),
    Rule("spot-detection", "DoG or LoG", ("spot_filter_calls",), NONE),
    Rule("spot-detection", "own maximum or fit", ("local_maxima_calls",), NONE),
    Rule("spot-detection", "local maxima search", ("local_maxima_calls",), NONE),
    Rule("spot-detection", "in several planes or frames", ("planes_occasion",), NA),
    Rule("spot-detection", "account for Z-spread", ("depth_occasion",), NA),
    Rule("tracking", "keeps one id", ("persistent_ids", "lineage_matches_masks")),
    Rule("tracking", "track ID that persists", ("persistent_ids", "lineage_matches_masks")),
    Rule("tracking", "keeps one id", ("tracking_calls",), NONE),
    Rule("tracking", "track ID that persists", ("tracking_calls",), NONE),
    Rule("tracking", "Divisions are recorded", ("divisions", "lineage_matches_masks")),
    Rule("tracking", "object division", ("divisions", "lineage_matches_masks")),
    Rule("tracking", "Merging or overlapping", ("fusion_occasion",), NA),
    Rule("tracking", "object fusion", ("fusion_occasion",), NA),
    Rule("tracking", "missed for some frames", ("gaps_bridged", "persistent_ids"), YES),
    Rule("tracking", "detection gaps", ("gaps_bridged", "persistent_ids"), YES),
    Rule("colocalization", "computed on intensities", ("correlation_calls",), NONE),
    Rule("colocalization", "Pearson's Correlation", ("correlation_calls",), NONE),
    Rule("input_understanding", "channels that matter", ("channels_occasion",), NA),
    Rule("input_understanding", "irrelevant image channels", ("channels_occasion",), NA),
    Rule("input_understanding", "Channels were split", ("channels_occasion",), NA),
    Rule("input_understanding", "separate channels", ("channels_occasion",), NA),
    Rule("input_understanding", "full bit", ("bit_depth_occasion",), NA),
    Rule("input_understanding", "from original values", ("raw_intensity",), YES_NO),
    Rule("input_understanding", "quantify on raw data", ("raw_intensity",), YES_NO),
    Rule("input_understanding", "Input files are the same", ("input_untouched",), YES_NO),
    Rule("input_understanding", "never overwritten", ("input_untouched",), YES_NO),
    Rule("tool_use", "An image that fails", ("several_images_occasion",), NA),
    Rule("tool_use", "per-image failures", ("several_images_occasion",), NA),
    Rule("quantification", "Physical units are used", ("area_units",), YES_NO),
    Rule("quantification", "measurement units correct", ("area_units",), YES_NO),
    Rule("quantification", "in the file format that", ("deliverables_found",), YES_NO),
    Rule("quantification", "labels", ("table_matches_labels",), YES_NO),
    Rule("quantification", "labels", ("labels_and_table_occasion",), NA),
    Rule("quantification", "that the task asks for is there", ("deliverables_found",), NO),
    Rule("quantification", "specific metrics requested", ("deliverables_found",), NO),
    Rule("quantification", "Rows are grouped", ("several_images_occasion",), NA),
    Rule("quantification", "group results", ("several_images_occasion",), NA),
    Rule("visualization_basic", "Names of output files", ("file_stems",)),
    Rule("visualization_basic", "output filenames", ("file_stems",), YES_NO),
    Rule("visualization_basic", "that others will measure", ("lossless_images",)),
    Rule("visualization_basic", "TIFF, not JPEG", ("lossless_images",), YES_NO),
    Rule("visualization_basic", "Figures are vector graphics", ("figure_resolution",)),
    Rule("visualization_basic", "in vector format", ("figure_resolution",)),
    Rule("visualization_basic", "have a scale bar or say", ("scale_occasion",), NA),
    Rule("visualization_basic", "scale bar's length", ("scale_occasion",), NA),
    Rule("visualization_advanced", "number of cells, images", ("n_is_rows",), YES_NO),
    Rule("visualization_advanced", "report N", ("n_is_rows",), YES_NO),
)


def rules_for(item: Item) -> tuple[Rule, ...]:
    """Return the rules of an item, in the order in which they are tried."""
    if item.statuses != YES_OR_NO:
        return ()
    text = item.text.casefold()
    return tuple(
        rule for rule in RULES if rule.group == item.subsection and rule.phrase.casefold() in text
    )


def decide(items: Iterable[Item], results: Iterable[CheckResult]) -> tuple[Decision, ...]:
    """Return the decisions that checks make; items that they leave open are not among them."""
    by_name = {result.check: result for result in results}
    decided = (_decision(item, by_name) for item in items)
    return tuple(decision for decision in decided if decision is not None)


def _decision(item: Item, results: Mapping[str, CheckResult]) -> Decision | None:
    for rule in rules_for(item):
        used = [results[name] for name in rule.checks if name in results]
        if len(used) < len(rule.checks):
            continue
        status = _status(used)
        if status in rule.decides:
            telling = [each for each in used if each.verdict == status] or used
            return Decision(
                item.id,
                status,
                confidence=1.0,
                rationale=" ".join(each.says for each in telling),
                refs=tuple(dict.fromkeys(ref for each in telling for ref in each.refs)),
                by="check",
            )
    return None


def _status(used: Sequence[CheckResult]) -> str:
    verdicts = [each.verdict for each in used]
    if FAIL in verdicts:
        return FAIL
    return UNKNOWN if UNKNOWN in verdicts else verdicts[0]
