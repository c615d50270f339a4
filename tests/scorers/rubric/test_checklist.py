from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from scorers.errors import CapsuleFault
from scorers.rubric.checklist import load_checklist, select
from scorers.specification import Rubric, load_rubric

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorers.rubric.checklist import Checklist

TASKS = Path(__file__).parents[3] / "tasks" / "biaa"

# Critical, major and minor items of each group in the released checklist.
RELEASED_GROUPS = {
    "stitching": (3, 4, 3),
    "segmentation": (2, 2, 1),
    "feature-extraction": (1, 3, 0),
    "classification": (0, 3, 0),
    "statistical-plotting": (2, 6, 2),
    "filament-extraction": (1, 2, 1),
    "denoising": (1, 2, 1),
    "spot-detection": (0, 6, 0),
    "tracking": (1, 3, 1),
    "colocalization": (1, 2, 1),
    "input_understanding": (7, 2, 0),
    "tool_use": (1, 4, 4),
    "human_interaction": (0, 1, 5),
    "quantification": (1, 4, 2),
    "visualization_basic": (1, 5, 8),
    "visualization_advanced": (0, 5, 0),
}
# Number of items and total weight that each released rubric selects from it.
RELEASED_SELECTIONS = {
    "microglia-phenotype-progression-bbbc054": (72, 137),
    "cytoplasm-nucleus-translocation-bbbc014": (64, 121),
    "sim-microtubules-segmentation": (58, 108),
    "smlm-localization-dnapaint": (51, 93),
    "he-nuinsseg-nuclear-segmentation": (50, 92),
    "fluo-helacytonuc-cell-segmentation": (50, 92),
    "fluo-cell-counting-2d-cellfmcount": (51, 93),
    "fluo-coronavirus-golgi-colocalization": (68, 128),
    "fluo-dna-repair-foci-colocalization-sbsst227": (75, 141),
    "3d-confocal-puncta-quantification-sbiad1556": (75, 143),
    "3d-fluo-cell-segmentation-lateral-line-idr0079": (59, 111),
    "3d-light-sheet-brain-vessels": (63, 119),
    "5D-npc-assembly-kinetics-idr0115": (74, 141),
    "confocal-mosaic-4channel-stitching-ctc-model": (69, 131),
    "wound-healing-speed-kymograph-gigadb100118": (49, 90),
    "phase-contrast-bacteria-tracking-toiam": (55, 102),
}


@pytest.fixture
def load(tmp_path: Path) -> Callable[[Any], Checklist]:
    def write_and_load(content: Any) -> Checklist:
        path = tmp_path / "mine.yaml"
        path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
        return load_checklist(path)

    return write_and_load


@pytest.fixture
def small(load: Callable[[Any], Checklist]) -> Checklist:
    return load(
        {
            "general_evaluation": {
                "tool_use": {"checklist": [{"text": "Is it fast?"}]},
                "visualization_advanced": {"checklist": [{"text": "Is N given?"}]},
            },
            "task_specific": {
                "Tracking": {"checklist": [{"text": "Do ids last?", "severity": "critical"}]},
                "spot-detection": {"checklist": [{"text": "Is LoG used?", "severity": "major"}]},
            },
        }
    )


def rubric(**keys: Any) -> Rubric:
    return Rubric.model_validate({"metric_config": {}} | keys)


def texts(checklist: Checklist, **keys: Any) -> list[str]:
    return [item.text for item in select(checklist, rubric(**keys))]


def released() -> Path:
    root = os.environ.get("BIABENCH_DATA")
    if not root:
        pytest.skip("BIABENCH_DATA does not name the folder of the released specifications")
    return Path(root)


def test_numbers_run_through_the_file_with_task_specific_items_first(small: Checklist) -> None:
    assert [item.id for item in small.items] == [
        "chk_0001_do_ids_last",
        "chk_0002_is_log_used",
        "chk_0003_is_it_fast",
        "chk_0004_is_n_given",
    ]


def test_an_id_ends_with_at_most_80_signs_of_the_text(load: Callable[[Any], Checklist]) -> None:
    one = {"text": "Ångström-scale (x, y): " + "word " * 40}
    item = load({"task_specific": {"a": {"checklist": [one]}}}).items[0]
    assert item.id.startswith("chk_0001_ngstr_m_scale_x_y_word_word")
    assert len(item.id) == len("chk_0001_") + 80


def test_an_item_without_severity_is_minor_and_unknown_severities_weigh_one(
    load: Callable[[Any], Checklist],
) -> None:
    entries = [{"text": "a"}, {"text": "b", "severity": "blocker"}]
    content = {
        "severity_levels": {"minor": {"weight": 0.5}},
        "task_specific": {"a": {"checklist": entries}},
    }
    checklist = load(content)
    assert [(item.severity, item.weight) for item in checklist.items] == [
        ("minor", 0.5),
        ("blocker", 1.0),
    ]
    assert checklist.unknown_severities == ("blocker",)


def test_weights_and_scoring_have_the_published_defaults(small: Checklist) -> None:
    assert small.weights == {"critical": 3, "major": 2, "minor": 1}
    assert small.pass_threshold == 0.75
    assert small.critical_auto_fail


def test_scoring_settings_are_read(load: Callable[[Any], Checklist]) -> None:
    checklist = load(
        {
            "scoring": {"critical_auto_fail": False, "pass_threshold": 0.5},
            "task_specific": {"a": {"checklist": [{"text": "a"}]}},
        }
    )
    assert (checklist.critical_auto_fail, checklist.pass_threshold) == (False, 0.5)


def test_metrics_and_counters_beside_the_items_are_not_scored(
    load: Callable[[Any], Checklist],
) -> None:
    group = {"metrics": [{"name": "dice"}], "checklist": [{"text": "a", "vlm_hint": " look "}]}
    checklist = load({"task_specific": {"a": group, "b": None}, "general_evaluation": None})
    assert [(item.text, item.hint) for item in checklist.items] == [("a", "look")]


def test_a_keyword_is_found_anywhere_in_section_and_group(small: Checklist) -> None:
    assert texts(small, checklist_filter={"include_keywords": ["track"]}) == ["Do ids last?"]
    assert texts(small, checklist_filter={"include_keywords": ["TASK_SPECIFIC SPOT"]}) == [
        "Is LoG used?"
    ]


@pytest.mark.parametrize("keys", [{}, {"checklist_filter": {"include_keywords": []}}])
def test_without_keywords_only_general_items_are_asked(
    small: Checklist, keys: dict[str, Any]
) -> None:
    assert texts(small, **keys) == ["Is it fast?"]


@pytest.mark.parametrize(
    ("keys", "asked"),
    [
        ({"checklist_filter": {"visualization_level": "advanced"}}, True),
        ({"checklist_filter": {"visualization_level": "basic"}}, False),
        ({"checklist_filter": {"visualization_level": "expert"}}, False),
        ({"visualization_level": "advanced"}, True),
        ({"visualization_level": "advanced", "checklist_filter": {}}, True),
        (
            {
                "visualization_level": "advanced",
                "checklist_filter": {"visualization_level": "basic"},
            },
            False,
        ),
    ],
)
def test_advanced_visualization_is_asked_at_that_level_only(
    small: Checklist, keys: dict[str, Any], asked: bool
) -> None:
    assert ("Is N given?" in texts(small, **keys)) is asked


def test_advanced_visualization_is_left_out_even_where_a_keyword_names_it(small: Checklist) -> None:
    assert texts(small, checklist_filter={"include_keywords": ["visualization_advanced"]}) == []


def test_a_missing_file_is_our_fault(tmp_path: Path) -> None:
    with pytest.raises(CapsuleFault, match=r"no\.yaml: expected a checklist, got no such file"):
        load_checklist(tmp_path / "no.yaml")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ({}, "expected items in task_specific.GROUP.checklist"),
        ({"task_specific": []}, "task_specific: expected a mapping"),
        ({"task_specific": {"a": {"checklist": ["x"]}}}, r"task_specific\.a\.checklist\[0\]"),
        ({"task_specific": {"a": {"checklist": [{"text": " "}]}}}, "text that is not empty"),
        ({"task_specific": {"a": {"checklist": [{}]}}}, r"\.text: expected this key"),
        ({"severity_levels": {"major": {"weight": "2"}}}, r"major\.weight: expected a number"),
        ({"severity_levels": {"major": {"weight": -1}}}, r"major\.weight: expected"),
        ({"scoring": {"pass_threshold": 75}}, r"scoring\.pass_threshold: expected"),
        ({"scoring": {"critical_auto_fail": "no"}}, "expected true or false"),
    ],
)
def test_a_broken_file_is_told_with_the_place(
    load: Callable[[Any], Checklist], content: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(CapsuleFault, match=complaint):
        load(content)


def test_the_released_checklist_has_its_groups() -> None:
    checklist = load_checklist(released() / "Checklist.yaml")
    assert {name: counts(items) for name, items in checklist.groups.items()} == RELEASED_GROUPS
    assert len({item.id for item in checklist.items}) == 105


@pytest.mark.parametrize("task_id", RELEASED_SELECTIONS)
def test_released_rubrics_select_the_published_items(task_id: str) -> None:
    checklist = load_checklist(released() / "Checklist.yaml")
    items = select(checklist, load_rubric(released() / task_id))
    assert (len(items), sum(item.weight for item in items)) == RELEASED_SELECTIONS[task_id]


def test_our_checklist_has_the_groups_of_the_released_one_and_no_fewer_items() -> None:
    checklist = load_checklist(TASKS / "checklist.yaml")
    assert list(checklist.groups) == list(RELEASED_GROUPS)
    for name, items in checklist.groups.items():
        assert len(items) >= sum(RELEASED_GROUPS[name])
    assert checklist.weights == {"critical": 3, "major": 2, "minor": 1}
    assert (checklist.critical_auto_fail, checklist.pass_threshold) == (False, 0.75)
    assert checklist.unknown_severities == ()


def test_every_item_of_our_checklist_has_its_own_text_and_a_hint() -> None:
    items = load_checklist(TASKS / "checklist.yaml").items
    assert len({item.text for item in items}) == len(items)
    assert all(item.hint for item in items)


@pytest.mark.parametrize("task_id", RELEASED_SELECTIONS)
def test_our_rubrics_select_whole_groups_of_our_checklist(task_id: str) -> None:
    checklist = load_checklist(TASKS / "checklist.yaml")
    task_rubric = load_rubric(TASKS / task_id)
    assert task_rubric.checklist_filter is not None
    items = select(checklist, task_rubric)
    wanted = set(task_rubric.checklist_filter.include_keywords) - {"general_evaluation"}
    assert {item.subsection for item in items if item.section == "task_specific"} == wanted
    assert len(items) >= RELEASED_SELECTIONS[task_id][0]


def counts(items: tuple[Any, ...]) -> tuple[int, int, int]:
    severities = [item.severity for item in items]
    return severities.count("critical"), severities.count("major"), severities.count("minor")
