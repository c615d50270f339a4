from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import tifffile
from PIL import Image

from scorers.rubric.checks.figures import dots_per_inch, figure_resolution
from tests.scorers.rubric.checks.conftest import asks

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scorers.rubric.checks.conftest import MakeScene


def draw(path: Path, dpi: int | None = None) -> None:
    told = {} if dpi is None else {"dpi": (dpi, dpi)}
    Image.fromarray(np.zeros((40, 40, 3), np.uint8)).save(path, **told)


@pytest.mark.parametrize("name", ["a.png", "a.jpg"])
def test_the_resolution_is_read_from_the_head(out: Path, name: str) -> None:
    draw(out / name, 300)
    found = dots_per_inch((out / name).read_bytes())
    assert found == pytest.approx(300, abs=0.1)


@pytest.mark.parametrize("head", [b"", b"\x89PNG\r\n\x1a\n", b"\x89PNG\r\n\x1a\n\xff\xff\xff\xff",
                                  b"\xff\xd8\xff\xe0\x00\x10JFIF\x00", b"GIF89a"])  # fmt: skip
def test_a_head_that_is_cut_short_states_nothing(head: bytes) -> None:
    assert dots_per_inch(head) is None


def test_figures_of_300_dots_per_inch_pass(out: Path, scene: MakeScene) -> None:
    draw(out / "a.png", 300)
    assert figure_resolution(scene()).verdict == "pass"


def test_a_coarse_figure_fails(out: Path, scene: MakeScene) -> None:
    draw(out / "a.png", 300)
    draw(out / "b.png")
    finding = figure_resolution(scene())
    assert finding.verdict == "fail"
    assert finding.refs == ("file:b.png",)


def test_a_vector_graphic_of_the_same_name_makes_up_for_a_coarse_picture(
    out: Path, scene: MakeScene
) -> None:
    draw(out / "a.png")
    (out / "a.svg").write_text("<svg/>", encoding="utf-8")
    assert figure_resolution(scene()).verdict == "pass"


def test_an_empty_vector_graphic_makes_up_for_nothing(out: Path, scene: MakeScene) -> None:
    (out / "a.svg").touch()
    assert figure_resolution(scene()).verdict == "fail"


def test_no_figure_fails(scene: MakeScene) -> None:
    assert figure_resolution(scene()).verdict == "fail"


def test_tiffs_may_be_figures(out: Path, scene: MakeScene) -> None:
    tifffile.imwrite(out / "figure.tif", np.zeros((9, 9, 3), np.uint8))
    assert figure_resolution(scene()).verdict == "unknown"


def test_delivered_data_are_no_figures(out: Path, scene: MakeScene) -> None:
    Image.fromarray(np.eye(40, dtype=np.uint8)).save(out / "a_mask.png")
    draw(out / "figure.png", 300)
    assert figure_resolution(scene(asks("*mask*.png", "binary"))).verdict == "pass"
