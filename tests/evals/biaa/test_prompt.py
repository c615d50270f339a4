"""The instruction: order of its blocks, and what each tells."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from evals.biaa.compute import Compute
from evals.biaa.prompt import render_prompt
from scorers.specification import TaskSpec, load_spec

PLAIN = Compute(cpus=2, memory_bytes=4 * 2**30)


def spec(**changes: Any) -> TaskSpec:
    """Return a specification with every kind of deliverable."""
    return TaskSpec.model_validate(
        {
            "task_id": "t",
            "input": {},
            "task_logic": {
                "basic_instructions": "Count, {agent_id}: name it {image_stem}.csv.\n",
                "expert_instructions": "Act as a Bioimage Analyst.",
            },
            "deliverables": [
                {
                    "id": "counts",
                    "description": "One file for all.\nBe exact.",
                    "filename_pattern": "*.csv",
                    "format": "CSV with header",
                    "required_columns": ["image", "count"],
                },
                {
                    "id": "masks",
                    "description": "A mask an image.",
                    "filename_pattern": "*.tif",
                    "required": False,
                    "multi": True,
                },
            ],
            **changes,
        }
    )


def test_the_blocks_come_in_their_order() -> None:
    blocks = render_prompt(spec(), "basic", PLAIN).split("\n\n---\n\n")
    assert blocks[0].startswith("Count")
    assert [block.splitlines()[0] for block in blocks[1:]] == [
        "## Files to hand in",
        "## The study behind this task",
        "## What you can compute with",
        "## Where to read and write",
    ]


def test_the_tiers_differ_in_the_first_block_only() -> None:
    basic, expert = (
        render_prompt(spec(), level, PLAIN).split("\n\n---\n\n") for level in ("basic", "expert")
    )
    assert expert[0] == "Act as a Bioimage Analyst."
    assert basic[0] != expert[0]
    assert basic[1:] == expert[1:]


def test_the_agent_id_is_filled_in_and_other_braces_stay() -> None:
    body = render_prompt(spec(), "basic", PLAIN, agent_id="a1").split("\n\n---")[0]
    assert body == "Count, a1: name it {image_stem}.csv."


def test_each_deliverable_tells_need_pattern_format_description_and_columns() -> None:
    block = render_prompt(spec(), "basic", PLAIN).split("\n\n---\n\n")[1]
    assert (
        "- counts  (required)\n"
        "  Filename pattern: *.csv\n"
        "  Format: CSV with header\n"
        "  One file for all.\n"
        "  Be exact.\n"
        "  Required columns: image, count\n"
    ) in block
    assert "- masks  (optional, multi-file" in block
    assert block.count("Format:") == 1


def test_a_task_without_deliverables_has_no_block_of_them() -> None:
    assert "Files to hand in" not in render_prompt(spec(deliverables=[]), "basic", PLAIN)


def test_the_places_are_those_of_the_sandbox() -> None:
    block = render_prompt(spec(), "basic", PLAIN).split("\n\n---\n\n")[-1]
    assert "(read-only): /workspace/input\n" in block
    assert "(write here): /workspace/output\n" in block


def test_a_gpu_is_told_of_only_where_there_is_one() -> None:
    with_gpu = Compute(cpus=2, memory_bytes=None, gpus=("NVIDIA A10",))
    assert "GPU" not in render_prompt(spec(), "basic", PLAIN)
    assert "1 CUDA GPU (NVIDIA A10)" in render_prompt(spec(), "basic", with_gpu)


def test_cores_memory_network_and_time_are_told() -> None:
    limited = Compute(cpus=1.5, memory_bytes=4 * 2**30, time_limit_s=3600)
    text = render_prompt(spec(), "basic", limited)
    assert "You have 1.5 CPU cores and 4 GiB of memory." in text
    assert "There is no network" in text
    assert "You have 60 minutes of wall-clock time" in text


def test_no_time_limit_is_told_where_there_is_none() -> None:
    assert "wall-clock" not in render_prompt(spec(), "basic", PLAIN)


def test_where_a_network_can_be_reached_the_agent_is_asked_to_work_without() -> None:
    text = render_prompt(spec(), "basic", Compute(cpus=1, memory_bytes=None, network=True))
    assert "Work without the network" in text


def test_the_released_specifications_render_whole() -> None:
    root = os.environ.get("BIABENCH_DATA")
    if not root:
        pytest.skip("BIABENCH_DATA does not name the folder of the released specifications")
    for path in sorted(Path(root).glob("*/task_spec.yaml")):
        released = load_spec(path.parent)
        text = render_prompt(released, "expert", PLAIN)
        assert text.startswith("Act as a Bioimage Analyst")
        assert all(item.filename_pattern in text for item in released.deliverables)
        # What the format's readers must not show.
        assert released.source.get("context", "?") not in text
