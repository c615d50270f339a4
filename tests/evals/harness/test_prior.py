"""What knowledge of the field earns without a look at any pixel."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile

from evals import assets
from evals.capsule import load_capsule
from evals.harness.floor import leave
from evals.harness.prior import PRIORS, write_prior
from scorers.graders import GRADERS
from scorers.grading import grade

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorers.contract import Grade

PARITY = Path(__file__).parents[2] / "data" / "parity" / "biaa"

WOUND = "wound-healing-speed-kymograph-gigadb100118"
PLATE = "cytoplasm-nucleus-translocation-bbbc014"
GOLGI = "fluo-coronavirus-golgi-colocalization"
FOCI = "fluo-dna-repair-foci-colocalization-sbsst227"
NPC = "5D-npc-assembly-kinetics-idr0115"
COUNTING = "fluo-cell-counting-2d-cellfmcount"


@pytest.fixture
def build(tmp_path: Path) -> Callable[[str], Path]:
    """Give the maker of a released task's capsule: a known reference, an input without content."""

    def make(task_id: str) -> Path:
        folder = tmp_path / "capsules" / task_id
        (folder / "input").mkdir(parents=True)
        for name in ("task_spec.yaml", "evaluation_rubric.yaml"):
            shutil.copy(assets() / "tasks" / "biaa" / task_id / name, folder / name)
        with zipfile.ZipFile(PARITY / f"{task_id}.zip") as content:
            content.extractall(tmp_path / "unpacked")
        references = sorted((tmp_path / "unpacked" / "references").glob("*"))
        if references:
            shutil.copytree(references[-1], folder / "evaluation")
        if (tmp_path / "unpacked" / "task").is_dir():
            shutil.copytree(tmp_path / "unpacked" / "task", folder, dirs_exist_ok=True)
        INPUTS[task_id](folder / "input")
        return folder

    return make


def empty_movie(path: Path, frames: int, **tags: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    tifffile.imwrite(path, np.zeros((frames, 8, 8), np.uint8), **tags)  # type: ignore[arg-type]


def wound_input(folder: Path) -> None:
    for roi in sorted(folder.rglob("*_roi.tif")):
        movie = roi.with_name(roi.name.replace("_roi", "_image_stack"))
        metadata = {"axes": "TYX", "finterval": 14.5, "tunit": "min"}
        empty_movie(movie, 60, imagej=True, resolution=(1 / 1.24, 1 / 1.24), metadata=metadata)


def plate_input(folder: Path) -> None:
    doses = (0, 0.1, 0.2, 0.5, 1, 2, 4, 8, 16, 32, 64, 100)
    lines = ["row,column,dose,cell type"]
    for row in "ABCDEFGH":
        line = "MCF7" if row < "E" else "A549"
        lines += [f"{row},{column},{dose},{line}" for column, dose in enumerate(doses, start=1)]
    (folder / "platemap.csv").write_text("\n".join(lines), encoding="utf-8")


def golgi_input(folder: Path) -> None:
    for condition, n in (("Control", 111), ("Stage 1", 20), ("Stage 2", 24), ("Stage 3", 59)):
        for cell in range(n):
            empty_movie(folder / condition / f"10h_1_{cell}.tif", 1)


def foci_input(folder: Path) -> None:
    for name in ("Figure2b_siControl.tif", "Figure2b_si53BP1.tif"):
        empty_movie(folder / "movies" / name / "T00001C01Z001.tif", 1)


def npc_input(folder: Path) -> None:
    for cell in (1, 2, 3):
        empty_movie(folder / f"160701-Nup107-cell-{cell}-t6.tif", 60, metadata={"axes": "TYX"})


def counting_input(folder: Path) -> None:
    (folder / "0.png").write_bytes(b"")


INPUTS = {
    WOUND: wound_input,
    PLATE: plate_input,
    GOLGI: golgi_input,
    FOCI: foci_input,
    NPC: npc_input,
    COUNTING: counting_input,
}


def scored(capsule: Path, folder: Path, kind: str = "prior") -> Grade:
    folder.mkdir()
    leave(kind, load_capsule(capsule), folder)
    return grade(capsule, folder, draws=False)


@pytest.mark.parametrize("task_id", [PLATE, GOLGI])
def test_made_up_tables_earn_full_marks_where_no_reference_is_asked(
    task_id: str, build: Callable[[str], Path], tmp_path: Path
) -> None:
    assert scored(build(task_id), tmp_path / "out").outcome == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(("task_id", "least"), [(WOUND, 0.3), (FOCI, 0.5), (NPC, 0.3)])
def test_a_prior_earns_more_than_a_blank(
    task_id: str, least: float, build: Callable[[str], Path], tmp_path: Path
) -> None:
    capsule = build(task_id)
    prior, blank = scored(capsule, tmp_path / "a"), scored(capsule, tmp_path / "b", "blank")
    assert prior.error is None
    assert prior.outcome is not None
    assert blank.outcome is not None
    assert prior.outcome > max(least, blank.outcome)


@pytest.mark.parametrize("task_id", [WOUND, PLATE, GOLGI, FOCI, NPC])
def test_the_reference_is_not_looked_at(
    task_id: str, build: Callable[[str], Path], tmp_path: Path
) -> None:
    capsule = build(task_id)
    opened = load_capsule(capsule)
    written = []
    for name in ("with", "without"):
        folder = tmp_path / name
        folder.mkdir()
        assert write_prior(opened, folder)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        written.append({path.relative_to(folder): path.read_bytes() for path in files})
        shutil.rmtree(capsule / "evaluation", ignore_errors=True)
    assert written[0] == written[1] != {}


def test_no_pixel_is_looked_at(build: Callable[[str], Path], tmp_path: Path) -> None:
    capsule = build(NPC)
    written = []
    for value in (0, 1):
        for movie in sorted((capsule / "input").glob("*.tif")):
            tifffile.imwrite(movie, np.full((60, 8, 8), value, np.uint8), metadata={"axes": "TYX"})
        folder = tmp_path / str(value)
        folder.mkdir()
        write_prior(load_capsule(capsule), folder)
        written.append([path.read_bytes() for path in sorted(folder.iterdir())])
    assert written[0] == written[1] != []


def test_where_there_is_nothing_to_expect_it_is_blank(
    build: Callable[[str], Path], tmp_path: Path
) -> None:
    capsule = build(COUNTING)
    prior, blank = scored(capsule, tmp_path / "a"), scored(capsule, tmp_path / "b", "blank")
    assert prior == blank


def test_an_input_that_says_nothing_gives_a_blank(
    build: Callable[[str], Path], tmp_path: Path
) -> None:
    capsule = build(FOCI)
    shutil.rmtree(capsule / "input")
    (capsule / "input").mkdir()
    (capsule / "input" / "readme.txt").write_text("two conditions", encoding="utf-8")
    prior, blank = scored(capsule, tmp_path / "a"), scored(capsule, tmp_path / "b", "blank")
    assert prior == blank


def test_priors_are_of_known_families() -> None:
    assert PRIORS.keys() <= GRADERS.keys()
