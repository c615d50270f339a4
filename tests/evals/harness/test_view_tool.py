"""The view tool: its program stands alone, and what comes back from a sandbox is not trusted."""

from __future__ import annotations

import base64
import io
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from evals.harness.react import react
from evals.harness.viewing.bundle import script

if TYPE_CHECKING:
    from pathlib import Path

# Inspect passes it to a library that has renamed it.
pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")

LOOK = ("view_image", {"path": "a.txt"})
SUBMIT = ("submit", {"answer": "done"})


def _render(program: str, request: dict[str, Any]) -> str:
    command = [sys.executable, "-I", "-", json.dumps(request)]
    done = subprocess.run(command, input=program, capture_output=True, text=True, check=True)
    return done.stdout


def test_the_renderer_needs_nothing_of_this_package(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.eye(8))
    alone = "import sys; sys.modules['evals'] = None\n" + script()
    answer = _render(alone, {"path": str(tmp_path / "a.npy")})
    said, _, picture = answer.partition("\n")
    assert "8 x 8, axes Y,X, float64" in json.loads(said)["text"]
    with Image.open(io.BytesIO(base64.b64decode(picture))) as image:
        assert image.size == (512, 512)


def test_the_picture_comes_in_short_lines(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.eye(8))
    answer = _render(script(), {"path": str(tmp_path / "a.npy")})
    assert max(len(line) for line in answer.splitlines()[1:]) <= 76


def test_a_damaged_file_is_told_not_raised(tmp_path: Path) -> None:
    (tmp_path / "a.tif").write_bytes(b"II*\0 and nothing more")
    answer = json.loads(_render(script(), {"path": str(tmp_path / "a.tif")}))
    assert answer["error"].startswith("cannot be read (")


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("print('hello')", "The view failed (exit code 0): hello"),
        ("import sys; sys.exit('no numpy')", "The view failed (exit code 1): no numpy"),
        ("""print('{"text": "x"}'); print('!!')""", "arrived damaged"),
        ("""print('{"text": "x"}'); print('AAAA' * 9)""", "is no PNG"),
        (
            """import base64, struct
print('{"text": "x"}')
png = b"\\x89PNG\\r\\n\\x1a\\n" + b"\\0\\0\\0\\rIHDR" + struct.pack(">II", 9000, 9)
print(base64.b64encode(png).decode())""",
            "is too large",
        ),
    ],
)
def test_only_a_small_png_is_let_through(
    program: str,
    said: str,
    make_capsule: Any,
    tmp_path: Path,
    run: Any,
    scripted: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("evals.harness.view_tool.script", lambda: program)
    ran = run(make_capsule(tmp_path), react(), scripted(LOOK, SUBMIT))
    [look] = [message for message in ran.sample.messages if message.role == "tool"][:1]
    assert look.error is not None
    assert said in look.error.message
