from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

import anyio
import numpy as np
import pytest
from PIL import Image

from evals.judging.account import show_figures
from evals.judging.case import Case, told_numbers, uri_of

if TYPE_CHECKING:
    from collections.abc import Callable

Kit = Any
# Where the log viewer cuts a text.
VIEWER_CHARS = 250_000


@pytest.fixture
def shown(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], tuple[Case, str]]:
    """Show one figure; the case, and what is written into the transcript."""
    told: list[str] = []

    class Transcript:
        def info(self, text: str, source: str) -> None:
            told.append(text)

    monkeypatch.setattr("evals.judging.account.transcript", Transcript)

    def show(png: bytes) -> tuple[Case, str]:
        figure = kit.figure("figure:1") | {"data": base64.b64encode(png).decode()}
        evidence = kit.evidence(figures=[figure])
        case = Case("Count.", evidence, figures=evidence.figures)
        anyio.run(show_figures, case)
        return case, told[0]

    return show


def png_of(side: int) -> bytes:
    """Return a picture of noise, which nothing compresses."""
    noise = np.random.default_rng(0).integers(0, 255, (side, side, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(noise).save(stream, "PNG")
    return stream.getvalue()


def test_a_figure_is_shown_as_the_judge_sees_it(shown: Callable[[bytes], Any]) -> None:
    case, told = shown(png_of(100))
    assert uri_of(case.figures[0]) in told


def test_a_figure_that_the_viewer_would_cut_is_shown_smaller(
    shown: Callable[[bytes], Any],
) -> None:
    case, told = shown(png_of(500))
    assert len(uri_of(case.figures[0])) > VIEWER_CHARS > len(told)
    data = told.partition("base64,")[2].rstrip(")")
    assert Image.open(io.BytesIO(base64.b64decode(data))).size > (200, 200)


def test_a_figure_that_cannot_be_drawn_anew_is_told_as_such(
    shown: Callable[[bytes], Any],
) -> None:
    _, told = shown(png_of(500)[:300_000])
    assert told.endswith("It is too large to be shown here.")


def test_of_tools_that_an_agent_made_up_few_are_told() -> None:
    calls = {f"tool{number}": 1 for number in range(500)} | {"python": 9}
    told = told_numbers({"tool_calls_by_name": calls})["tool_calls_by_name"]
    assert (len(told), told["python"]) == (20, 9)
