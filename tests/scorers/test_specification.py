"""Loading of task_spec.yaml and evaluation_rubric.yaml."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from scorers.errors import CapsuleFault
from scorers.specification import load_rubric, load_spec

SPEC: dict[str, Any] = {
    "task_id": "my-task",
    "input": {"folder": "input"},
    "task_logic": {"basic_instructions": "Count.\n", "expert_instructions": "Count well."},
    "deliverables": [
        {"id": "counts", "description": "One CSV file.", "filename_pattern": "*.csv"},
        {"id": "masks", "description": "Masks.", "filename_pattern": "*.tif", "multi": True},
    ],
}
RUBRIC: dict[str, Any] = {"metric_config": {"type": "counting"}}


def write_spec(folder: Path, **changes: Any) -> Path:
    """Write a sound specification with some keys changed (None removes the key)."""
    return _write(folder / "task_spec.yaml", SPEC, changes)


def write_rubric(folder: Path, **changes: Any) -> Path:
    """Write a sound rubric with some keys changed (None removes the key)."""
    return _write(folder / "evaluation_rubric.yaml", RUBRIC, changes)


def _write(path: Path, base: dict[str, Any], changes: dict[str, Any]) -> Path:
    merged = {key: value for key, value in {**base, **changes}.items() if value is not None}
    path.write_text(yaml.safe_dump(merged), encoding="utf-8")
    return path.parent


def complaint_of_spec(folder: Path, **changes: Any) -> str:
    """Return the message with which a changed specification is refused."""
    with pytest.raises(CapsuleFault) as caught:
        load_spec(write_spec(folder, **changes))
    return str(caught.value)


def complaint_of_rubric(folder: Path, **changes: Any) -> str:
    """Return the message with which a changed rubric is refused."""
    with pytest.raises(CapsuleFault) as caught:
        load_rubric(write_rubric(folder, **changes))
    return str(caught.value)


def deliverable(**changes: Any) -> dict[str, Any]:
    """Return a sound deliverable with some keys changed (None removes the key)."""
    merged = {**SPEC["deliverables"][0], **changes}
    return {key: value for key, value in merged.items() if value is not None}


def test_a_sound_specification_keeps_its_facts_and_defaults(tmp_path: Path) -> None:
    spec = load_spec(write_spec(tmp_path, metadata={"difficulty": "easy"}))
    counts, masks = spec.deliverables
    assert (spec.task_id, spec.task_logic.basic_instructions) == ("my-task", "Count.")
    assert (counts.required, counts.multi, counts.format, counts.required_columns) == (
        True,
        False,
        None,
        (),
    )
    assert masks.multi
    assert spec.extra == {"metadata": {"difficulty": "easy"}}


def test_a_null_list_of_columns_is_empty(tmp_path: Path) -> None:
    item = {**SPEC["deliverables"][0], "required_columns": None}
    assert (
        load_spec(write_spec(tmp_path, deliverables=[item])).deliverables[0].required_columns == ()
    )


def test_a_missing_file_is_named_with_the_folder_it_should_be_in(tmp_path: Path) -> None:
    with pytest.raises(CapsuleFault, match=r"task_spec\.yaml: expected this file, got no YAML"):
        load_spec(tmp_path)


def test_broken_yaml_is_told_with_line_and_column(tmp_path: Path) -> None:
    (tmp_path / "task_spec.yaml").write_text("task_id: a\n  input: {\n", encoding="utf-8")
    with pytest.raises(CapsuleFault, match=r"line 2, column 8: expected valid YAML"):
        load_spec(tmp_path)


def test_text_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "task_spec.yaml").write_bytes("task_id: µ".encode("latin-1"))
    with pytest.raises(CapsuleFault, match=r"expected UTF-8 text, got byte 0xb5 at offset 9"):
        load_spec(tmp_path)


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "just words\n"])
def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "task_spec.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(CapsuleFault, match="expected a mapping"):
        load_spec(tmp_path)


@pytest.mark.parametrize("key", ["task_id", "input", "task_logic"])
def test_a_missing_required_key_is_named(tmp_path: Path, key: str) -> None:
    message = complaint_of_spec(tmp_path, **{key: None})
    assert f"task_spec.yaml: {key}: expected this key, got nothing" in message
    assert f"Mend: add '{key}:'" in message


@pytest.mark.parametrize("value", ["", "   ", 7])
def test_an_empty_or_numeric_task_id_is_refused(tmp_path: Path, value: Any) -> None:
    assert "task_id: expected text" in complaint_of_spec(tmp_path, task_id=value)


def test_a_task_id_that_names_another_folder_is_refused(tmp_path: Path) -> None:
    assert "task_id: expected letters" in complaint_of_spec(tmp_path, task_id="../else")


def test_a_task_logic_that_is_no_mapping_is_refused(tmp_path: Path) -> None:
    assert "task_logic: expected a mapping" in complaint_of_spec(tmp_path, task_logic=["a"])


@pytest.mark.parametrize("tier", ["basic_instructions", "expert_instructions"])
@pytest.mark.parametrize("value", [None, " \n"])
def test_a_missing_or_empty_instruction_is_refused(tmp_path: Path, tier: str, value: Any) -> None:
    logic = {**SPEC["task_logic"], tier: value}
    message = complaint_of_spec(
        tmp_path, task_logic={key: item for key, item in logic.items() if item is not None}
    )
    assert f"task_logic.{tier}: expected" in message


def test_a_top_level_evaluation_key_is_refused(tmp_path: Path) -> None:
    message = complaint_of_spec(tmp_path, evaluation={"metric": "dice"})
    assert "expected no key 'evaluation'" in message
    assert "move it into evaluation_rubric.yaml" in message


def test_an_unknown_deliverable_key_is_refused_with_its_index_and_a_hint(tmp_path: Path) -> None:
    items = [deliverable(), deliverable(id="b", file_pattern="*")]
    message = complaint_of_spec(tmp_path, deliverables=items)
    assert "deliverables[1]: expected only the keys id, description" in message
    assert "'file_pattern' (did you mean 'filename_pattern'?)" in message


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("id", "a b", "letters, digits"),
        ("id", None, "this key"),
        ("description", " ", "text that is not empty"),
        ("filename_pattern", 5, "text"),
        ("required", "yes", "true or false"),
        ("multi", 1, "true or false"),
        ("required_columns", "x", "a list"),
        ("format", 8, "text"),
    ],
)
def test_a_bad_value_in_a_deliverable_is_refused_with_its_index(
    tmp_path: Path, key: str, value: Any, expected: str
) -> None:
    message = complaint_of_spec(tmp_path, deliverables=[deliverable(**{key: value})])
    assert f"deliverables[0].{key}: expected {expected}" in message


def test_a_repeated_deliverable_id_is_refused_with_both_indices(tmp_path: Path) -> None:
    message = complaint_of_spec(tmp_path, deliverables=[deliverable(), deliverable()])
    assert "expected ids that differ, got 'counts' in [0] and [1]" in message


def test_every_fault_of_a_file_is_told_at_once(tmp_path: Path) -> None:
    message = complaint_of_spec(tmp_path, task_id=None, deliverables=[deliverable(multi="no")])
    assert len(message.splitlines()) == 2


def test_a_sound_rubric_keeps_unknown_top_level_keys_and_defaults(tmp_path: Path) -> None:
    rubric = load_rubric(write_rubric(tmp_path, notes="mine", grader="counting"))
    assert (rubric.grader, rubric.result_pass_threshold) == ("counting", 0.5)
    assert rubric.needs_reference


def test_a_rubric_without_metric_config_is_refused(tmp_path: Path) -> None:
    assert "metric_config: expected this key" in complaint_of_rubric(
        tmp_path, metric_config=None, a=1
    )


@pytest.mark.parametrize("key", ["metric_config", "evaluation_metadata", "checklist_filter"])
def test_a_rubric_section_that_is_no_mapping_is_refused(tmp_path: Path, key: str) -> None:
    assert f"{key}: expected a mapping" in complaint_of_rubric(tmp_path, **{key: "text"})


@pytest.mark.parametrize(
    "key",
    ["format", "ground_truth_filename", "spatial_dimensions", "temporal_dimension", "n_channels"],
)
def test_an_old_evaluation_metadata_key_is_refused_with_its_new_place(
    tmp_path: Path, key: str
) -> None:
    message = complaint_of_rubric(tmp_path, evaluation_metadata={"structure": "s", key: "x"})
    assert f"got '{key}'" in message
    assert "now '" in message or "belongs to 'input'" in message


@pytest.mark.parametrize("value", [None, ""])
def test_evaluation_metadata_needs_a_structure(tmp_path: Path, value: str | None) -> None:
    metadata = {"folder": "evaluation"} | ({} if value is None else {"structure": value})
    message = complaint_of_rubric(tmp_path, evaluation_metadata=metadata)
    assert "evaluation_metadata.structure: expected" in message


def test_ground_truth_present_must_be_true_or_false(tmp_path: Path) -> None:
    message = complaint_of_rubric(
        tmp_path, evaluation_metadata={"structure": "s", "ground_truth_present": "no"}
    )
    assert "evaluation_metadata.ground_truth_present: expected true or false" in message


def test_a_rubric_may_say_that_there_is_no_reference(tmp_path: Path) -> None:
    folder = write_rubric(
        tmp_path, evaluation_metadata={"structure": "quality", "ground_truth_present": False}
    )
    assert not load_rubric(folder).needs_reference


@pytest.mark.parametrize("value", [True, "0.7", 1.5, float("nan")])
def test_a_pass_threshold_that_is_no_share_is_refused(tmp_path: Path, value: Any) -> None:
    message = complaint_of_rubric(tmp_path, metric_config={"result_pass_threshold": value})
    assert "expected a result_pass_threshold from 0 to 1" in message


def test_all_released_specifications_load_as_they_are() -> None:
    root = os.environ.get("BIABENCH_DATA")
    if not root:
        pytest.skip("BIABENCH_DATA does not name the folder of the released specifications")
    folders = sorted(path.parent for path in Path(root).glob("*/task_spec.yaml"))
    assert len(folders) == 16
    for folder in folders:
        assert load_spec(folder).task_id == folder.name
        assert "type" in load_rubric(folder).metric_config
