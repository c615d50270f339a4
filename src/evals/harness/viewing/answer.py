"""Answers one request: a line of JSON, then the picture in base64.

The base64 comes in short lines, because a log keeps only the first lines of a command's output.
"""

from __future__ import annotations

import base64
import json
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from evals.harness.viewing.choosing import (
    choose_channels,
    choose_planes,
    parse_region,
    stack_axis,
    take,
)
from evals.harness.viewing.finding import find_file
from evals.harness.viewing.opening import Source, ViewError, open_source
from evals.harness.viewing.painting import encode, paint

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from evals.harness.viewing.choosing import Window


def view(request: dict[str, Any]) -> tuple[str, bytes]:
    """Answer one request with lines of text and a PNG.

    Parameters
    ----------
    request
        `path` and `roots` (folders in which relative paths are looked for); optionally `plane`,
        `channel`, `projection`, `contrast` and `region` as the tool describes them.
    """
    path = find_file(str(request["path"]), list(request.get("roots", [])))
    with ExitStack() as files:
        return _view(path, open_source(path, files), request)


def _view(path: Path, source: Source, request: dict[str, Any]) -> tuple[str, bytes]:
    projection = str(request.get("projection") or "none").strip().lower()
    at = choose_planes(source, request.get("plane"))
    window = parse_region(request.get("region"), source.size("Y"), source.size("X"))
    numbers, colour = choose_channels(source, request.get("channel"))
    shown = [take(source, {**at, "C": number}, projection, window) for number in numbers]
    if colour is not None:
        shown = [shown[0][..., colour]]
    elif shown[0].ndim == 3:
        shown = [shown[0][..., :3]]  # without opacity
    picture, painted, labels = paint(shown, str(request.get("contrast") or "auto").strip().lower())
    png, scale = encode(picture, labels)
    places = _places(source, at, projection, numbers, colour)
    zoom = scale * picture.shape[1] / shown[0].shape[1]
    lines = [
        _describe(path, source),
        f"Shown: {', '.join([*places, _window(window)])}; {painted}; zoom {zoom:.3g}.",
        _values(shown),
    ]
    return "\n".join(lines), png


def _describe(path: Path, source: Source) -> str:
    shape = " x ".join(str(size) for size in source.shape)
    calibration = f"; {source.calibration}" if source.calibration else ""
    return f"{path}: {shape}, axes {','.join(source.axes)}, {source.dtype.name}{calibration}."


def _places(
    source: Source, at: dict[str, int], projection: str, numbers: list[int], colour: int | None
) -> list[str]:
    """Return in words where along the other axes the view lies."""
    along = stack_axis(source) if projection != "none" else None
    words = [f"{axis}={number}" for axis, number in at.items() if axis != along]
    if along is not None:
        words.append(f"{projection} over {along}=0..{source.size(along) - 1}")
    if source.size("C") > 1:
        words.append("C=" + "+".join(str(number) for number in numbers))
    if colour is not None:
        words.append(f"colour {colour}")
    return words


def _window(window: Window) -> str:
    rows, columns = window
    return f"region {rows.start}:{rows.stop},{columns.start}:{columns.stop}"


def _values(shown: list[NDArray[Any]]) -> str:
    low = min(float(np.nanmin(image)) for image in shown)
    high = max(float(np.nanmax(image)) for image in shown)
    mean = float(np.mean([np.nanmean(image, dtype=np.float64) for image in shown]))
    return f"Values in view: {low:.6g} to {high:.6g}, mean {mean:.6g}."


def main() -> None:
    """Answer the request in the last argument."""
    try:
        text, png = view(json.loads(sys.argv[-1]))
    except ViewError as error:
        print(json.dumps({"error": str(error)}))
    except Exception as error:  # decoders raise anything on a damaged file; the model is told
        print(json.dumps({"error": f"cannot be read ({type(error).__name__}): {error}"}))
    else:
        print(json.dumps({"text": text}))
        print(base64.encodebytes(png).decode("ascii"), end="")
