from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tifffile

from scorers.contract import Job
from scorers.errors import CapsuleFault
from scorers.files.limits import Limits
from scorers.files.tree import Tree
from scorers.graders.spacing import spacing_of
from scorers.specification import load_rubric, load_spec

MakeCapsule = Callable[..., Path]

STACK = np.zeros((5, 6, 8), np.uint8)


def _spacing(capsule: Path) -> tuple[float, float, float] | None:
    job = Job(
        task_dir=capsule,
        spec=load_spec(capsule),
        rubric=load_rubric(capsule),
        submission=Tree(capsule, Limits()),
        reference_dir=capsule / "evaluation",
        input_dir=None,
        limits=Limits(),
    )
    return spacing_of(job)


def _imagej(path: Path) -> None:
    tifffile.imwrite(
        path,
        STACK,
        imagej=True,
        resolution=(4.0, 2.0),
        metadata={"axes": "ZYX", "spacing": 1.5, "unit": "um"},
    )


def test_the_rubric_comes_first(make_capsule: MakeCapsule) -> None:
    capsule = make_capsule(config=", voxel_size_um: [2, 0.975, 0.5]")
    _imagej(capsule / "evaluation" / "a.tif")
    assert _spacing(capsule) == (2.0, 0.975, 0.5)


@pytest.mark.parametrize("value", ["2.0", "[1, 2]", "[1, 0, 1]", "[1, .nan, 1]", "[1, a, 1]"])
def test_what_is_no_size_in_the_rubric_is_our_fault(value: str, make_capsule: MakeCapsule) -> None:
    capsule = make_capsule(config=f", voxel_size_um: {value}")
    with pytest.raises(CapsuleFault, match="expected the three sizes"):
        _spacing(capsule)


def test_a_size_in_words_in_the_specification_is_passed_over(make_capsule: MakeCapsule) -> None:
    capsule = make_capsule()
    spec = capsule / "task_spec.yaml"
    told = '"2D", voxel_size_um: "0.1 x 0.1 x 0.2"'
    spec.write_text(spec.read_text().replace('"2D"', told))
    assert _spacing(capsule) is None


def test_the_specification_may_list_it(make_capsule: MakeCapsule) -> None:
    capsule = make_capsule()
    spec = capsule / "task_spec.yaml"
    spec.write_text(spec.read_text().replace('"2D"', '"2D", voxel_size_um: [3, 1, 1]'))
    assert _spacing(capsule) == (3.0, 1.0, 1.0)


def test_imagej_says_it_by_resolution_and_spacing(make_capsule: MakeCapsule) -> None:
    capsule = make_capsule()
    _imagej(capsule / "evaluation" / "a.tif")
    assert _spacing(capsule) == (1.5, 0.5, 0.25)


def test_ome_says_it_with_units(make_capsule: MakeCapsule) -> None:
    capsule = make_capsule()
    tifffile.imwrite(
        capsule / "evaluation" / "a.ome.tif",
        STACK,
        ome=True,
        metadata={
            "axes": "ZYX",
            "PhysicalSizeX": 500,
            "PhysicalSizeXUnit": "nm",
            "PhysicalSizeY": 0.5,
            "PhysicalSizeZ": 2,
        },
    )
    assert _spacing(capsule) == (2.0, 0.5, 0.5)


def test_a_plain_or_broken_tiff_says_nothing(make_capsule: MakeCapsule) -> None:
    capsule = make_capsule()
    assert _spacing(capsule) is None
    tifffile.imwrite(capsule / "evaluation" / "b.tif", STACK)
    assert _spacing(capsule) is None
    (capsule / "evaluation" / "a.tif").write_bytes(b"II*\0no image")
    assert _spacing(capsule) is None


def test_the_instruction_says_it_last(make_capsule: MakeCapsule) -> None:
    capsule = make_capsule()
    spec = capsule / "task_spec.yaml"
    told = '"- XY (lateral) pixel size: 0.975 µm\\n - Z (axial) pixel size: 2 µm"'
    text = spec.read_text(encoding="utf-8")
    spec.write_text(
        text.replace("instructions: Find the cells.", f"instructions: {told}", 1), "utf-8"
    )
    assert _spacing(capsule) == (2.0, 0.975, 0.975)
