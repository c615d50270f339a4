"""The tool that shows a model a rendered view of an image or volume."""

from __future__ import annotations

import base64
import binascii
import json
import struct
from typing import TYPE_CHECKING, Any

from inspect_ai.tool import ContentImage, ContentText, Tool, ToolError, ToolResult, tool
from inspect_ai.util import sandbox

from evals.harness.sandboxed import current_workspace, python_of
from evals.harness.viewing.bounds import MAX_PNG_BYTES, MAX_SIDE
from evals.harness.viewing.bundle import script

if TYPE_CHECKING:
    from evals.workspace.place import Workspace

MOST_WORDS = 2000  # characters of text that go with a picture


@tool
def view_image(timeout: int = 120) -> Tool:
    """Show a rendered view of an image file in the sandbox.

    The file is opened and rendered inside the sandbox: only a picture of at most 1024 pixels and
    a few lines of text come back, however large the file is.

    Args:
        timeout: Seconds that one view may take.
    """

    async def execute(
        path: str,
        plane: int | str | None = None,
        channel: int | None = None,
        projection: str | None = None,
        contrast: str | None = None,
        region: str | None = None,
    ) -> ToolResult:
        """Look at an image, a volume or a label image.

        Opens TIFF (OME and ImageJ too), NPY, PNG, JPEG and BMP. Besides the picture it tells
        shape, axes, type, pixel size and the range of values. Label images come in colours, one
        a label.

        Args:
            path: The file; relative paths are looked for in the input and output folders too.
            plane: Index along the stack axis from 0, such as 12, or by axis, such as T=3,Z=12.
                By default the first time and the middle plane.
            channel: One channel from 0. By default up to four channels are shown in colours.
            projection: max, mean or min along the stack axis instead of one plane.
            contrast: auto (percentiles; labels are found out), full (minimum to maximum), labels,
                two values such as 100,4000, or two percentiles such as 1%,99%.
            region: Part to show as y0:y1,x0:x1 in pixels.

        Returns:
            The picture and what is known of the file.
        """
        workspace = current_workspace()
        request = {
            "path": path,
            "plane": plane,
            "channel": channel,
            "projection": projection,
            "contrast": contrast,
            "region": region,
        }
        asked = {key: value for key, value in request.items() if value is not None}
        answer = await _render(workspace, asked, timeout)
        return [ContentText(text=answer[0]), ContentImage(image=answer[1])]

    return execute


async def _render(workspace: Workspace, request: dict[str, Any], timeout: int) -> tuple[str, str]:
    """Run the renderer in the sandbox and return its words and its picture as data URI."""
    request["roots"] = [workspace.input_dir, workspace.output_dir]
    command = [python_of(workspace), "-I", "-", json.dumps(request)]
    result = await sandbox().exec(command, input=script(), timeout=timeout, timeout_retry=False)
    first, _, picture = result.stdout.partition("\n")
    try:
        said = json.loads(first)
    except json.JSONDecodeError:
        said = None
    if not result.success or not isinstance(said, dict):
        tail = (result.stderr or result.stdout).strip()[-500:]
        raise ToolError(f"The view failed (exit code {result.returncode}): {tail or 'no output'}")
    if "error" in said:
        raise ToolError(str(said["error"])[:MOST_WORDS])
    return str(said.get("text", ""))[:MOST_WORDS], f"data:image/png;base64,{_checked(picture)}"


def _checked(picture: str) -> str:
    """Return the base64 of a picture in one line, if it is what the renderer makes.

    The agent rules its sandbox and may answer in the renderer's place: what comes from there is
    let through only as a PNG within the bounds.
    """
    packed = "".join(picture.split())
    try:
        data = base64.b64decode(packed, validate=True)
    except binascii.Error as error:
        raise ToolError("The view failed: its picture arrived damaged") from error
    header = data[:24]
    if len(header) < 24 or header[:8] != b"\x89PNG\r\n\x1a\n" or header[12:16] != b"IHDR":
        raise ToolError("The view failed: what arrived is no PNG")
    if len(data) > MAX_PNG_BYTES or max(struct.unpack(">II", header[16:])) > MAX_SIDE:
        raise ToolError("The view failed: the picture that arrived is too large")
    return packed
