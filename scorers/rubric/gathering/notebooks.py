"""Notebooks (.ipynb): their code and what it printed, nothing else of what they may hold."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_OUTPUT = 500
_MOST_CELLS = 500


def notebook_text(content: bytes) -> str | None:
    """Return the code cells of a notebook, each with its text outputs; None if it is none."""
    try:
        notebook = json.loads(content)
    except (ValueError, RecursionError):
        return None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        return None
    parts: list[str] = []
    for number, cell in enumerate(cells[:_MOST_CELLS], start=1):
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            parts.append(f"# cell {number}\n{_joined(cell.get('source'))}")
            parts += [f"# printed:\n{text}" for text in _outputs(cell.get("outputs"))]
    return "\n".join(parts)


def _outputs(outputs: Any) -> Iterator[str]:
    for output in outputs if isinstance(outputs, list) else ():
        if not isinstance(output, dict):
            continue
        data = output.get("data")
        text = output.get("text")
        if isinstance(data, dict):
            text = data.get("text/plain")
        elif output.get("output_type") == "error":
            text = f"{output.get('ename')}: {output.get('evalue')}"
        printed = _joined(text).strip()
        if printed:
            cut = len(printed) > _LONGEST_OUTPUT
            yield f"{printed[:_LONGEST_OUTPUT]} …" if cut else printed


def _joined(text: Any) -> str:
    lines = text if isinstance(text, list) else [text]
    return "".join(line for line in lines if isinstance(line, str))
