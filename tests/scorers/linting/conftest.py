"""A sound capsule, to be broken in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile

if TYPE_CHECKING:
    from pathlib import Path

SPEC = """\
task_id: my-cells
input:
  imaging_modality: confocal
  spatial_dimensions: "2D"
  temporal_dimension: static
  n_channels: 1
task_logic:
  primary_task: segmentation
  sub_tasks: []
  basic_instructions: Outline the cells.
  expert_instructions: Outline the cells by a watershed.
deliverables:
  - id: segmentation_masks
    description: One label image per input image.
    filename_pattern: "*_seg.tif*"
    format: uint16 TIF (instance labels)
    required: true
    multi: true
  - id: cell_table
    description: One table of all cells.
    filename_pattern: "*cells*.csv"
    required: false
    required_columns: [image, area]
"""
RUBRIC = """\
grader: instance
metric_config:
  type: instance-segmentation
  primary_metric: dice
  metrics: [dice, iou]
  result_pass_threshold: 0.5
evaluation_metadata:
  structure: pixel-aligned-labels
  folder: evaluation
  ground_truth_file: "*_seg.tif"
checklist_filter:
  visualization_level: basic
  include_keywords: [segmentation, general_evaluation]
"""
CHECKLIST = """\
task_specific:
  segmentation: {checklist: [{text: Touching cells were told apart.}]}
  tracking: {checklist: [{text: Tracks are whole.}]}
general_evaluation:
  tool_use: {checklist: [{text: Tools fit.}]}
"""
SIMULATE = '''\
"""Make it."""


def simulate(out, *, seed, difficulty=0.5, dims=None, scale="quick"):
    """Write out/input and out/evaluation."""
'''


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    """A capsule with which nothing is wrong."""
    folder = tmp_path / "my-cells"
    for part, name, value in (("input", "a.tif", 7), ("evaluation", "a_seg.tif", 1)):
        (folder / part).mkdir(parents=True)
        tifffile.imwrite(folder / part / name, np.full((20, 24), value, np.uint16))
    (folder / "solution").mkdir()
    (folder / "solution" / "solve.py").write_text("print('solved')\n", encoding="utf-8")
    (folder / "simulate.py").write_text(SIMULATE, encoding="utf-8")
    (folder / "task_spec.yaml").write_text(SPEC, encoding="utf-8")
    (folder / "evaluation_rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    (tmp_path / "checklist.yaml").write_text(CHECKLIST, encoding="utf-8")
    return folder
