"""Capsules made from the real data sets under tests/data/real."""

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import tifffile
import yaml

from evals import assets

REAL = Path(__file__).parents[2] / "data" / "real"
SOLUTIONS = Path(__file__).parent / "solutions"


def _specification(task_id: str, deliverables: list[dict[str, Any]], dims: str) -> dict[str, Any]:
    return {
        "task_id": task_id,
        "input": {
            "folder": "input",
            "imaging_modality": "fluorescence or brightfield microscopy",
            "spatial_dimensions": dims,
            "temporal_dimension": "static",
            "n_channels": 1,
        },
        "task_logic": {
            "primary_task": "segmentation",
            "sub_tasks": [],
            "basic_instructions": "Find every nucleus.",
            "expert_instructions": "Act as a Bioimage Analyst. Find every nucleus.",
        },
        "deliverables": deliverables,
    }


def _rubric(grader: str, **values: Any) -> dict[str, Any]:
    return {
        "grader": grader,
        "metric_config": {"type": grader, **values},
        "evaluation_metadata": {"structure": "pixel-aligned-labels", "folder": "evaluation"},
        "checklist_filter": {"include_keywords": ["segmentation", "general_evaluation"]},
    }


def _masks(pattern: str) -> list[dict[str, Any]]:
    return [
        {
            "id": "segmentation_masks",
            "description": "One label image per input image, same stem.",
            "filename_pattern": pattern,
            "format": "uint16 TIF (instance labels)",
            "required": True,
            "multi": True,
        }
    ]


def _write(capsule: Path, spec: dict[str, Any], rubric: dict[str, Any], solution: Path) -> None:
    (capsule / "task_spec.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")
    (capsule / "evaluation_rubric.yaml").write_text(yaml.safe_dump(rubric), encoding="utf-8")
    (capsule / "solution").mkdir()
    shutil.copy(solution, capsule / "solution" / "solve.py")


def _shipped(task_id: str) -> Path:
    return assets() / "tasks" / "biaa" / task_id / "solution" / "solve.py"


def _folders(edition: Path, task_id: str) -> tuple[Path, Path, Path]:
    capsule = edition / task_id
    (capsule / "input").mkdir(parents=True)
    (capsule / "evaluation").mkdir()
    return capsule, capsule / "input", capsule / "evaluation"


def histology(edition: Path) -> None:
    """The four H&E fields; the solution is the one that ships for the H&E task."""
    capsule, images, reference = _folders(edition, "real-nuclei-he")
    table = pd.read_csv(REAL / "nuclei-he-2d" / "images.csv")
    for stem in table.loc[table.stain == "H&E", "image"]:
        shutil.copy(REAL / "nuclei-he-2d" / f"{stem}.png", images)
        shutil.copy(REAL / "nuclei-he-2d" / f"{stem}_label.tif", reference / f"{stem}.tif")
    spec = _specification(capsule.name, _masks("*.tif"), "2D")
    rubric = _rubric("instance", primary_metric="dice")
    _write(capsule, spec, rubric, _shipped("he-nuinsseg-nuclear-segmentation"))


def counting(edition: Path) -> None:
    """Six fields of DNA-stained nuclei, their centroids as points."""
    capsule, images, reference = _folders(edition, "real-nuclei-count")
    for stem, rows in pd.read_csv(REAL / "nuclei-fluo-2d" / "nuclei.csv").groupby("image"):
        shutil.copy(REAL / "nuclei-fluo-2d" / f"{stem}.png", images)
        points = rows.rename(columns={"x": "X", "y": "Y"})[["X", "Y"]]
        points.to_csv(reference / f"{stem}.csv", index=False)
    table = {
        "id": "centroids_per_image",
        "description": "One table per image, same stem.",
        "filename_pattern": "*.csv",
        "required": True,
        "multi": True,
        "required_columns": ["X", "Y"],
    }
    rubric = _rubric("counting", primary_metric="result_score", distance_threshold_px=10)
    spec = _specification(capsule.name, [table], "2D")
    _write(capsule, spec, rubric, SOLUTIONS / "nuclei_count.py")


def volume(edition: Path) -> None:
    """One confocal stack of bright nuclei; it brings a solution of its own."""
    capsule, images, reference = _folders(edition, "real-nuclei-3d")
    shutil.copy(REAL / "nuclei-3d" / "nuclei.tif", images)
    shutil.copy(REAL / "nuclei-3d" / "nuclei_label.tif", reference / "nuclei_seg.tif")
    spec = _specification(capsule.name, _masks("*_seg.tif*"), "3D")
    _write(capsule, spec, _rubric("instance", primary_metric="dice"), SOLUTIONS / "nuclei_3d.py")


def tracking(edition: Path) -> None:
    """Six frames of fluorescent nuclei with manual disc markers as reference."""
    capsule, images, reference = _folders(edition, "real-nuclei-tracking")
    source = REAL / "nuclei-tracking-ctc"
    frames = tifffile.imread(sorted((source / "01").glob("t*.tif")))
    markers = tifffile.imread(sorted((source / "01_GT" / "TRA").glob("man_track*.tif")))
    tifffile.imwrite(images / "00.ome.tif", frames, ome=True, metadata={"axes": "TYX"})
    tifffile.imwrite(reference / "00_GT.ome.tif", markers, ome=True, metadata={"axes": "TYX"})
    shutil.copy(source / "01_GT" / "TRA" / "man_track.txt", reference)
    deliverables = [
        {
            "id": "segmentation_masks",
            "description": "One label stack.",
            "filename_pattern": "*_RES.ome.tif*",
            "format": "OME-TIFF instance-label stack",
        },
        {
            "id": "tracking_lineage",
            "description": "One lineage table.",
            "filename_pattern": "*track*.txt",
        },
    ]
    spec = _specification(capsule.name, deliverables, "2D")
    rubric = _rubric("tracking", primary_metric="result_score", iou_threshold=0.5)
    rubric["metric_config"]["node_matching"] = "coverage"
    _write(capsule, spec, rubric, SOLUTIONS / "nuclei_tracking.py")


@pytest.fixture(scope="module")
def real_edition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of four capsules, each made from one set of real images."""
    edition = tmp_path_factory.mktemp("real")
    for make in (histology, counting, volume, tracking):
        make(edition)
    return edition
