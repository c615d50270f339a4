"""The default agent, driven by scripted models through a real evaluation."""

from __future__ import annotations

import base64
import io
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tifffile
from PIL import Image

from evals.errors import UnknownNameError
from evals.harness.react import react

if TYPE_CHECKING:
    from pathlib import Path

# Inspect passes it to a library that has renamed it.
pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")

SUBMIT = ("submit", {"answer": "Counted two dots."})


@pytest.fixture
def capsule(make_capsule: Any, tmp_path: Path) -> Path:
    folder: Path = make_capsule(tmp_path)
    volume = np.zeros((5, 40, 40), np.uint16)
    volume[2, 10:20, 10:20] = np.arange(100, 200).reshape(10, 10)
    tifffile.imwrite(folder / "input" / "volume.tif", volume)
    return folder


def tool_results(ran: Any) -> list[Any]:
    return [message for message in ran.sample.messages if message.role == "tool"]


def test_an_agent_works_looks_and_submits(capsule: Path, run: Any, scripted: Any) -> None:
    model = scripted(
        ("bash", {"command": "cp workspace/input/a.txt workspace/output/copy.txt; ls workspace"}),
        ("view_image", {"path": "volume.tif", "projection": "max"}),
        ("python", {"code": "import skimage, sys; print(sys.executable)"}),
        SUBMIT,
    )
    ran = run(capsule, react(), model)
    shell, look, python = tool_results(ran)[:3]
    assert ran.files == {"copy.txt": "input of dots"}
    assert shell.text.split() == ["input", "output"]
    assert "max over Q=0..4" in look.text
    assert python.text.strip() == sys.executable
    assert ran.sample.output.completion.endswith("Counted two dots.")


def test_a_view_reaches_the_model_as_a_png(capsule: Path, run: Any, scripted: Any) -> None:
    model = scripted(("view_image", {"path": "volume.tif", "plane": 2}), SUBMIT)
    ran = run(capsule, react(), model)
    [look] = tool_results(ran)[:1]
    [picture] = [part.image for part in look.content if part.type == "image"]
    kind, _, data = picture.partition(",")
    assert kind == "data:image/png;base64"
    with Image.open(io.BytesIO(base64.b64decode(data))) as image:
        assert image.size == (480, 480)
        assert image.getpixel((130, 130)) != (0, 0, 0)
        assert image.getpixel((0, 0)) == (0, 0, 0)


def test_a_wrong_file_name_is_answered_with_near_ones(
    capsule: Path, run: Any, scripted: Any
) -> None:
    ran = run(capsule, react(), scripted(("view_image", {"path": "volumes.tif"}), SUBMIT))
    [look] = tool_results(ran)[:1]
    assert look.error is not None
    assert "Did you mean" in look.error.message
    assert "volume.tif" in look.error.message


def test_the_renderer_and_its_answer_take_little_room_in_the_log(
    capsule: Path, run: Any, scripted: Any
) -> None:
    ran = run(capsule, react(), scripted(("view_image", {"path": "volume.tif"}), SUBMIT))
    for event in ran.sample.events:
        if event.event == "sandbox" and "view" in (event.cmd or ""):
            assert len(event.input or "") < 4000
            assert len(event.output or "") < 4000


def test_a_model_without_eyes_gets_no_view(capsule: Path, run: Any, scripted: Any) -> None:
    ran = run(capsule, react(view=False), scripted(SUBMIT))
    [model] = [event for event in ran.sample.events if event.event == "model"]
    assert sorted(tool.name for tool in model.tools) == [
        "bash",
        "check_deliverables",
        "python",
        "submit",
    ]
    assert "view_image" not in ran.sample.messages[0].text


def test_a_model_that_calls_no_tool_is_reminded_and_then_let_go(
    capsule: Path, run: Any, scripted: Any
) -> None:
    ran = run(capsule, react(), scripted(*["I am thinking."] * 9))
    said = [message.text for message in ran.sample.messages if message.role == "user"]
    assert sum("No tool was called" in text for text in said) == 4
    assert sum(message.role == "assistant" for message in ran.sample.messages) == 5


def test_a_slow_command_is_told_to_the_model(capsule: Path, run: Any, scripted: Any) -> None:
    ran = run(
        capsule,
        react(tool_timeout=1),
        scripted(("python", {"code": "import time; time.sleep(60)"}), SUBMIT),
    )
    [slow] = tool_results(ran)[:1]
    assert slow.error is not None
    assert slow.error.type == "timeout"


def test_what_is_printed_to_stderr_is_seen(capsule: Path, run: Any, scripted: Any) -> None:
    ran = run(capsule, react(), scripted(("bash", {"command": "echo oh >&2; echo out"}), SUBMIT))
    assert tool_results(ran)[0].text.split() == ["oh", "out"]


def test_an_unknown_way_with_long_contexts_is_refused_with_the_choices() -> None:
    with pytest.raises(UnknownNameError, match="'cut'; expected one of trim, compact, stop"):
        react(long_context="cut")  # type: ignore[arg-type]  # a mistake of the command line
